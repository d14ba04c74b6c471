import GimbalCore
import Policy
import Port
import Realtime
import Testing

@Suite("Commander: the same priorities for all links")
struct CommanderRankTests {
    private typealias Link = CommandSource.Link

    private let turn = AxisVector(yaw: 0.2, roll: 0, pitch: 0)

    private func at(_ seconds: Double) -> Instant { Instant(seconds: seconds) }

    private func source(_ link: Link, _ connection: UInt64 = 1) -> CommandSource {
        CommandSource(link: link, connection: connection)
    }

    private func door(keyed: Set<Link> = []) -> Commander {
        let ends = makeRing(of: TimedCommand.self, capacity: 64)
        var rules = Commander.Rules()
        rules.keyed = keyed
        return Commander(
            ring: ends.writer, bootMode: .locked, rules: rules, wheels: { _ in nil })
    }

    /// True if `link` can end a stop that `others` requested in this order.
    private func ends(_ link: Link, stopsBy others: [Link], keyed: Set<Link> = []) -> Bool {
        let commander = door(keyed: keyed)
        for (index, other) in others.enumerated() {
            try? commander.request(.emergencyStop, from: source(other), now: at(Double(index)))
        }
        try? commander.request(.resetEmergencyStop, from: source(link, 2), now: at(20))
        return !commander.view(now: at(21)).isStopped
    }

    @Test("only the socket can end a stop from the socket, even after a long silence")
    func owner() {
        for link in Link.allCases {
            let keyed = Set(Link.allCases)
            #expect(ends(link, stopsBy: [.diagnostics]) == (link == .diagnostics))
            #expect(ends(link, stopsBy: [.diagnostics], keyed: keyed) == (link == .diagnostics))
        }
    }

