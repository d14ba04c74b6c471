import Crypto
import FoundationEssentials

/// Check of the tokens with which phones ask to be admitted.
struct TokenCheck {
    /// Largest difference between the phone's clock and this computer's, s.
    static let tolerance = 60.0

    let secret: [UInt8]?
    let acceptsLegacy: Bool
    /// Accepted tokens with the time after which they are too old anyway, Unix time, s.
    private var used: [String: Double] = [:]

    init(secret: [UInt8]?, acceptsLegacy: Bool) {
        self.secret = secret
        self.acceptsLegacy = acceptsLegacy
    }

    /// Number of remembered tokens. Only the owner of the secret can make it grow.
    var remembered: Int { used.count }

    /// Whether the token of a request is valid at a Unix time, s. `device` is the name in the address of
    /// the connection. A signed token is valid once.
    mutating func isValid(_ request: AuthRequest, device: String, now: Double) -> Bool {
        guard (16...256).contains(request.token.count),
            let code = Data(base64Encoded: request.token)
        else { return false }
        guard let text = request.timestamp else { return acceptsLegacy }
        guard let secret, request.deviceId == device, text.utf8.count <= 32,
            let time = Double(text), abs(now - time) <= Self.tolerance,
            // Compares in a time that does not depend on the difference.
            HMAC<SHA256>.isValidAuthenticationCode(
                code, authenticating: Data("\(device):\(text)".utf8),
                using: SymmetricKey(data: Data(secret)))
        else { return false }
        used = used.filter { $0.value >= now }
        let key = code.base64EncodedString()
        guard used[key] == nil else { return false }
        used[key] = time + Self.tolerance
        return true
    }

    /// Token as a phone makes it: base64 of HMAC-SHA256 over `device:timestamp`.
    static func token(device: String, timestamp: String, secret: [UInt8]) -> String {
        let code = HMAC<SHA256>.authenticationCode(
            for: Data("\(device):\(timestamp)".utf8), using: SymmetricKey(data: Data(secret)))
        return Data(code).base64EncodedString()
    }
}
