import GimbalCore
import Logging
import Wire

/// Leaves the answer to a write for later: gives what takes it, once, on any thread; nil: done.
public typealias GATTLater = () -> @Sendable (GATTRefusal?) -> Void

extension GATTNotifier {
    /// The same with the reason for the log.
    ///
    /// - Parameters:
    ///   - what: The write, for the sentence of a refusal.
    ///   - log: Gets it.
    /// - Returns: What leaves the answer for later.
    func later(_ what: String, _ log: Logger) -> GATTLater {
        {
            let answer = answerLater()
            return { refusal in
                if let refusal { log.warning("\(what), refused: \(refusal.sentence).") }
                answer(refusal?.error)
            }
        }
    }
}

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
    /// 0x84: the phone writes faster than `bluetooth.max_writes_hz`; the same write is taken a little later.
    public static let tooManyWrites = ATTError.application(0x84)
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
