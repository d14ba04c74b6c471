import Logging
public import Port
import Wire

/// Function that defers a write response. The function returns a closure that sends the write
/// response. Call the closure once, on any thread.
public typealias GATTLater = () -> Later<Void>

extension GATTNotifier {
    /// Defers a write response, and logs a refusal.
    ///
    /// - Parameters:
    ///   - what: Description of the write, for the log line about a refusal.
    ///   - log: Log that receives a line about a refusal.
    /// - Returns: Function that defers the write response.
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

// ATT application errors, which have the same meaning in all services.
extension ATTError {
    /// Error 0x80: the value is outside its range. Biscuit and similar firmware use the error code
    /// 0x80 with the same meaning.
    public static let outOfRange = ATTError.application(0x80)
    /// Error 0x81: a number is NaN or infinite.
    public static let notFinite = ATTError.application(0x81)
    /// Error 0x82: the write is not possible now; the gimbal's log states the reason.
    public static let notNow = ATTError.application(0x82)
    /// Error 0x83: no measurement is available yet.
    public static let noValue = ATTError.application(0x83)
    /// Error 0x84: the phone writes faster than `bluetooth.max_writes_hz`; the phone can repeat the
    /// write later.
    public static let tooManyWrites = ATTError.application(0x84)

    /// Error 0x85: the written text does not contain a number where a number is expected.
    public static let malformed = ATTError.application(0x85)
    /// Error 0x86: airframed has failed; see airframed's log.
    public static let internalFailure = ATTError.application(0x86)

    /// Creates the ATT error that a central receives for a refusal.
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
    /// Error: the characteristic does not exist, or does not support the operation.
    static var notOffered: Refusal {
        Refusal(.unsupported, "the characteristic does not support this operation")
    }
}
