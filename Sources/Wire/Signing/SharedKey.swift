/// Shared secret of a link, at most 64 bytes.
public struct SharedKey: Sendable, Equatable {
    /// The secret.
    let bytes: [UInt8]

    /// Creates a key from a passphrase. As in ground stations, the key is the SHA-256 digest of the
    /// passphrase.
    public init(passphrase: some StringProtocol) {
        bytes = SHA256.digest(Array(passphrase.utf8))
    }

    /// Creates a key from the bytes of a secret. A secret longer than a block of SHA-256 is replaced
    /// by its digest, as RFC 2104 requires.
    public init(secret: [UInt8]) {
        bytes = secret.count > SHA256.block ? SHA256.digest(secret) : secret
    }

    /// Computes the HMAC-SHA256 of a message (RFC 2104).
    public func hmac(_ message: some Collection<UInt8>) -> [UInt8] {
        let padded = bytes + [UInt8](repeating: 0, count: SHA256.block - bytes.count)
        var inner = SHA256()
        inner.add(padded.map { $0 ^ 0x36 })
        inner.add(message)
        var outer = SHA256()
        outer.add(padded.map { $0 ^ 0x5c })
        outer.add(inner.digest())
        return outer.digest()
    }

    /// Compares two authentication codes in constant time.
    public static func isEqual(_ a: some Collection<UInt8>, _ b: some Collection<UInt8>) -> Bool {
        a.count == b.count && zip(a, b).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
