import Configuration
import GimbalCore
import Logging
import Port
import Synchronization
import Testing
import Wire

@testable import Links

@Suite("Control panel of the input devices") struct ControlPanelTests {
    private let port = FakePort()
    private let profiles = Recorded()

    /// Names of the profiles that were requested.
    private final class Recorded: Sendable {
        let names = Mutex<[String]>([])
    }

    /// A panel with a gamepad whose sticks have been at rest.
    private func panel(
        _ bindings: [String]? = nil, pressed: Set<UInt16> = []
    ) throws -> ControlPanel {
        if let bindings {
            let parsed = try bindings.map { try ControlBinding(parsing: $0) }
            port.memory.withLock { $0.settings.controls.bindings = parsed }
        }
        let profiles = profiles
        var panel = ControlPanel(
            port: port,
            effects: ControlEffects(
                record: { $0(.success("recording")) },
                profile: { name, done in
                    profiles.names.withLock { $0.append(name ?? "next") }
                    done(.success("done"))
                }), logger: LineLog().logger)
        let axis = InputState.Axis(value: 0, range: -1000...1000)
        let hat = InputState.Axis(value: 0, range: -1...1)
        let state = InputState(pressed: pressed, axes: [0: axis, 1: axis, 16: hat])
        panel.connect(
            1,
            ControlDevice(
                InputDescription(name: "Pad"), node: "event0", state: state, now: at(-1)))
        panel.advance(now: at(0))
        return panel
    }

    private func use(
        _ panel: inout ControlPanel, _ time: Double, _ kind: InputEvent.Kind
    ) {
        panel.handle(InputEvent(time: at(time), kind: kind), from: 1, now: at(time))
        panel.advance(now: at(time))
    }

    @Test(
        "a stick turns the camera, repeats its rate, and its return to the centre ends the turn once"
    )
    func stick() throws {
        var panel = try panel()
        use(&panel, 1, .axis(0, 1000))
        let rates = AxisVector(yaw: Angle.degrees(90).radians, roll: 0, pitch: 0)
        #expect(port.asked == [MotionRequest.rate(rates).words])
        panel.advance(now: at(1.05))
        #expect(port.asked.count == 1)
        #expect(panel.due(now: at(1.05)) == at(1).advanced(bySeconds: 0.1))
        panel.advance(now: at(1.101))
        #expect(port.asked.count == 2)
        use(&panel, 1.12, .axis(0, 3))
        #expect(port.asked.last == MotionRequest.rate(.zero).words)
        panel.advance(now: at(9))
        #expect(port.asked.count == 3)
        #expect(panel.due(now: at(9)) == nil)
    }

    @Test("in mode tracking, a stick repeats its rate three times within the timeout of the mode")
    func trackingInterval() throws {
        port.memory.withLock {
            $0.control.mode = .tracking
            $0.settings.tracking.timeoutS = 0.12
        }
        var panel = try panel()
        use(&panel, 1, .axis(0, 1000))
        panel.advance(now: at(1.01))
        #expect(port.asked.count == 1)
        #expect(panel.due(now: at(1.01)) == at(1).advanced(bySeconds: 0.04))
        panel.advance(now: at(1.041))
        #expect(port.asked.count == 2)
    }

    @Test("a stick that is pushed forward tilts the camera up with the default bindings")
    func up() throws {
        var panel = try panel()
        use(&panel, 1, .axis(1, -1000))
        let rates = AxisVector(yaw: 0, roll: 0, pitch: Angle.degrees(60).radians)
        #expect(port.asked == [MotionRequest.rate(rates).words])
    }

    @Test("in pan_follow, a turn of yaw alone sends no rates of 0, which would stop roll and pitch")
    func yawAlone() throws {
        port.memory.withLock { $0.control.mode = .panFollow }
        var panel = try panel()
        let yaw = MotionRequest.lookAside(yaw: .nan, rate: Angle.degrees(90).radians).words
        use(&panel, 1, .axis(0, 1000))
        #expect(port.asked == [yaw])
        use(&panel, 1.05, .axis(1, -1000))
        let tilt = AxisVector(yaw: 0, roll: 0, pitch: Angle.degrees(60).radians)
        #expect(port.asked.dropFirst() == [MotionRequest.rate(tilt).words, yaw])
        use(&panel, 1.1, .axis(1, 0))
        #expect(port.asked.suffix(2) == [MotionRequest.rate(.zero).words, yaw])
        panel.advance(now: at(1.21))
        #expect(port.asked.suffix(2) == [yaw, yaw])
        use(&panel, 1.3, .axis(0, 0))
        #expect(port.asked.suffix(2).first == MotionRequest.rate(.zero).words)
    }

