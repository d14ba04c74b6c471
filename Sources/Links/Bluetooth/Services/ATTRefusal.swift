import Logging
public import Port
import Wire

/// Leaves the answer to a write for later: gives what takes it, once, on any thread.
public typealias GATTLater = () -> Later<Void>

extension GATTNotifier {
    /// The same with the reason for the log.
    ///
    /// - Parameters:
    ///   - what: The write, for the sentence of a refusal.
    ///   - log: Gets it.
    /// - Returns: Cases that defer the answer.
    func later(_ what: String, _ log: Logger) -> GATTLater {
        {
            let answer = answerLater()
            return { result in
                guard case .failure(let refusal) = result else { return answer(nil) }
                log.warning("\(what), refused: \(refusal.message).")
                answer(ATTError(refusal))
            }
        }
    }
}

// The application's own errors, the same for all services.
extension ATTError {
    /// 0x80: the value is outside its range, and nothing else. Biscuit and other firmware of its time say the same.
    public static let outOfRange = ATTError.application(0x80)
    /// 0x81: a number is NaN or infinite.
    public static let notFinite = ATTError.application(0x81)
    /// 0x82: the gimbal cannot do that now; its log says why.
    public static let notNow = ATTError.application(0x82)
    /// 0x83: nothing has been measured yet.
    public static let noValue = ATTError.application(0x83)
    /// 0x84: the phone writes faster than `bluetooth.max_writes_hz`; the same write is taken a little later.
    public static let tooManyWrites = ATTError.application(0x84)

    /// 0x85: what was written is not a number, or not text.
    public static let malformed = ATTError.application(0x85)
    /// 0x86: airframed itself has failed; its log knows more.
    public static let internalFailure = ATTError.application(0x86)

    /// A refusal, as a central hears it.
    init(_ refusal: Refusal) {
        self =
            switch refusal.code {
            case .invalidLength: .invalidLength
            case .notFinite: .notFinite
            case .outOfRange: .outOfRange
            case .unsupported: .notSupported
            case .held, .forbidden, .notInControl: .notAuthorized
            case .noValue: .noValue
            case .invalidParams: .malformed
            case .internalError: .internalFailure
            default: .notNow
            }
    }
}

extension Refusal {
    /// There is no such characteristic, or it cannot do that.
    static var notOffered: Refusal { Refusal(.unsupported, "it does not support this") }
}
