import Synchronization

/// Issuer of pairing codes. Only one code is valid at a time; the code expires after a short time
/// or a few attempts. The class is thread-safe. The current time is a parameter, in seconds on any
/// monotonic clock.
///
/// The code has 8 digits. With 20 attempts for each code, an attacker guesses the code with a
/// probability of 1 in 5 million. The attempts of each address are also counted separately, so that
/// a stranger's wrong codes do not prevent the pairing of another browser.
final class PairingCodes: Sendable {
    /// Number of wrong attempts of one address before it can no longer use the code.
    static let attempts = 5
    /// Number of wrong attempts of all addresses before the code becomes invalid.
    static let allAttempts = 20
    /// Shortest time between two attempts of one address, s.
    static let pause = 0.5

    /// Result of an attempt.
    enum Outcome: Equatable {
        case accepted
        /// The code is wrong.
        case wrong
        /// There is no code, the code has expired, or the address has used up its attempts.
        case closed
        /// The attempt came too soon after the previous attempt of the address.
        case tooSoon
    }

    private struct State {
        var code: String?
        var end = 0.0
        /// Wrong attempts of each address with the present code: number, and time of the last one.
        var wrong: [String: (count: Int, last: Double)] = [:]
        var refused = 0

        mutating func close() {
            code = nil
            wrong = [:]
        }
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
            $0.wrong = [:]
        }
        return code.prefix(4) + "-" + code.suffix(4)
    }

    /// Checks a code. A code can be used only once.
    ///
    /// - Parameters:
    ///   - text: The code, with or without a hyphen.
    ///   - address: IP address of the browser.
    ///   - now: Current time, s.
    /// - Returns: The result.
    func check(_ text: String, from address: String, now: Double) -> Outcome {
        let digits = text.filter { $0 != "-" && $0 != " " }
        return state.withLock { state in
            guard let code = state.code, now < state.end else {
                state.close()
                state.refused += 1
                return .closed
            }
            let own = state.wrong[address] ?? (0, -.infinity)
            guard own.count < Self.attempts, now - own.last >= Self.pause else {
                state.refused += 1
                return own.count < Self.attempts ? .tooSoon : .closed
            }
            guard digits == code else {
                state.refused += 1
                state.wrong[address] = (own.count + 1, now)
                let all = state.wrong.values.reduce(0) { $0 + $1.count }
                if all >= Self.allAttempts { state.close() }
                return .wrong
            }
            state.close()
            return .accepted
        }
    }
}
