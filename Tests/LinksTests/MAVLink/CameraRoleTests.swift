import GimbalCore
import Port
import Synchronization
import Testing
import Wire

@testable import Links

/// Photos that a camera has taken, and choices of the person to follow.
private final class Photos: Sendable {
    let count = Mutex(0)
    /// Number of photos that the companion program reports; nil while it is not connected.
    let reported = Mutex<Int?>(0)
    /// Number of the newest command that the companion program has executed.
    let order = Mutex(0)
    /// True if the companion program refuses photos.
    let isRefusing = Mutex(false)
    let choices = Mutex<[FollowingChoice.Action]>([])
}

@Suite("The camera as a MAVLink component") struct CameraRoleTests {
    private static let station = MAVLinkAddress(system: 255, component: 190)

    private let photos = Photos()

    private func component(isManager: Bool = true) -> MAVLinkComponent {
        var configuration = MAVLinkConfiguration()
        configuration.isManager = isManager
        let stream = VideoStream(
            uri: "rtsp://10.0.0.2:8554/stream", width: 1280, height: 720, rateHz: Number(30),
            bitrateKbps: Number(4000))
        configuration.camera = { stream }
        configuration.captured = { [photos] in
            photos.reported.withLock { $0 }.map { count in
                var state = CaptureState()
                state.photos = count
                state.order = photos.order.withLock { $0 }
                return state
            }
        }
        configuration.capture = { [photos] (_, _) throws(Refusal) in
            if photos.isRefusing.withLock({ $0 }) { throw Refusal(.refused, "not connected") }
            photos.count.withLock { $0 += 1 }
        }
        configuration.follow = { [photos] (action, _, _, _) throws(Refusal) in
            photos.choices.withLock { $0.append(action) }
        }
        let result = MAVLinkComponent(
            configuration: configuration, port: FakePort(), log: LineLog().logger, now: at(0))
        result.join(0, now: at(0))
        return result
    }

    private func send(
        _ number: UInt16, _ params: [Float], to component: MAVLinkComponent,
        target: MAVLinkAddress? = nil, at seconds: Double = 0
    ) {
        var message = CommandLong()
        message.command = number
        message.params = params + [Float](repeating: 0, count: 7 - params.count)
        message.target = target ?? component.cameraAddress
        component.receive(
            MAVLinkFrame(message, from: Self.station, sequence: 0, version: .v2), bytes: [],
            from: 0, now: at(seconds))
    }

    @Test(
        "the camera names its gimbal as the gimbal manager does, otherwise by its component ID",
        arguments: [(true, 1), (false, 154)] as [(Bool, UInt8)])
    func gimbal(isManager: Bool, device: UInt8) {
        let component = component(isManager: isManager)
        send(MAVLinkCommand.requestMessage.rawValue, [259], to: component)
        #expect(component.sent(CameraInformation.self).map(\.gimbal) == [device])
    }

    /// Requests one photo; the result, and the number of photos since the start.
    private func photo(
        _ params: [Float], _ component: MAVLinkComponent, at seconds: Double = 0
    ) -> [Int] {
        send(2000, params, to: component, at: seconds)
        let results = component.sent(CommandAck.self).map { Int($0.result) }
        return results + [photos.count.withLock { $0 }]
    }

    @Test("a repeated command with the same sequence number takes no second photo")
    func repetition() {
        let component = component()
        #expect(photo([0, 0, 1, 1], component) == [0, 1])
        #expect(photo([0, 0, 1, 1], component, at: 0.5) == [0, 1])
        #expect(photo([0, 0, 1, 2], component, at: 1) == [0, 2])
        // A station that has restarted counts from 1 again.
        #expect(photo([0, 0, 1, 2], component, at: 10) == [0, 3])
        // Without a sequence number, each command takes a photo.
        #expect(photo([0, 0, 1, 0], component, at: 11) == [0, 4])
        #expect(photo([0, 0, 1, 0], component, at: 11) == [0, 5])
    }

    @Test("the camera executes commands to all components, and leaves other commands to the gimbal")
    func broadcasts() {
        let component = component()
        let all = MAVLinkAddress(system: 1, component: 0)
        send(2000, [0, 0, 1], to: component, target: all)
        #expect(component.sent(CommandAck.self).map(\.result) == [0])
        #expect(photos.count.withLock { $0 } == 1)
        send(2000, [1, 0, 1], to: component, target: all)
        #expect(component.sent(CommandAck.self).map(\.result) == [2])
        let request = MAVLinkCommand.requestMessage.rawValue
        send(request, [259], to: component, target: all)
        #expect(component.sent(CameraInformation.self).count == 1)
        send(request, [283], to: component, target: all)
        #expect(component.sent(GimbalDeviceInformation.self).count == 1)
        // An unknown command is not answered.
        send(183, [], to: component, target: all)
        #expect(component.sent(CommandAck.self).isEmpty)
    }

