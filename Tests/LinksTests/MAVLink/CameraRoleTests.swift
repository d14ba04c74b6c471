import GimbalCore
import Port
import Testing
import Wire

@testable import Links

@Suite("The camera as a MAVLink component") struct CameraRoleTests {
    private static let station = MAVLinkAddress(system: 255, component: 190)

    private func component(isManager: Bool = true) -> MAVLinkComponent {
        var configuration = MAVLinkConfiguration()
        configuration.isManager = isManager
        let stream = VideoStream(
            uri: "rtsp://10.0.0.2:8554/stream", width: 1280, height: 720, rateHz: Number(30),
            bitrateKbps: Number(4000))
        configuration.camera = { stream }
        let result = MAVLinkComponent(
            configuration: configuration, port: FakePort(), log: LineLog().logger, now: at(0))
        result.join(0, now: at(0))
        return result
    }

    /// All messages of this type that were sent since the last call.
    private func sent<Message: MAVLinkMessage>(
        _ type: Message.Type, by component: MAVLinkComponent
    ) -> [Message] {
        var parser = MAVLinkParser()
        var found: [Message] = []
        for outgoing in component.takeOutgoing() {
            parser.append(outgoing.bytes)
            while let item = parser.next() {
                if case .frame(let frame, _) = item, let message = frame.message(type) {
                    found.append(message)
                }
            }
        }
        return found
    }

    private func send(
        _ number: UInt16, _ params: [Float], to component: MAVLinkComponent,
        target: MAVLinkAddress? = nil
    ) {
        var message = CommandLong()
        message.command = number
        message.params = params + [Float](repeating: 0, count: 7 - params.count)
        message.target = target ?? component.cameraAddress
        component.receive(
            MAVLinkFrame(message, from: Self.station, sequence: 0, version: .v2), bytes: [],
            from: 0, now: at(0))
    }

    @Test(
        "the camera names its gimbal as the gimbal manager does, otherwise by its component ID",
        arguments: [(true, 1), (false, 154)] as [(Bool, UInt8)])
    func gimbal(isManager: Bool, device: UInt8) {
        let component = component(isManager: isManager)
        send(MAVLinkCommand.requestMessage.rawValue, [259], to: component)
        #expect(sent(CameraInformation.self, by: component).map(\.gimbal) == [device])
    }
}
