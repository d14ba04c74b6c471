import Synchronization

/// Issuer of pairing codes. Only one code is valid at a time; the code expires after a short time
/// or a few attempts. The class is thread-safe. The current time is a parameter, in seconds on any
/// monotonic clock.
///
/// The code has 8 digits. With 5 attempts for each code, an attacker guesses the code with a
/// probability of 1 in 20 million.
final class PairingCodes: Sendable {
    /// Number of wrong attempts before the code becomes invalid.
    static let attempts = 5
    /// Shortest time between two attempts, s.
    static let pause = 0.5

    /// Result of an attempt.
    enum Outcome: Equatable {
        case accepted
        /// The code is wrong.
        case wrong
        /// There is no code, or the code has expired.
        case closed
        /// The attempt came too soon after the previous attempt.
        case tooSoon
    }

    private struct State {
        var code: String?
        var end = 0.0
        var left = 0
        var last = -Double.infinity
        var refused = 0
    }

    private let state = Mutex(State())

    /// Number of refused attempts since the start.
    var refused: Int { state.withLock { $0.refused } }

    /// Creates a code. The previous code becomes invalid.
    ///
    /// - Parameters:
    ///   - seconds: Lifetime of the code, s.
    ///   - now: Current time, s.
    /// - Returns: The code, in the form "1234-5678".
    func open(seconds: Double, now: Double) -> String {
        var generator = SystemRandomNumberGenerator()
        let digits = (0..<8).map { _ in String(Int.random(in: 0...9, using: &generator)) }
        let code = digits.joined()
        state.withLock {
            $0.code = code
            $0.end = now + seconds
            $0.left = Self.attempts
        }
        return code.prefix(4) + "-" + code.suffix(4)
    }

    /// Checks a code. A code can be used only once.
    func check(_ text: String, now: Double) -> Outcome {
        let digits = text.filter { $0 != "-" && $0 != " " }
        return state.withLock { state in
            guard now - state.last >= Self.pause else {
                state.refused += 1
                return .tooSoon
            }
            state.last = now
            guard let code = state.code, now < state.end else {
                state.code = nil
                state.refused += 1
                return .closed
            }
            guard digits == code else {
                state.refused += 1
                state.left -= 1
                if state.left == 0 { state.code = nil }
                return .wrong
            }
            state.code = nil
            return .accepted
        }
    }
}
