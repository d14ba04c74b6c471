import GimbalCore
import Policy
import Port
import Realtime
import Testing

@Suite("Commander: modes that the loop can change")
struct CommanderModeTests {
    let laptop = CommandSource(link: .diagnostics, connection: 1)
    let phone = CommandSource(link: .airos, connection: 2)
    let turn = AxisVector(yaw: 0.2, roll: 0, pitch: 0)

    func at(_ seconds: Double) -> Instant { Instant(seconds: seconds) }

    /// A Commander in this mode, and the loop's end of its ring.
    func door(
        mode: Mode, _ body: (Commander, inout RingReader<TimedCommand>) throws -> Void
    ) rethrows {
        let ends = makeRing(of: TimedCommand.self, capacity: 64)
        var loop = ends.reader
        try body(Commander(ring: ends.writer, bootMode: mode, rules: Commander.Rules()), &loop)
    }

    /// A Commander with a loop whose state the test sets.
    final class Loop: @unchecked Sendable {
        var state: LoopState?
    }

    func door(
        loop: Loop, _ body: (Commander, inout RingReader<TimedCommand>) throws -> Void
    ) rethrows {
        let ends = makeRing(of: TimedCommand.self, capacity: 64)
        var reader = ends.reader
        let commander = Commander(
            ring: ends.writer, bootMode: .locked, rules: Commander.Rules(),
            loop: { loop.state })
        try body(commander, &reader)
    }

    @Test("a mode that needs joint angles is refused with the reason if no sensor measures them")
    func missingSensor() throws {
        let loop = Loop()
        try door(loop: loop) { commander, ring in
            loop.state = LoopState(
                mode: .locked, modeRequests: 0, hasSample: false, showsJoints: false)
            #expect(throws: Refusal.sensorsUnknown(.fpv)) {
                try commander.request(.mode(.fpv), from: laptop, now: at(1))
            }
            loop.state?.hasSample = true
            for mode in [Mode.panFollow, .fpv, .neutral, .retract] {
                #expect(throws: Refusal.missingSensor(mode)) {
                    try commander.request(.mode(mode), from: laptop, now: at(1))
                }
            }
            #expect(ring.pop() == nil)
            #expect(commander.view(now: at(1)).holder == nil)
            try commander.request(.mode(.tracking), from: laptop, now: at(1))
            loop.state?.showsJoints = true
            try commander.request(.mode(.fpv), from: laptop, now: at(1))
        }
    }

    @Test("the view follows the loop when it ends tracking, but a pending request has priority")
    func agreement() throws {
        let loop = Loop()
        try door(loop: loop) { commander, _ in
            try commander.request(.mode(.tracking), from: phone, now: at(1))
            // The loop has not taken the request yet.
            loop.state = LoopState(
                mode: .locked, modeRequests: 0, hasSample: true, showsJoints: true)
            #expect(commander.view(now: at(1)).mode == .tracking)
            loop.state?.modeRequests = 1
            #expect(commander.view(now: at(2.1)).mode == .locked)
            #expect(throws: Refusal.onlyInMode(.tracking)) {
                try commander.request(.track(pan: 1, tilt: 0), from: phone, now: at(2.2))
            }
            try commander.request(.point(turn, duration: 0), from: phone, now: at(2.3))
        }
    }

    @Test("a tracking rate has its own dead-man deadline, and is accepted only in mode `tracking`")
    func tracking() throws {
        try door(mode: .tracking) { commander, loop in
            try commander.request(.track(pan: 0.3, tilt: .nan), from: phone, now: at(5))
            guard let timed = loop.pop(), case .track(let pan, let tilt) = timed.command else {
                Issue.record("no tracking rate in the ring")
                return
            }
            #expect(pan == 0.3 && tilt.isNaN && timed.validUntil == at(6))
            #expect(throws: Refusal.notInMode(.tracking)) {
                try commander.request(.rate(turn), from: phone, now: at(5))
            }
        }
        for mode in [Mode.locked, .panFollow, .neutral] {
            door(mode: mode) { commander, loop in
                #expect(throws: Refusal.onlyInMode(.tracking)) {
                    try commander.request(.track(pan: 1, tilt: 1), from: phone, now: at(5))
                }
                #expect(loop.pop() == nil)
            }
        }
    }

    @Test("an axis that the mode controls cannot be pointed, the other axes can")
    func notInMode() throws {
        let yaw = AxisVector(yaw: 0.2, roll: .nan, pitch: .nan)
        try door(mode: .panFollow) { commander, _ in
            #expect(throws: Refusal.notInMode(.panFollow)) {
                try commander.request(.point(yaw, duration: 0), from: laptop, now: at(1))
            }
            #expect(throws: Refusal.notInMode(.panFollow)) {
                try commander.request(.rate(turn), from: laptop, now: at(1))
            }
            try commander.request(.rate(.zero), from: laptop, now: at(1))
            try commander.request(
                .point(AxisVector(yaw: 0, roll: 0, pitch: -0.5), duration: 2), from: laptop,
                now: at(1))
        }
        door(mode: .fpv) { commander, _ in
            #expect(throws: Refusal.notInMode(.fpv)) {
                try commander.request(.point(.zero, duration: 0), from: laptop, now: at(1))
            }
        }
    }

    @Test("the disconnection of the holder ends its tracking rate immediately")
    func trackingDisconnection() throws {
        try door(mode: .tracking) { commander, loop in
            try commander.request(.track(pan: 0.3, tilt: 0), from: phone, now: at(5))
            _ = loop.pop()
            commander.disconnected(phone, now: at(5.2))
            guard let timed = loop.pop(), case .track(let pan, _) = timed.command else {
                Issue.record("no standstill in the ring")
                return
            }
            #expect(pan == 0 && timed.validUntil == at(5.2))
        }
    }
}
