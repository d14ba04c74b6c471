import Testing

@testable import Eyes

@Suite("Time limits for a camera")
struct FeedWatchTests {
    private static let second: Int64 = 1_000_000_000

    @Test("a camera has 5 s for the first picture, then 1.5 s for each further picture")
    func silence() {
        var watch = FeedWatch()
        watch.open(now: 10 * Self.second)
        #expect(!watch.isSilent(newest: 0, now: 14 * Self.second))
        #expect(watch.isSilent(newest: 0, now: 16 * Self.second))
        #expect(!watch.isSilent(newest: 20 * Self.second, now: 21 * Self.second))
        #expect(watch.isSilent(newest: 20 * Self.second, now: 22 * Self.second))
    }

    @Test(
        "the delay after a failed attempt grows up to 8 s, and is short again after a stable time")
    func pauses() {
        var watch = FeedWatch()
        var now = 100 * Self.second
        var pauses: [Int64] = []
        for _ in 0..<6 {
            watch.open(now: now)
            watch.lose(now: now)
            let lost = now
            while !watch.isDue(now: now) { now += Self.second / 2 }
            pauses.append((now - lost) / Self.second)
        }
        #expect(pauses == [1, 2, 4, 8, 8, 8])
        watch.open(now: now)
        now += 11 * Self.second
        watch.lose(now: now)
        let (early, due) = (
            watch.isDue(now: now + Self.second / 2), watch.isDue(now: now + Self.second)
        )
        #expect(!early)
        #expect(due)
    }

    @Test("the search for a missing camera repeats every second")
    func looks() {
        var watch = FeedWatch()
        watch.open(now: 0)
        watch.lose(now: 0)
        let looks = (0..<100).filter { watch.isDue(now: Int64($0) * Self.second / 10) }
        #expect(looks.count == 9)
    }
}
