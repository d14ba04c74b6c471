import Foundation
import Synchronization

/// Measures pauses of the computer: times in which no thread runs, or in which other programs use
/// all processors. A thread of its own sleeps for short times, and measures how much longer each
/// sleep takes.
private final class PauseWatch: Sendable {
    private struct State {
        var longest = 0.0
        var isOver = false
    }

    /// Duration of one sleep, s.
    private static let sleep = 0.002

    private let state = Mutex(State())
    private let isDone = DispatchSemaphore(value: 0)

    init() {
        Thread.detachNewThread { [self] in
            var isOver = false
            while !isOver {
                let begin = monotonicNow()
                usleep(UInt32(Self.sleep * 1e6))
                let excess = monotonicNow() - begin - Self.sleep
                isOver = state.withLock { state in
                    state.longest = max(state.longest, excess)
                    return state.isOver
                }
            }
            isDone.signal()
        }
    }

    /// Ends the measurement, and returns the longest pause, s. A pause that has just ended is
    /// included.
    func end() -> Double {
        state.withLock { $0.isOver = true }
        isDone.wait()
        return state.withLock { $0.longest }
    }
}

/// Measures in real time. A measurement that does not meet its condition is repeated, at most
/// twice, if the computer paused during it. Without a pause, the first measurement counts: the
/// function does not hide a product that meets the condition only sometimes.
///
/// - Parameters:
///   - pause: Shortest pause that makes a measurement invalid, s.
///   - isMet: Condition of the measurement.
///   - measure: The measurement.
/// - Returns: The last result, which meets the condition, or was measured without a pause, or is
///   the third result.
/// - Throws: Error of the last measurement.
public func repeatingAfterPause<Result>(
    of pause: Double = 0.1, until isMet: (Result) throws -> Bool, _ measure: () throws -> Result
) throws -> Result {
    for _ in 0..<2 {
        let watch = PauseWatch()
        let result = Swift.Result { try measure() }
        let longest = watch.end()
        let value = try result.get()
        if try isMet(value) || longest < pause { return value }
        print("The measurement \(value) is repeated: the computer paused for \(longest) s.")
    }
    return try measure()
}