    @Test("every photo of a fast series is reported, and a lost report can be requested again")
    func reports() {
        let component = component()
        func indices() -> [Int32] {
            component.sent(CameraImageCaptured.self).map(\.index)
        }
        _ = component.advance(now: at(0))
        #expect(indices().isEmpty)
        photos.reported.withLock { $0 = 3 }
        _ = component.advance(now: at(1.1))
        #expect(indices() == [0, 1, 2])
        let request = MAVLinkCommand.requestMessage.rawValue
        let expected =
            [
                ([263, 1], [1]), ([263, -1], [0, 1, 2]), ([263, 1, -1], [1, 2]),
                ([263, 0, 1], [0, 1]),
                ([263, 7], []),
            ] as [([Float], [Int32])]
        for (params, wanted) in expected {
            send(request, params, to: component)
            #expect(indices() == wanted)
        }
        send(request, [263, 7], to: component)
        #expect(component.sent(CommandAck.self).map(\.result) == [2])
        // A pause of airframe-eyes does not report old photos again.
        photos.reported.withLock { $0 = nil }
        _ = component.advance(now: at(2.15))
        photos.reported.withLock { $0 = 3 }
        _ = component.advance(now: at(3.2))
        #expect(indices().isEmpty)
        // Photos that airframe-eyes took during a long pause of the connection are not all reported.
        photos.reported.withLock { $0 = 1000 }
        _ = component.advance(now: at(4.3))
        #expect(indices() == Array(992..<1000))
    }

    @Test("after a restart of airframed, only the photos that follow are reported")
    func restart() {
        photos.reported.withLock { $0 = nil }
        let component = component()
        _ = component.advance(now: at(0))
        photos.reported.withLock { $0 = 20 }
        _ = component.advance(now: at(1.1))
        #expect(component.sent(CameraImageCaptured.self).isEmpty)
        photos.reported.withLock { $0 = 21 }
        _ = component.advance(now: at(2.2))
        #expect(component.sent(CameraImageCaptured.self).map(\.index) == [20])
    }

    @Test("a photo in the first second after a restart of airframed is reported without older ones")
    func earlyPhoto() {
        photos.reported.withLock { $0 = nil }
        let component = component()
        _ = component.advance(now: at(0))
        // airframe-eyes connects, executes its first command, and stores the photo later.
        for (time, count, command) in [(0.3, 20, 0), (0.6, 20, 1), (1.1, 20, 1), (2.2, 21, 1)] {
            #expect(component.sent(CameraImageCaptured.self).isEmpty)
            photos.reported.withLock { $0 = count }
            photos.order.withLock { $0 = command }
            _ = component.advance(now: at(time))
        }
        #expect(component.sent(CameraImageCaptured.self).map(\.index) == [20])
    }

    @Test("a refused photo ends the series, and ground stations are told so")
    func refusedSeries() {
        let component = component()
        #expect(photo([0, 1, 0], component) == [0, 1])
        photos.isRefusing.withLock { $0 = true }
        _ = component.advance(now: at(1.1))
        let text = component.sent(StatusText.self).map(\.text).joined()
        #expect(text.contains("the series of photos has ended"), "\(text)")
        photos.isRefusing.withLock { $0 = false }
        _ = component.advance(now: at(2.2))
        #expect(photos.count.withLock { $0 } == 1)
    }

    @Test("a command for another sensor of the camera is denied")
    func sensors() {
        let component = component()
        #expect(photo([1, 0, 1], component) == [0, 1])
        for sensor in [2, 99, .nan] as [Float] {
            #expect(photo([sensor, 0, 1], component) == [2, 1])
        }
    }

    @Test("photos and videos need 0 or the camera's component ID as target camera ID")
    func targetCamera() {
        let component = component()
        let all = MAVLinkAddress(system: 1, component: 0)
        func results(
            _ number: UInt16, _ params: [Float], target: MAVLinkAddress? = nil
        ) -> [UInt8] {
            send(number, params, to: component, target: target)
            return component.sent(CommandAck.self).map(\.result)
        }
        // PX4 does not remove the ID from a mission item.
        #expect(results(2000, [100, 1, 0]) == [0])
        #expect(results(2001, [101]) == [2])
        #expect(component.photoSeries != nil)
        #expect(results(2001, [100]) == [0])
        #expect(component.photoSeries == nil)
        // MAVLink requires the answer DENIED to a command for photos that is sent to all components.
        #expect(results(2000, [101, 0, 1], target: all) == [2])
        #expect(results(2500, [0, 0, 101], target: all).isEmpty)
        #expect(results(2501, [0, 101], target: all).isEmpty)
        #expect(results(2500, [0, 0, 101]) == [2])
        #expect(results(2501, [0, 101]) == [2])
        #expect(photos.count.withLock { $0 } == 1)
        for id in [0, 100, .nan] as [Float] {
            #expect(results(2500, [0, 0, id], target: all) == [0])
            #expect(results(2501, [0, id], target: all) == [0])
        }
        #expect(photos.count.withLock { $0 } == 7)
    }

    @Test("a command to follow a person needs 0 or the camera's component ID as target camera ID")
    func followingCamera() {
        let component = component()
        let all = MAVLinkAddress(system: 1, component: 0)
        /// Results of the three commands with a target camera ID.
        func results(_ id: Float, target: MAVLinkAddress? = nil) -> [UInt8] {
            send(2004, [0.5, 0.5, 0, id], to: component, target: target)
            send(2005, [0.4, 0.4, 0.6, 0.6, id], to: component, target: target)
            send(2010, [id], to: component, target: target)
            return component.sent(CommandAck.self).map(\.result)
        }
        // The autopilot's camera 2, and another camera component.
        for id in [2, 101] as [Float] {
            #expect(results(id) == [2, 2, 2])
            #expect(results(id, target: all).isEmpty)
        }
        #expect(photos.choices.withLock { $0 }.isEmpty)
        // In older versions of MAVLink, the parameter is reserved.
        for id in [0, 100, .nan] as [Float] {
            #expect(results(id, target: all) == [0, 0, 0])
        }
        #expect(photos.choices.withLock { $0 }.prefix(3) == [.point, .point, .off])
    }
}