    @Test("an unplugged device ends its turn and releases control")
    func unplugged() throws {
        var panel = try panel()
        use(&panel, 1, .axis(0, 1000))
        panel.disconnect(1, now: at(1.01))
        #expect(port.asked.last == MotionRequest.rate(.zero).words)
        #expect(port.memory.withLock { $0.gone.map(\.link) } == [.controls])
    }

    @Test("a held button changes the mode, and its release restores the earlier mode")
    func whileHeld() throws {
        port.memory.withLock { $0.control.mode = .panFollow }
        var panel = try panel(["BTN_TL hold: mode locked while held"])
        use(&panel, 1, .key(0x136, isDown: true))
        panel.advance(now: at(2))
        #expect(port.control.mode == .locked)
        use(&panel, 3, .key(0x136, isDown: false))
        panel.advance(now: at(3.1))
        #expect(port.control.mode == .panFollow)
    }

    @Test("the release of a held button does not override a mode from another source")
    func otherMode() throws {
        var panel = try panel(["BTN_TL press: mode pan_follow while held"])
        use(&panel, 1, .key(0x136, isDown: true))
        panel.advance(now: at(1.1))
        #expect(port.control.mode == .panFollow)
        port.memory.withLock { $0.control.mode = .retract }
        use(&panel, 3, .key(0x136, isDown: false))
        panel.advance(now: at(3.1))
        #expect(port.control.mode == .retract)
    }

    @Test(
        "after two buttons that hold modes, in either order, the mode before the first press returns",
        arguments: [(0x136, 0x137, .panFollow), (0x137, 0x136, .fpv)] as [(UInt16, UInt16, Mode)])
    func twoHeldModes(first: UInt16, last: UInt16, between: Mode) throws {
        var panel = try panel([
            "BTN_TL press: mode fpv while held", "BTN_TR press: mode pan_follow while held",
        ])
        use(&panel, 1, .key(0x136, isDown: true))
        panel.advance(now: at(1.1))
        use(&panel, 1.2, .key(0x137, isDown: true))
        panel.advance(now: at(1.3))
        #expect(port.control.mode == .panFollow)
        use(&panel, 2, .key(first, isDown: false))
        panel.advance(now: at(2.1))
        #expect(port.control.mode == between)
        use(&panel, 3, .key(last, isDown: false))
        panel.advance(now: at(3.1))
        #expect(port.control.mode == .locked)
    }

    @Test("a button of a second gamepad restores the mode before that of an unplugged gamepad")
    func heldModeOfUnplugged() throws {
        var panel = try panel([
            "BTN_TL press: mode fpv while held", "BTN_TR press: mode pan_follow while held",
        ])
        panel.connect(
            2,
            ControlDevice(
                InputDescription(name: "Second"), node: "event1", state: InputState(), now: at(-1)))
        use(&panel, 1, .key(0x136, isDown: true))
        panel.advance(now: at(1.1))
        panel.handle(
            InputEvent(time: at(1.2), kind: .key(0x137, isDown: true)), from: 2, now: at(1.2))
        panel.advance(now: at(1.3))
        panel.disconnect(1, now: at(2))
        #expect(port.control.mode == .panFollow)
        panel.handle(
            InputEvent(time: at(3), kind: .key(0x137, isDown: false)), from: 2, now: at(3))
        panel.advance(now: at(3.1))
        #expect(port.control.mode == .locked)
    }

    @Test("a button with held modes for its press and its hold restores the mode before the press")
    func pressAndHold() throws {
        var panel = try panel([
            "BTN_TL press: mode fpv while held", "BTN_TL hold: mode pan_follow while held",
        ])
        use(&panel, 1, .key(0x136, isDown: true))
        panel.advance(now: at(1.1))
        #expect(port.control.mode == .fpv)
        panel.advance(now: at(2))
        #expect(port.control.mode == .panFollow)
        use(&panel, 3, .key(0x136, isDown: false))
        panel.advance(now: at(3.1))
        #expect(port.control.mode == .locked)
    }

