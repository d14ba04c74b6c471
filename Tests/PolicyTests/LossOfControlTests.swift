import GimbalCore
import Policy
import Port
import Realtime
import Testing

@Suite("Loss of control during rates: hold, fallback, off")
struct LossOfControlTests {
    let phone = CommandSource(link: .airos, connection: 2)
    let laptop = CommandSource(link: .diagnostics, connection: 1)
    let turn = AxisVector(yaw: 0.2, roll: 0, pitch: 0)

    func at(_ seconds: Double) -> Instant { Instant(seconds: seconds) }

    var staged: Commander.Rules {
        var rules = Commander.Rules()
        rules.fallbackSeconds = 5
        rules.offSeconds = 20
        return rules
    }

    /// A Commander with these rules, and the loop's end of its ring.
    func door(
        _ rules: Commander.Rules, mode: Mode = .locked, showsJoints: Bool = true,
        _ body: (Commander, inout RingReader<TimedCommand>) throws -> Void
    ) rethrows {
        let ends = makeRing(of: TimedCommand.self, capacity: 64)
        var reader = ends.reader
        let commander = Commander(
            ring: ends.writer, bootMode: mode, rules: rules,
            loop: {
                // A loop that has not taken any request yet, so that the Commander uses its own
                // mode.
                LoopState(
                    mode: mode, modeRequests: .max, hasSample: true, showsJoints: showsJoints)
            })
        try body(commander, &reader)
    }

    /// The modes that the loop was asked for.
    func modes(_ loop: inout RingReader<TimedCommand>) -> [Mode] {
        var modes: [Mode] = []
        while let request = loop.pop() {
            if case .mode(let mode) = request.command { modes.append(mode) }
        }
        return modes
    }

    @Test(
        "the stage depends on the duration of the silence",
        arguments: [
            (0.99, nil), (1.0, .hold), (4.99, .hold), (5.0, .fallback), (19.99, .fallback),
            (20.0, .off), (1e6, .off),
        ] as [(Double, LossOfControl.Stage?)])
    func table(silence: Double, expected: LossOfControl.Stage?) {
        var rules = LossOfControl.Rules()
        rules.fallbackSeconds = 5
        rules.offSeconds = 20
        #expect(rules.stage(silence: silence, isCutOff: false) == expected)
        #expect(rules.stage(silence: silence, isCutOff: true) == expected ?? .hold)
    }

    @Test("stages that are not configured never begin: the camera is held permanently")
    func defaults() {
        #expect(LossOfControl.Rules().stage(silence: 1e9, isCutOff: true) == .hold)
        var onlyOff = LossOfControl.Rules()
        onlyOff.offSeconds = 3
        #expect(onlyOff.stage(silence: 2.9, isCutOff: false) == .hold)
        #expect(onlyOff.stage(silence: 3, isCutOff: false) == .off)
    }

    @Test("silence leads through all stages, and each stage is reported once")
    func silence() throws {
        try door(staged) { commander, loop in
            try commander.request(.rate(turn), from: phone, now: at(1))
            var told: [ControlState.Loss] = []
            for tenth in 0...300 {
                if let loss = commander.advance(now: at(1 + Double(tenth) / 10)) {
                    told.append(loss)
                }
            }
            #expect(told.map(\.stage) == [.hold, .fallback, .off])
            #expect(told.map(\.source) == [phone, phone, phone])
            #expect(told.allSatisfy { !$0.hasDisconnected })
            #expect(told.map { ($0.silence * 10).rounded() / 10 } == [1, 5, 20])
            #expect(modes(&loop) == [.neutral, .inactive])
            #expect(commander.view(now: at(31)).loss?.stage == .off)
            #expect(commander.view(now: at(31)).holder == nil)
        }
    }

