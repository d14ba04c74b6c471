import GimbalCore
import Policy
import Port
import Testing

@Suite("Timed rollback")
struct TimedRollbackTests {
    private func at(_ seconds: Double) -> Instant { Instant(seconds: 1000 + seconds) }

    private func begun() throws -> TimedRollback<String> {
        var rollback = TimedRollback<String>()
        try rollback.begin("before", owner: 7, seconds: 30, now: at(0))
        return rollback
    }

    @Test("returns the earlier state once, after the timeout")
    func expires() throws {
        var rollback = try begun()
        #expect(rollback.secondsLeft(now: at(10)) == 20)
        #expect(rollback.expire(now: at(29.999)) == nil)
        #expect(rollback.expire(now: at(30)) == "before")
        #expect(rollback.expire(now: at(31)) == nil)
        #expect(rollback.secondsLeft(now: at(31)) == nil)
    }

    @Test("never reverts a kept change, and reports if it is too late to keep")
    func kept() throws {
        var rollback = try begun()
        #expect(rollback.keep() == true)
        #expect(rollback.expire(now: at(99)) == nil)
        rollback = try begun()
        #expect(rollback.expire(now: at(99)) == "before")
        #expect(rollback.keep() == false)
    }

    @Test("returns the state before the first of several changes, at the last deadline")
    func severalChanges() throws {
        var rollback = try begun()
        try rollback.begin("between", owner: 7, seconds: 30, now: at(20))
        #expect(rollback.expire(now: at(40)) == nil)
        #expect(rollback.expire(now: at(50)) == "before")
    }

    @Test("refuses another client while a change is pending")
    func busy() throws {
        var rollback = try begun()
        let refusal = #expect(throws: Refusal.self) {
            try rollback.begin("other", owner: 8, seconds: 30, now: at(5))
        }
        #expect(refusal?.message.contains("reverts in 25 s") == true)
        #expect(rollback.expire(now: at(30)) == "before")
    }

    @Test(
        "refuses durations outside the range",
        arguments: [0, 0.5, -1, 3600.5, .nan, .infinity, -.infinity])
    func badDuration(seconds: Double) {
        var rollback = TimedRollback<String>()
        let refusal = #expect(throws: Refusal.self) {
            try rollback.begin("before", owner: 7, seconds: seconds, now: at(0))
        }
        #expect(refusal?.message.contains("is outside 1...3600") == true)
        #expect(rollback.secondsLeft(now: at(0)) == nil)
    }

    @Test("only the owner can keep a change")
    func keptByOwner() throws {
        var rollback = try begun()
        let stranger = rollback.keep(owner: 8)
        #expect(!stranger && rollback.secondsLeft(now: at(10)) == 20)
        let owner = rollback.keep(owner: 7)
        #expect(owner)
        #expect(rollback.expire(now: at(99)) == nil)
    }

    @Test("the earlier state can be amended only while a change is pending")
    func amended() throws {
        var rollback = TimedRollback<String>()
        rollback.amend { $0 += ", lost" }
        try rollback.begin("before", owner: 7, seconds: 30, now: at(0))
        rollback.amend { $0 += " and more" }
        #expect(rollback.expire(now: at(31)) == "before and more")
        rollback.amend { $0 += ", lost" }
        #expect(rollback.expire(now: at(99)) == nil)
    }
}