    @Test("an emergency stop is sent as soon as the contact is steady")
    func stop() throws {
        var panel = try panel(["BTN_SELECT press: stop"])
        use(&panel, 1, .key(0x13A, isDown: true))
        #expect(port.asked.isEmpty)
        #expect(panel.due(now: at(1)) == at(1).advanced(bySeconds: 0.005))
        panel.advance(now: at(1.0051))
        #expect(port.asked == [MotionRequest.emergencyStop.words])
    }

    @Test("a button that is down when its device appears has no effect")
    func downAtStart() throws {
        var panel = try panel(["BTN_SELECT press: stop"], pressed: [0x13A])
        panel.advance(now: at(10))
        use(&panel, 11, .key(0x13A, isDown: false))
        panel.advance(now: at(12))
        #expect(port.asked.isEmpty)
    }

    @Test(
        "after lost events the state is read again, and a press with a lost beginning has no effect"
    )
    func dropped() throws {
        var panel = try panel(["BTN_SELECT press: stop", "ABS_X: yaw"])
        use(&panel, 1, .axis(0, 1000))
        use(&panel, 1.01, .dropped)
        #expect(panel.isDropping(1))
        let axis = InputState.Axis(value: 0, range: -1000...1000)
        panel.resume(1, InputState(pressed: [0x13A], axes: [0: axis]), now: at(1.02))
        panel.advance(now: at(1.03))
        #expect(port.asked.last == MotionRequest.rate(.zero).words)
        panel.advance(now: at(5))
        #expect(!port.asked.contains(MotionRequest.emergencyStop.words))
        #expect(panel.counters.dropped == 1)
    }

    @Test("a D-pad turns by steps, and a dial sends one step for each detent")
    func steps() throws {
        var panel = try panel(["ABS_HAT0X+ press: step yaw 5", "REL_DIAL- step: step pitch -1"])
        use(&panel, 1, .axis(16, 1))
        panel.advance(now: at(1.01))
        use(&panel, 2, .dial(7, -2))
        #expect(port.asked.count == 3)
        #expect(panel.counters.granted == 3)
    }

    @Test("the released end of a trigger is not a button that is held or stuck")
    func trigger() throws {
        var panel = try panel(["ABS_Z+ press: mode fpv"])
        let released = InputState.Axis(value: 0, range: 0...255)
        panel.connect(
            2,
            ControlDevice(
                InputDescription(name: "Triggers"), node: "event1",
                state: InputState(axes: [2: released]), now: at(-1)))
        for (time, value) in [(1, 255), (1.2, 0)] as [(Double, Int32)] {
            panel.handle(InputEvent(time: at(time), kind: .axis(2, value)), from: 2, now: at(time))
            panel.advance(now: at(time))
        }
        for time in [1.3, 2, 100] { panel.advance(now: at(time)) }
        #expect(port.control.mode == .fpv)
        #expect(panel.counters.stuck == 0)
        #expect(!panel.events.contains { $0.control == "ABS_Z-" })
    }

    /// Target of the last request, degrees.
    private func target() throws -> AxisVector {
        guard case .camera(.point(let point)) = port.takeRequests().last?.effect else {
            throw Refusal(.noValue, "no turn to angles was requested")
        }
        return point.target * (180 / .pi)
    }

    @Test("steps that arrive together add up, also before the loop has reported the first of them")
    func quickSteps() throws {
        port.memory.withLock { $0.snapshot.sampleTime = at(1.995) }
        var panel = try panel(["REL_DIAL+ step: step pitch 1"])
        use(&panel, 2, .dial(7, 4))
        #expect(abs(try target().pitch - 4) < 1e-9)
        use(&panel, 2.005, .dial(7, 1))
        #expect(abs(try target().pitch - 5) < 1e-9)
        // Another client has turned the camera since the last step.
        port.memory.withLock { memory in
            memory.snapshot.sampleTime = at(2.5)
            memory.snapshot.pointing.target.pitch = Angle.degrees(30).radians
        }
        use(&panel, 2.51, .dial(7, 1))
        #expect(abs(try target().pitch - 31) < 1e-9)
    }