    @Test(
        "a stop from another link can be ended by that link, by the socket and by the controls"
    )
    func sameLink() {
        // A program that follows a person requests no stops. An assistant's server requests stops
        // as a client of the socket.
        let automatic: [Link] = [.companion, .assistant]
        for owner in Link.allCases where owner != .diagnostics && !automatic.contains(owner) {
            for link in Link.allCases {
                // The person at the controls can reset the stop of a remote peer.
                let isAbove = link == .controls && owner != .diagnostics
                #expect(
                    ends(link, stopsBy: [owner])
                        == (link == owner || link == .diagnostics || isAbove))
            }
        }
    }

    @Test(
        "a program that follows a person loses control to every link, and takes control from no link"
    )
    func companion() throws {
        for link in Link.allCases where link != .companion {
            let commander = door()
            try commander.request(.mode(.tracking), from: source(.companion), now: at(0))
            #expect(commander.view(now: at(0)).holder?.link == .companion)
            try commander.request(.mode(.tracking), from: source(link), now: at(0.1))
            #expect(commander.view(now: at(0.1)).holder?.link == link)
            let aim = Aim(target: .zero, rate: .zero, smoothing: 0.3)
            let refusal = #expect(throws: Refusal.self) {
                try commander.request(.aim(aim), from: source(.companion), now: at(0.2))
            }
            #expect(refusal?.code == .held)
            // After a silence control is free.
            try commander.request(.aim(aim), from: source(.companion), now: at(11))
            // A second program is refused.
            #expect(throws: Refusal.self) {
                try commander.request(.aim(aim), from: source(.companion, 2), now: at(11.1))
            }
        }
    }

    @Test("an aim needs the mode `tracking`, and values within their ranges")
    func aim() throws {
        let commander = door()
        func refusal(_ aim: Aim) -> Refusal.Code? {
            do {
                try commander.request(.aim(aim), from: source(.companion), now: at(1))
                return nil
            } catch {
                return error.code
            }
        }
        let good = Aim(target: .zero, rate: .zero, smoothing: 0.3)
        #expect(refusal(good) == .refused)
        try commander.request(.beginTracking, from: source(.companion), now: at(0))
        #expect(refusal(good) == nil)
        var bad = good
        bad.target.yaw = 4
        #expect(refusal(bad) == .outOfRange)
        bad = good
        bad.rate.pitch = .nan
        #expect(refusal(bad) == .outOfRange)
        bad = good
        bad.smoothing = 0.01
        #expect(refusal(bad) == .outOfRange)
        try commander.request(.mode(.inactive), from: source(.diagnostics), now: at(1))
        #expect(throws: Refusal.self) {
            try commander.request(.beginTracking, from: source(.companion), now: at(20))
        }
    }

    @Test("a link with a key has priority over a link without, for stops and for control")
    func keys() throws {
        #expect(ends(.mavlink, stopsBy: [.udp], keyed: [.mavlink]))
        #expect(!ends(.udp, stopsBy: [.mavlink], keyed: [.mavlink]))
        #expect(!ends(.mavlink, stopsBy: [.airos], keyed: [.mavlink, .airos]))

        let commander = door(keyed: [.mavlink])
        try commander.request(.rate(turn), from: source(.airos), now: at(1))
        try commander.request(.rate(turn), from: source(.mavlink), now: at(2))
        #expect(throws: Refusal.held(by: source(.mavlink), age: 1)) {
            try commander.request(.rate(turn), from: source(.airos), now: at(3))
        }
        try commander.request(.take, from: source(.diagnostics), now: at(3))
        #expect(throws: Refusal.held(by: source(.diagnostics), age: 1)) {
            try commander.request(.rate(turn), from: source(.mavlink), now: at(4))
        }
    }

    @Test("each link ends its own stop, and the gimbal stays stopped until the last stop has ended")
    func several() throws {
        let commander = door()
        try commander.request(.emergencyStop, from: source(.airos), now: at(1))
        try commander.request(.emergencyStop, from: source(.mavlink), now: at(2))
        #expect(throws: Refusal.stopped(by: source(.mavlink))) {
            try commander.request(.resetEmergencyStop, from: source(.airos), now: at(3))
        }
        #expect(throws: Refusal.emergencyStopped) {
            try commander.request(.mode(.locked), from: source(.airos), now: at(4))
        }
        try commander.request(.resetEmergencyStop, from: source(.mavlink), now: at(5))
        #expect(!commander.view(now: at(6)).isStopped)
        #expect(ends(.diagnostics, stopsBy: [.airos, .mavlink, .udp]))
        #expect(!ends(.airos, stopsBy: [.airos, .diagnostics]))
        #expect(!ends(.airos, stopsBy: [.diagnostics, .airos]))
    }

    @Test("the view contains the source of the stop, and ending the stop does not take control")
    func view() throws {
        let commander = door()
        try commander.request(.emergencyStop, from: source(.udp), now: at(1))
        try commander.request(.emergencyStop, from: source(.diagnostics), now: at(2))
        #expect(commander.view(now: at(2)).stoppedBy == source(.diagnostics))
        try commander.request(.resetEmergencyStop, from: source(.diagnostics), now: at(3))
        let view = commander.view(now: at(3))
        #expect(view.stoppedBy == nil && view.holder == nil)
    }

    @Test(
        "control of the wheels is separate from control of the camera")
    func wheels() throws {
        let commander = door()
        let rider = source(.udp)
        let phone = source(.airos)
        for second in stride(from: 0.0, to: 30, by: 3) {
            try commander.request(.drive(left: 0, right: 0), from: rider, now: at(second))
            try commander.request(.rate(turn), from: phone, now: at(second))
        }
        let view = commander.view(now: at(30))
        #expect(view.holder == phone && view.driver == rider)
        #expect(throws: Refusal.held(by: rider, age: 3)) {
            try commander.request(.drive(left: 1, right: 1), from: phone, now: at(30))
        }
        commander.disconnected(phone, now: at(31))
        #expect(commander.view(now: at(31)).driver == rider)
        commander.advance(now: at(37.1))
        #expect(commander.view(now: at(38)).driver == nil)
        // A source with control of both keeps only the one that it uses.
        let laptop = source(.diagnostics)
        try commander.request(.take, from: laptop, now: at(40))
        try commander.request(.drive(left: 1, right: 1), from: laptop, now: at(49))
        commander.advance(now: at(51))
        #expect(commander.view(now: at(51)).holder == nil)
        #expect(commander.view(now: at(51)).driver == laptop)
        // A driver can release the wheels although another source controls the camera.
        try commander.request(.take, from: phone, now: at(52))
        try commander.request(.drive(left: 1, right: 1), from: laptop, now: at(52))
        try commander.request(.release, from: laptop, now: at(52))
        #expect(commander.view(now: at(52)).driver == nil)
        #expect(commander.view(now: at(52)).holder == phone)
    }
}