    @Test("a second request, for yaw, does not end the watch for a lost client")
    func otherAxes() throws {
        try door(staged, mode: .panFollow) { commander, loop in
            let tilt = AxisVector(yaw: 0, roll: 0, pitch: 0.2)
            try commander.request(.rate(tilt), from: phone, now: at(1))
            try commander.request(.lookAside(yaw: .nan, rate: 0), from: phone, now: at(1))
            #expect(commander.advance(now: at(6))?.source == phone)
        }
    }

    @Test("tracking at rate 0 is not a turn, so the client cannot be lost")
    func noTracking() throws {
        try door(staged, mode: .tracking) { commander, loop in
            // Apps send pan and tilt separately.
            func track(pan: Double = .nan, tilt: Double = .nan, at seconds: Double) throws {
                let request = MotionRequest.track(pan: pan, tilt: tilt)
                try commander.request(request, from: phone, now: at(seconds))
            }
            try track(pan: 0, at: 1)
            try track(tilt: 0, at: 1)
            #expect(commander.advance(now: at(30)) == nil)
            try track(tilt: 0.1, at: 31)
            try track(pan: 0, at: 31)
            #expect(commander.advance(now: at(36))?.source == phone)
        }
    }

    @Test("a disconnection stops the rates immediately, and later stages count from the last rate")
    func disconnection() throws {
        try door(staged) { commander, loop in
            try commander.request(.rate(turn), from: phone, now: at(1))
            _ = loop.pop()
            commander.disconnected(phone, now: at(1.2))
            guard case .rate(.zero) = loop.pop()?.command else {
                Issue.record("no stop in the ring")
                return
            }
            let loss = commander.advance(now: at(1.2))
            #expect(loss?.stage == .hold)
            #expect(loss?.hasDisconnected == true)
            #expect(commander.advance(now: at(5.9)) == nil)
            #expect(commander.advance(now: at(6))?.stage == .fallback)
            #expect(modes(&loop) == [.neutral])
        }
    }

    @Test("an accepted request from any source ends the loss, and the earlier mode does not return")
    func recovery() throws {
        try door(staged) { commander, loop in
            try commander.request(.rate(turn), from: phone, now: at(1))
            commander.advance(now: at(7))
            // The phone reconnects and continues with rates, which are refused in mode neutral.
            #expect(throws: Refusal.notInMode(.neutral)) {
                try commander.request(.rate(turn), from: phone, now: at(8))
            }
            #expect(commander.view(now: at(8)).loss?.stage == .fallback)
            try commander.request(.mode(.locked), from: laptop, now: at(9))
            #expect(commander.view(now: at(9)).loss == nil)
            #expect(commander.advance(now: at(60)) == nil)
            #expect(modes(&loop) == [.neutral, .locked])
        }
    }

    @Test("outputs that were switched off return only with a request for a mode")
    func recoveryFromOff() throws {
        try door(staged) { commander, _ in
            try commander.request(.rate(turn), from: phone, now: at(1))
            commander.advance(now: at(30))
            #expect(commander.view(now: at(30)).mode == .inactive)
            for request in [.rate(turn), .point(.zero, duration: 1)] as [MotionRequest] {
                #expect(throws: Refusal.inactive) {
                    try commander.request(request, from: phone, now: at(31))
                }
            }
            try commander.request(.take, from: phone, now: at(32))
            #expect(commander.view(now: at(32)).mode == .inactive)
            try commander.request(.mode(.locked), from: phone, now: at(33))
            #expect(commander.view(now: at(33)).mode == .locked)
        }
    }

    @Test(
        "a deliberate end of the rates does not trigger the link-loss fallback",
        arguments: [
            MotionRequest.rate(.zero), .point(.zero, duration: 1), .release, .mode(.locked),
            .emergencyStop,
        ])
    func deliberateEnd(request: MotionRequest) throws {
        try door(staged) { commander, loop in
            try commander.request(.rate(turn), from: phone, now: at(1))
            try commander.request(request, from: phone, now: at(2))
            commander.disconnected(phone, now: at(3))
            for second in 3...60 { #expect(commander.advance(now: at(Double(second))) == nil) }
            #expect(!modes(&loop).contains { $0 == .neutral || $0 == .inactive })
        }
    }

    @Test("a fallback does not start motors that are off")
    func inactive() throws {
        try door(staged) { commander, loop in
            try commander.request(.rate(turn), from: phone, now: at(1))
            try commander.request(.emergencyStop, from: laptop, now: at(2))
            commander.advance(now: at(30))
            #expect(modes(&loop).isEmpty)
        }
    }

    @Test("without joint angles the fallback is to hold; the stage off still follows")
    func withoutJoints() throws {
        try door(staged, showsJoints: false) { commander, loop in
            try commander.request(.rate(turn), from: phone, now: at(1))
            #expect(commander.advance(now: at(3))?.stage == .hold)
            #expect(commander.advance(now: at(10)) == nil)
            #expect(commander.advance(now: at(21))?.stage == .off)
            #expect(modes(&loop) == [.inactive])
        }
    }

    @Test("a fallback that finds the ring full is repeated at the next check")
    func fullRing() throws {
        let ends = makeRing(of: TimedCommand.self, capacity: 8)
        var loop = ends.reader
        let commander = Commander(ring: ends.writer, bootMode: .locked, rules: staged)
        while (try? commander.request(.rate(turn), from: phone, now: at(1))) != nil {}
        #expect(commander.advance(now: at(7)) == nil)
        while loop.pop() != nil {}
        #expect(commander.advance(now: at(7.1))?.stage == .fallback)
        #expect(modes(&loop) == [.neutral])
    }
}

