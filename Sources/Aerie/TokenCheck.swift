import FoundationEssentials
import Wire

/// Check of the tokens in the phones' requests for admission.
struct TokenCheck {
    /// Largest difference between the phone's clock and this computer's clock, s.
    static let tolerance = 60.0

    let secret: [UInt8]?
    let acceptsLegacy: Bool
    /// Accepted tokens, each with the Unix time of its expiry, s. Expired tokens are removed.
    private var used: [String: Double] = [:]

    init(secret: [UInt8]?, acceptsLegacy: Bool) {
        self.secret = secret
        self.acceptsLegacy = acceptsLegacy
    }

    /// Number of stored tokens. Only clients that know the secret can increase the number of stored
    /// tokens.
    var remembered: Int { used.count }

    /// True if the token of a request is valid at the given Unix time, s. `device` is the phone's
    /// name from the path of the request. A signed token is valid only once.
    mutating func isValid(_ request: AuthRequest, device: String, now: Double) -> Bool {
        guard (16...256).contains(request.token.count),
            let code = Data(base64Encoded: request.token)
        else { return false }
        guard let text = request.timestamp else { return acceptsLegacy }
        guard let secret, request.deviceId == device, text.utf8.count <= 32,
            let time = Double(text), abs(now - time) <= Self.tolerance,
            // The comparison takes constant time, regardless of the authentication code's bytes.
            SharedKey.isEqual(
                code, SharedKey(secret: secret).hmac("\(device):\(text)".utf8))
        else { return false }
        used = used.filter { $0.value >= now }
        let key = code.base64EncodedString()
        guard used[key] == nil else { return false }
        used[key] = time + Self.tolerance
        return true
    }
}
