import Configuration
import GimbalCore
import Port
import Synchronization
import Testing
import Wire

@testable import Links

@Suite("The gimbal as a MAVLink component") struct MAVLinkComponentTests {
    static let station = MAVLinkAddress(system: 255, component: 190)
    static let lock = Float(GimbalFlags([.rollLock, .pitchLock, .yawLock]).rawValue)

    let gimbal = FakePort()
    let log = LineLog()

    func component(
        isManager: Bool = true, camera: VideoStream? = nil, battery: BatteryStatus? = nil
    ) -> MAVLinkComponent {
        var configuration = MAVLinkConfiguration()
        configuration.isManager = isManager
        configuration.camera = { camera }
        configuration.battery = { battery }
        let result = MAVLinkComponent(
            configuration: configuration, port: gimbal, log: log.logger, now: at(0))
        result.join(0, now: at(0))
        return result
    }

    func receive(
        _ message: some MAVLinkMessage, _ component: MAVLinkComponent, seconds: Double = 0,
        from sender: MAVLinkAddress = station
    ) {
        component.receive(
            MAVLinkFrame(message, from: sender, sequence: 0, version: .v2), bytes: [], from: 0,
            now: at(seconds))
    }

    func command(
        _ number: MAVLinkCommand, _ params: [Float], _ component: MAVLinkComponent,
        from sender: MAVLinkAddress = station,
        target: MAVLinkAddress = MAVLinkAddress(system: 1, component: 154)
    ) -> [UInt8] {
        var message = CommandLong()
        message.command = number.rawValue
        message.params = params + [Float](repeating: 0, count: 7 - params.count)
        message.target = target
        receive(message, component, from: sender)
        return component.sent(CommandAck.self).map(\.result)
    }

    @Test("only the station in control can point, and others get the reason in the answer")
    func control() {
        let component = component()
        let point: [Float] = [-30, 20, .nan, .nan, Self.lock]
        #expect(command(.gimbalManagerPitchYaw, point, component) == [10])
        #expect(command(.gimbalManagerConfigure, [-2, -2, -1, -1], component) == [0])
        #expect(command(.gimbalManagerPitchYaw, point, component) == [0])
        let asked = gimbal.takeRequests()
        #expect(asked.first == .take)
        guard case .camera(.point(let turn)) = asked.last?.effect else {
            Issue.record("\(asked)")
            return
        }
        #expect(turn.rate == 0)
        let angles = turn.target
        #expect(abs(angles.pitch + .pi / 6) < 1e-6 && abs(angles.yaw - .pi / 9) < 1e-6)
        #expect(angles.roll.isNaN)
        #expect(component.counters.notInControl == 1)
    }

    @Test("a client that takes control and leaves immediately ends the control of the station")
    func shortTakeover() {
        let component = component()
        let point: [Float] = [-30, 20, .nan, .nan, Self.lock]
        #expect(command(.gimbalManagerConfigure, [-2, -2, -1, -1], component) == [0])
        #expect(command(.gimbalManagerPitchYaw, point, component) == [0])
        _ = component.sent(StatusText.self)
        // airframectl has sent one request, and has left since.
        gimbal.memory.withLock {
            $0.control.lastMover = CommandSource(link: .diagnostics, connection: 9)
            $0.requests.removeAll()
        }
        for step in 1...5 { _ = component.advance(now: at(Double(step) / 10)) }
        let text = component.sent(StatusText.self).map(\.text).joined()
        #expect(text.contains("has lost control of the gimbal to"), "\(text)")
        #expect(component.director.primary == .none && gimbal.takeRequests().isEmpty)
        #expect(command(.gimbalManagerPitchYaw, point, component) == [10])
    }

    @Test("the station's next request after a short takeover is refused, however soon it arrives")
    func requestAfterTakeover() {
        let component = component()
        let point: [Float] = [-30, 20, .nan, .nan, Self.lock]
        #expect(command(.gimbalManagerConfigure, [-2, -2, -1, -1], component) == [0])
        _ = gimbal.takeRequests()
        gimbal.memory.withLock {
            $0.control.lastMover = CommandSource(link: .diagnostics, connection: 9)
        }
        #expect(command(.gimbalManagerPitchYaw, point, component) == [10])
        #expect(gimbal.takeRequests().isEmpty && component.director.primary == .none)
    }

    @Test("a refusal by the Commander is returned as the reply, and control stays free")
    func refused() {
        let component = component()
        gimbal.memory.withLock { $0.refusal = Refusal(.held, "held") }
        #expect(command(.gimbalManagerConfigure, [-2, -2, -1, -1], component) == [1])
        #expect(component.director.primary == .none)
    }

