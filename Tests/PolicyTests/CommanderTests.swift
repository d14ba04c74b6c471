import GimbalCore
import Policy
import Port
import Realtime
import Testing

@Suite("Commander: one holder of control")
struct CommanderTests {
    let laptop = CommandSource(link: .diagnostics, connection: 1)
    let phone = CommandSource(link: .airos, connection: 2)
    let tablet = CommandSource(link: .rbl, connection: 3)
    let turn = AxisVector(yaw: 0.2, roll: 0, pitch: 0)

    func at(_ seconds: Double) -> Instant { Instant(seconds: seconds) }

    /// A Commander in mode `locked`, and the loop's end of its ring.
    func door(
        mode: Mode = .locked, capacity: Int = 64,
        _ body: (Commander, inout RingReader<TimedCommand>) throws -> Void
    ) rethrows {
        let ends = makeRing(of: TimedCommand.self, capacity: capacity)
        var loop = ends.reader
        try body(Commander(ring: ends.writer, bootMode: mode, rules: Commander.Rules()), &loop)
    }

    @Test(
        "the first source holds control; a second one is refused with the holder and the holder's age"
    )
    func holder() throws {
        try door { commander, _ in
            try commander.request(.rate(turn), from: phone, now: at(1))
            #expect(throws: Refusal.held(by: phone, age: 2)) {
                try commander.request(.rate(turn), from: tablet, now: at(3))
            }
            #expect(commander.view(now: at(3)).holder == phone)
            #expect(commander.view(now: at(3)).refusals == 1)
        }
    }

    @Test("the diagnostics socket takes control from another link")
    func preemption() throws {
        try door { commander, _ in
            try commander.request(.rate(turn), from: phone, now: at(1))
            try commander.request(.take, from: laptop, now: at(1.1))
            #expect(commander.view(now: at(1.1)).holder == laptop)
        }
    }

    @Test("a rate command contains the deadline of its dead-man")
    func deadMan() throws {
        try door { commander, loop in
            try commander.request(.rate(turn), from: phone, now: at(5))
            let timed = loop.pop()
            #expect(timed?.command == .rate(turn))
            #expect(timed?.validUntil == at(6))
        }
    }

    @Test("the disconnection of the holder stops the motion immediately and frees control")
    func disconnection() throws {
        try door { commander, loop in
            try commander.request(.rate(turn), from: phone, now: at(1))
            _ = loop.pop()
            commander.disconnected(tablet, now: at(1.1))
            #expect(loop.pop() == nil)
            commander.disconnected(phone, now: at(1.2))
            guard case .rate(let rate) = loop.pop()?.command else {
                Issue.record("no stop in the ring")
                return
            }
            #expect(rate == .zero)
            #expect(commander.view(now: at(1.2)).holder == nil)
            #expect(commander.view(now: at(1.2)).lastMover == phone)
        }
    }

    @Test("control is released after ten seconds of silence, not earlier")
    func silence() throws {
        try door { commander, _ in
            try commander.request(.take, from: phone, now: at(1))
            commander.advance(now: at(10.9))
            #expect(commander.view(now: at(10.9)).holder == phone)
            commander.advance(now: at(11.1))
            #expect(commander.view(now: at(11.1)).holder == nil)
        }
    }

    @Test("an emergency stop is accepted from every source, and stays active until it is reset")
    func emergencyStop() throws {
        try door { commander, loop in
            try commander.request(.take, from: laptop, now: at(1))
            try commander.request(.emergencyStop, from: tablet, now: at(2))
            guard case .emergencyStop = loop.pop()?.command else {
                Issue.record("no emergency stop in the ring")
                return
            }
            #expect(throws: Refusal.emergencyStopped) {
                try commander.request(.mode(.locked), from: laptop, now: at(3))
            }
            try commander.request(.resetEmergencyStop, from: laptop, now: at(4))
            #expect(commander.view(now: at(4)).mode == .inactive)
            try commander.request(.mode(.locked), from: laptop, now: at(5))
        }
    }

    @Test("pointing is refused in mode inactive")
    func inactive() {
        door(mode: .inactive) { commander, _ in
            #expect(throws: Refusal.inactive) {
                try commander.request(.point(turn, duration: 1), from: laptop, now: at(1))
            }
        }
    }

    @Test(
        "values that are not finite or out of range are refused with the name of the field",
        arguments: [
            (MotionRequest.rate(AxisVector(yaw: .nan, roll: 0, pitch: 0)), "rate"),
            (.rate(AxisVector(yaw: 0, roll: 100, pitch: 0)), "rate"),
            (.point(AxisVector(yaw: 0, roll: 0, pitch: 4), duration: 0), "angle"),
            (.point(.zero, duration: -1), "duration"),
            (.point(.zero, duration: .infinity), "duration"),
        ])
    func ranges(request: MotionRequest, field: String) {
        door { commander, loop in
            let refusal = #expect(throws: Refusal.self) {
                try commander.request(request, from: laptop, now: at(1))
            }
            #expect(refusal?.code == .outOfRange && refusal?.field == field)
            #expect(loop.pop() == nil)
        }
    }

    @Test(
        "a tracking rate or a direction outside its range is a misfit with the name of the field",
        arguments: [
            (MotionRequest.track(pan: 18, tilt: .nan), "rate"),
            (.track(pan: .infinity, tilt: 0), "rate"),
            (.aim(CommanderTests.aim(pitch: 1.6)), "pitch"),
            (.aim(CommanderTests.aim(rate: 13)), "rate"),
            (.track(pan: 17, tilt: .nan), nil), (.aim(CommanderTests.aim(pitch: 1.5)), nil),
        ] as [(MotionRequest, String?)])
    func tracking(request: MotionRequest, field: String?) {
        #expect(request.misfit?.field == field)
    }

    /// A direction with the given pitch, rad, and yaw rate, rad/s.
    static func aim(pitch: Double = 0, rate: Double = 0) -> Aim {
        Aim(
            target: AxisVector(yaw: 0, roll: 0, pitch: pitch),
            rate: AxisVector(yaw: rate, roll: 0, pitch: 0), smoothing: 0.25)
    }

    @Test("a full ring causes the refusal busy, and the mode stays unchanged")
    func busy() throws {
        try door(capacity: 8) { commander, _ in
            for _ in 0..<5 { try commander.request(.rate(turn), from: phone, now: at(1)) }
            #expect(throws: Refusal.busy) {
                try commander.request(.mode(.inactive), from: phone, now: at(1))
            }
            #expect(commander.view(now: at(1)).mode == .locked)
        }
    }

    @Test("an assistant's motion to an angle stops with its connection, the socket's continues")
    func pointing() throws {
        for (source, stops) in [
            (CommandSource(link: .assistant, connection: 2), true), (laptop, false),
        ] {
            try door(capacity: 8) { commander, loop in
                let point = MotionRequest.point(turn, duration: 60)
                try commander.request(point, from: source, now: at(1))
                // The silent source has lost control, but the motion continues.
                commander.advance(now: at(10))
                while loop.pop() != nil {}
                commander.disconnected(source, now: at(20))
                var stop: Command?
                while let command = loop.pop()?.command { stop = command }
                if stops {
                    guard case .rate(.zero)? = stop else {
                        Issue.record("\(String(describing: stop))")
                        return
                    }
                } else {
                    #expect(stop == nil)
                }
            }
        }
    }

    @Test("an emergency stop, a standstill and the shutdown are delivered even if the ring is full")
    func reserve() throws {
        try door(capacity: 8) { commander, loop in
            var isBusy = false
            for _ in 0..<100 where !isBusy {
                do throws(Refusal) {
                    try commander.request(.rate(turn), from: phone, now: at(1))
                } catch {
                    isBusy = error == .busy
                }
            }
            #expect(isBusy)
            commander.disconnected(phone, now: at(1))
            for _ in 0..<100 {
                try commander.request(.emergencyStop, from: laptop, now: at(1))
                #expect(throws: Refusal.busy) {
                    try commander.request(.resetEmergencyStop, from: laptop, now: at(1))
                }
            }
            commander.shutDown()

            var last: [Command] = []
            while let command = loop.pop()?.command { last = last.suffix(2) + [command] }
            guard case .rate(.zero) = last[0], case .emergencyStop = last[1],
                case .shutdown = last[2]
            else {
                Issue.record(
                    "the ring does not end with zero rates, emergency stop and shutdown: \(last)")
                return
            }
        }
    }

    @Test("after shutdown every request is refused")
    func shutdown() {
        door { commander, loop in
            commander.shutDown()
            guard case .shutdown = loop.pop()?.command else {
                Issue.record("no shutdown in the ring")
                return
            }
            #expect(throws: Refusal.shuttingDown) {
                try commander.request(.take, from: laptop, now: at(1))
            }
        }
    }
}