    @Test("steps beyond the end of a joint's range do not add up")
    func stepsAtTheEnd() throws {
        port.memory.withLock { memory in
            memory.snapshot.sampleTime = at(0)
            memory.snapshot.conditionAxes.atLimit = AxisSet(.yaw)
            memory.snapshot.setpoint = .aboutZ(Angle.degrees(-170).radians)
            memory.snapshot.pointing.target.yaw = Angle.degrees(160).radians
        }
        var panel = try panel(["ABS_HAT0X+ press: step yaw 5"])
        use(&panel, 1, .axis(16, 1))
        panel.advance(now: at(1.01))
        #expect(abs(try target().yaw + 165) < 1e-9)
    }

    @Test("a large step near the end of the range turns to the end, and is not refused")
    func largeStep() throws {
        port.memory.withLock { memory in
            memory.snapshot.sampleTime = at(0)
            memory.snapshot.pointing.target.pitch = Angle.degrees(120).radians
        }
        var panel = try panel(["BTN_SOUTH press: step pitch 90"])
        use(&panel, 1, .key(0x130, isDown: true))
        panel.advance(now: at(1.1))
        #expect(abs(try target().pitch - 180) < 1e-9)
    }

    @Test("while a control is learned, controls have no effect, and the gesture is reported")
    func learning() throws {
        var panel = try panel(["BTN_SELECT press: stop", "BTN_SOUTH press: recentre", "ABS_X: yaw"])
        panel.learn(seconds: 30, now: at(1))
        use(&panel, 2, .key(0x130, isDown: true))
        use(&panel, 2.1, .key(0x130, isDown: false))
        use(&panel, 2.2, .key(0x130, isDown: true))
        use(&panel, 2.3, .key(0x130, isDown: false))
        panel.advance(now: at(3))
        #expect(port.asked.isEmpty)
        #expect(panel.learned?.control == "BTN_SOUTH")
        #expect(panel.learned?.gesture == "double")
        panel.learn(seconds: 30, now: at(4))
        use(&panel, 5, .axis(0, -900))
        #expect(panel.learned?.control == "ABS_X")
        #expect(port.asked.isEmpty)
        panel.endLearning()
        panel.advance(now: at(6))
        #expect(port.asked.count == 1)
    }

    @Test("an emergency stop has an effect even while a control is learned")
    func stopWhileLearning() throws {
        var panel = try panel(["BTN_SELECT press: stop"])
        panel.learn(seconds: 30, now: at(1))
        use(&panel, 2, .key(0x13A, isDown: true))
        panel.advance(now: at(2.01))
        #expect(port.asked == [MotionRequest.emergencyStop.words])
    }

    @Test("with two gamepads the larger deflection counts, and an unplugged one leaves the other")
    func twoDevices() throws {
        var panel = try panel()
        let axis = InputState.Axis(value: 0, range: -1000...1000)
        panel.connect(
            2,
            ControlDevice(
                InputDescription(name: "Second"), node: "event1",
                state: InputState(axes: [0: axis]),
                now: at(-1)))
        panel.advance(now: at(0))
        use(&panel, 1, .axis(0, 1000))
        let full = panel.turning.yaw
        panel.handle(InputEvent(time: at(1.1), kind: .axis(0, -500)), from: 2, now: at(1.1))
        panel.advance(now: at(1.1))
        #expect(abs(full - 90) < 1e-9 && panel.turning.yaw == full)
        panel.disconnect(1, now: at(1.2))
        #expect(panel.turning.yaw < -5 && panel.turning.yaw > -45)
        #expect(port.memory.withLock { $0.gone.isEmpty })
        panel.disconnect(2, now: at(1.3))
        #expect(port.asked.last == MotionRequest.rate(.zero).words)
        #expect(port.memory.withLock { $0.gone.count } == 1)
    }

    @Test("a refused stick request is repeated until it is granted")
    func refused() throws {
        var panel = try panel()
        port.memory.withLock { $0.refusal = .inactive }
        use(&panel, 1, .axis(0, 1000))
        panel.advance(now: at(1.2))
        port.memory.withLock { $0.refusal = nil }
        panel.advance(now: at(1.4))
        #expect(port.asked.count == 1)
    }

    @Test("a tap requests the next or a named profile from the daemon")
    func others() throws {
        var panel = try panel(["BTN_TL tap: profile next", "BTN_TR tap: profile sport"])
        for code in [0x136, 0x137] as [UInt16] {
            use(&panel, 1, .key(code, isDown: true))
            use(&panel, 1.1, .key(code, isDown: false))
            panel.advance(now: at(1.2))
        }
        #expect(profiles.names.withLock { $0 } == ["next", "sport"])
    }
}
