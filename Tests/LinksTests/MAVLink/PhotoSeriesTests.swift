import GimbalCore
import Port
import Testing
import Wire

@testable import Links

@Suite("A series of photos")
struct PhotoSeriesTests {
    private let start = Instant(nanoseconds: 5_000_000_000)

    private func photos(_ interval: Float, _ count: Float) -> PhotoSeries? {
        PhotoSeries(
            interval: interval, count: count,
            from: CommandSource(MAVLinkAddress(system: 255, component: 190)), now: start)
    }

    @Test("a series of three photos takes each one when it is due, then ends")
    func three() throws {
        var series = try #require(photos(2, 3))
        let times = stride(from: 0.0, to: 20, by: 0.1).filter {
            series.takeDue(now: start.advanced(bySeconds: $0 + 1e-6))
        }
        #expect(times.map { Int($0.rounded()) } == [0, 2, 4])
        #expect(series.isComplete)
    }

    @Test("a series without a number continues, and omits photos that were due during a pause")
    func endless() throws {
        var series = try #require(photos(1, 0))
        let taken = (0..<100).filter { _ in series.takeDue(now: start) }
        #expect(taken == [0])
        let late = start.advanced(bySeconds: 50)
        #expect(series.takeDue(now: late) && !series.takeDue(now: late))
        #expect(series.takeDue(now: late.advanced(bySeconds: 1)) && !series.isComplete)
    }

    @Test(
        "a series with an impossible interval or number is refused",
        arguments: [(0.4, 3), (-1, 3), (.nan, 3), (.infinity, 0), (1, -1), (1, .nan), (1, 1e9)]
            as [(
                Float, Float
            )])
    func refused(_ interval: Float, _ count: Float) {
        #expect(photos(interval, count) == nil)
    }
}