@Suite("Links that are barred from control")
struct BarredLinkTests {
    let phone = CommandSource(link: .airos, connection: 2)

    @Test(
        "every request except the emergency stop is refused, and the view contains the refusal",
        arguments: [0, 1, 2])
    func barred(index: Int) throws {
        let requests: [MotionRequest] = [
            .take, .rate(AxisVector(repeating: 0.1)), .resetEmergencyStop,
        ]
        var rules = Commander.Rules()
        rules.barred = [.airos]
        let ends = makeRing(of: TimedCommand.self, capacity: 8)
        var loop = ends.reader
        let commander = Commander(ring: ends.writer, bootMode: .locked, rules: rules)
        let now = Instant(seconds: 1)
        #expect(throws: Refusal.barred(.airos)) {
            try commander.request(requests[index], from: phone, now: now)
        }
        let view = commander.view(now: now)
        #expect(view.holder == nil)
        #expect(view.lastRefusal?.reason == .barred(.airos))
        #expect(loop.pop() == nil)
        try commander.request(.emergencyStop, from: phone, now: now)
        #expect(commander.view(now: now).isStopped)
    }

    @Test("a barred link can change nothing without control, and other links can")
    func admission() throws {
        var rules = Commander.Rules()
        rules.barred = [.airos, .mavlink]
        let ends = makeRing(of: TimedCommand.self, capacity: 8)
        let commander = Commander(ring: ends.writer, bootMode: .locked, rules: rules)
        let now = Instant(seconds: 1)
        for link in [.airos, .mavlink] as [CommandSource.Link] {
            #expect(throws: Refusal.barred(link)) {
                try commander.admit(CommandSource(link: link, connection: 2), now: now)
            }
        }
        try commander.admit(CommandSource(link: .diagnostics, connection: 2), now: now)
    }

    @Test("a barred link can take control after the rule is removed at runtime")
    func others() throws {
        var rules = Commander.Rules()
        rules.barred = [.rbl]
        let ends = makeRing(of: TimedCommand.self, capacity: 8)
        let commander = Commander(ring: ends.writer, bootMode: .locked, rules: rules)
        let tablet = CommandSource(link: .rbl, connection: 3)
        let now = Instant(seconds: 1)
        #expect(throws: Refusal.barred(.rbl)) {
            try commander.request(.take, from: tablet, now: now)
        }
        commander.apply(Commander.Rules())
        try commander.request(.take, from: tablet, now: now)
        #expect(commander.view(now: now).holder == tablet)
    }
}