    @Test("commands to other components are not answered, an unknown command is")
    func targets() {
        let component = component()
        let autopilot = MAVLinkAddress(system: 1, component: 1)
        #expect(command(.requestMessage, [283], component, target: autopilot).isEmpty)
        #expect(component.counters.wrongTarget == 1)
        var message = CommandLong()
        message.command = 183
        message.target = component.address
        receive(message, component)
        #expect(component.sent(CommandAck.self).map(\.result) == [3])
        // A broadcast is not answered, because another component can know the command.
        message.target = .none
        receive(message, component)
        #expect(component.sent(CommandAck.self).isEmpty)
    }

    @Test(
        "motors are switched only by a command to their own address, an emergency stop also by a broadcast"
    )
    func motors() {
        let component = component()
        #expect(command(.armDisarm, [1], component, target: .none) == [3])
        #expect(command(.armDisarm, [1], component) == [0])
        #expect(command(.flightTermination, [1], component, target: .none) == [0])
        #expect(command(.armDisarm, [1, 21196], component) == [0])
        #expect(
            gimbal.takeRequests() == [
                .take, .mode(.locked), .emergencyStop, .resetEmergencyStop,
            ])
    }

    @Test(
        "flags for both yaw frames together are denied; either flag alone selects the reference of yaw"
    )
    func frames() {
        let component = component()
        gimbal.memory.withLock { memory in
            // The handle points 30° to the right, and the camera is aligned with it.
            memory.snapshot.attitude = .aboutZ(.pi / 6)
            memory.snapshot.jointSource = .encoders
        }
        _ = command(.gimbalManagerConfigure, [-2, -2, -1, -1], component)
        _ = gimbal.takeRequests()
        #expect(
            command(.gimbalManagerPitchYaw, [0, 0, .nan, .nan, 16 + 32 + 64], component) == [2])
        for (flags, yaw) in [(16 + 32, Double.pi / 6), (16 + 64, 0), (16, 0)] as [(Float, Double)] {
            _ = command(.gimbalManagerPitchYaw, [0, 0, .nan, .nan, flags], component)
            guard case .camera(.point(let turn)) = gimbal.takeRequests().last?.effect else {
                Issue.record("no lock for flags \(flags)")
                continue
            }
            #expect(abs(turn.target.yaw - yaw) < 1e-6, "flags \(flags)")
        }
        _ = command(.gimbalManagerPitchYaw, [0, 10, .nan, .nan, 12], component)
        guard case .camera(.lookAside(let yaw, _, _)) = gimbal.takeRequests().last?.effect else {
            Issue.record("no follow")
            return
        }
        #expect(abs(yaw - .pi / 18) < 1e-6)
    }

    @Test("a place with an altitude above terrain is refused because of its frame")
    func placeFrame() {
        gimbal.memory.withLock { $0.snapshot.showsJoints = true }
        let component = component()
        var message = CommandInt()
        message.command = MAVLinkCommand.roiLocation.rawValue
        message.target = component.address
        // MAV_FRAME_GLOBAL_TERRAIN_ALT, then MAV_FRAME_GLOBAL.
        for (frame, result) in [(10, 9), (0, 1)] as [(UInt8, UInt8)] {
            message.frame = frame
            receive(message, component)
            #expect(component.sent(CommandAck.self).map(\.result) == [result])
        }
    }

    @Test("a request with an angle for pitch and only a rate for yaw is denied")
    func mixed() {
        let component = component()
        _ = command(.gimbalManagerConfigure, [-2, -2, -1, -1], component)
        _ = gimbal.takeRequests()
        #expect(command(.gimbalManagerPitchYaw, [-30, .nan, .nan, 5, 16], component) == [2])
        #expect(gimbal.takeRequests().isEmpty)
        // A rate of 0 requests no motion, and a rate with an angle limits the turn.
        #expect(command(.gimbalManagerPitchYaw, [-30, .nan, .nan, 0, 16], component) == [0])
        #expect(command(.gimbalManagerPitchYaw, [-30, 10, 5, 5, 16], component) == [0])
        #expect(command(.gimbalManagerPitchYaw, [.nan, .nan, 5, 5, 16], component) == [0])
    }

    @Test(
        "a station that is silent for five seconds loses control, and does not regain it automatically"
    )
    func silence() {
        let component = component()
        _ = command(.gimbalManagerConfigure, [-2, -2, -1, -1], component)
        for second in 1...20 { _ = component.advance(now: at(Double(second) / 4)) }
        #expect(component.director.primary == Self.station)
        _ = component.advance(now: at(5.2))
        #expect(component.director.primary == .none)
        #expect(gimbal.memory.withLock { $0.gone } == [CommandSource(Self.station)])
        receive(Heartbeat(), component, seconds: 6)
        #expect(command(.gimbalManagerPitchYaw, [0, 0, .nan, .nan, 16], component) == [10])
    }

    @Test(
        "a gimbal that an autopilot manages refuses manager requests, and obeys only its own autopilot"
    )
    func device() {
        let component = component(isManager: false)
        #expect(command(.requestMessage, [280], component) == [3])
        #expect(command(.requestMessage, [283], component) == [0])
        #expect(command(.gimbalManagerConfigure, [-2, -2, -1, -1], component) == [3])
        var wanted = GimbalDeviceSetAttitude()
        wanted.flags = 16
        wanted.rates = [.nan, .nan, .nan]
        wanted.target = component.address
        receive(wanted, component, from: MAVLinkAddress(system: 2, component: 1))
        #expect(component.counters.foreign == 1)
        #expect(gimbal.takeRequests().isEmpty)
        receive(wanted, component, from: MAVLinkAddress(system: 1, component: 1))
        #expect(gimbal.takeRequests().count == 2)
    }

    @Test("a ground station cannot take a gimbal from the autopilot that manages the gimbal")
    func foreignStation() {
        let component = component(isManager: false)
        let pilot = MAVLinkAddress(system: 1, component: 1)
        #expect(command(.mountControl, [-20, 0, 0, 0, 0, 0, 2], component) == [3])
        #expect(command(.mountConfigure, [1], component) == [3])
        for params in [[1], [0]] as [[Float]] {
            #expect(command(.armDisarm, params, component) == [2])
        }
        #expect(command(.preflightCalibration, [1], component) == [2])
        #expect(component.counters.foreign == 3)
        #expect(gimbal.takeRequests().isEmpty && component.director.primary == .none)
        #expect(command(.preflightCalibration, [1], component, from: pilot) == [0])
        #expect(command(.armDisarm, [1], component, from: pilot) == [0])
        // Every sender can stop the gimbal, and reset its own stop.
        #expect(command(.flightTermination, [1], component) == [0])
        #expect(command(.armDisarm, [1, 21196], component) == [0])
        #expect(gimbal.takeRequests().suffix(2) == [.emergencyStop, .resetEmergencyStop])
    }

    @Test("parameters are listed one by one, and a wrong value is answered with the present value")
    func parameters() {
        let component = component()
        var list = ParamRequestList()
        list.target = component.address
        receive(list, component)
        var names: [String] = []
        for step in 0..<30 {
            _ = component.advance(now: at(Double(step) / 100))
            names += component.sent(ParamValue.self).map(\.name)
        }
        #expect(names == MAVLinkParameter.all.map(\.name) + ["GMB_PROFILE"])
        _ = command(.gimbalManagerConfigure, [-2, -2, -1, -1], component)
        for (value, expected) in [(2.5, 2.5), (-1, 2.5), (.nan, 2.5)] as [(Float, Float)] {
            var set = ParamSet()
            set.name = "GMB_PIT_P"
            set.value = value
            set.type = 9
            set.target = component.address
            receive(set, component)
            #expect(component.sent(ParamValue.self).map(\.value) == [expected])
        }
    }

    @Test("GMB_PROFILE selects a profile by its number, and a wrong number changes nothing")
    func profile() {
        let component = component()
        func send(_ value: Float) {
            var set = ParamSet()
            set.name = "GMB_PROFILE"
            set.value = value
            set.type = 9
            set.target = component.address
            receive(set, component)
        }
        func set(_ value: Float) -> [Float] {
            send(value)
            return component.sent(ParamValue.self).map(\.value)
        }
        gimbal.memory.withLock { $0.profiles.names = ["calm", "quick"] }
        #expect(set(2) == [0], "only the station in control selects a profile")
        _ = command(.gimbalManagerConfigure, [-2, -2, -1, -1], component)
        #expect(set(2) == [2])
        #expect(gimbal.profiles.active == "quick")
        // A profile can change each parameter, so that every station gets all values again.
        for step in 1...100 { _ = component.advance(now: at(Double(step) / 20)) }
        #expect(
            Set(component.sent(ParamValue.self).map(\.index))
                == Set(0..<UInt16(MAVLinkComponent.parameterCount)))
        for wrong in [0, 3, 1.5, -1, .infinity] as [Float] { #expect(set(wrong) == [2]) }
        #expect(set(1) == [1])
        send(2)
        let answer = component.sent(StatusText.self).map(\.text).joined()
        #expect(answer == "The tuning quick is active.")
        gimbal.memory.withLock { $0.profiles = ProfileList() }
        #expect(set(1) == [0])
        var read = ParamRequestRead()
        read.name = "GMB_PROFILE"
        read.index = -1
        read.target = component.address
        receive(read, component)
        #expect(component.sent(ParamValue.self).map(\.name) == ["GMB_PROFILE"])
    }

    @Test("a station with the same IDs on another link is another source")
    func otherLink() {
        let component = component()
        _ = command(.gimbalManagerConfigure, [-2, -2, -1, -1], component)
        gimbal.memory.withLock { $0.control.holder = CommandSource(Self.station) }
        _ = component.advance(now: at(1))
        #expect(component.director.primary == Self.station)
        gimbal.memory.withLock { $0.control.holder = CommandSource(Self.station, link: .rbl) }
        _ = component.advance(now: at(2))
        #expect(component.director.primary == .none)
    }
}
