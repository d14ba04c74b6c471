import GimbalCore
import Logging
import Wire

/// Why a service refuses a read or a write: what the central hears, and what the log says.
public struct GATTRefusal: Error, Hashable, Sendable {
    /// What the central hears.
    public var error: ATTError
    /// The reason as a clause.
    public var sentence: String

    /// A refusal for this reason.
    public init(_ error: ATTError, _ sentence: String) {
        self.error = error
        self.sentence = sentence
    }
}

// The application's own errors, the same for all services.
extension ATTError {
    /// 0x80: the value is outside its range. Biscuit and other firmware of its time say the same.
    public static let outOfRange = ATTError.application(0x80)
    /// 0x81: a number is NaN or infinite.
    public static let notFinite = ATTError.application(0x81)
    /// 0x82: the gimbal cannot do that now; its log says why.
    public static let notNow = ATTError.application(0x82)
    /// 0x83: nothing has been measured yet.
    public static let noValue = ATTError.application(0x83)
}

extension GATTRefusal {
    /// What an app wrote is no value.
    init(_ error: AirOSError) {
        let code: ATTError =
            switch error {
            case .length: .invalidLength
            case .notFinite: .notFinite
            case .outOfRange, .notANumber: .outOfRange
            case .notText, .unknownCommand: .notSupported
            }
        self.init(code, error.description)
    }

    /// There is no such characteristic, or it cannot do that.
    static var notOffered: GATTRefusal { GATTRefusal(.notSupported, "it does not offer that") }
}

/// Writes refusals to the log, but no faster than a reader could follow: a stranger who sends rubbish must not fill it.
struct RefusalLog {
    private let logger: Logger
    private var allowance = TokenBucket(burst: 20, perSecond: 1)
    private var unwritten = 0

    init(logger: Logger) { self.logger = logger }

    /// Notes one refusal.
    mutating func note(_ sentence: @autoclosure () -> String, now: Instant) {
        guard allowance.take(now: now) else {
            unwritten += 1
            return
        }
        let more = unwritten == 0 ? "" : " \(unwritten) refusals before it are not in the log."
        unwritten = 0
        logger.warning("\(sentence()).\(more)")
    }
}
