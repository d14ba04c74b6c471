/// Signature: the last 13 bytes of a signed frame of MAVLink 2 (mavlink.io, "Message signing").
public struct MAVLinkSignature: Sendable, Equatable {
    /// Size of a signature, bytes.
    public static let size = 13
    /// ID of the link, chosen by the sender.
    public var link: UInt8
    /// Time of the signature, 48 bits, in units of 10 µs since 2015.
    public var timestamp: UInt64

    /// Incompatibility flag of a signed frame.
    static let flag: UInt8 = 1
    /// Size of the authentication code, bytes. The link ID and the time precede the code.
    private static let codeSize = 6

    /// Creates a frame's signature for the given time.
    public init(link: UInt8, timestamp: UInt64) {
        self.link = link
        self.timestamp = timestamp
    }

    /// Reads the signature at the end of a complete frame; nil if the frame is not signed.
    public init?(frame bytes: [UInt8]) {
        guard bytes.count >= 12 + Self.size, bytes[0] == 0xFD, bytes[2] & Self.flag != 0 else {
            return nil
        }
        let start = bytes.count - Self.size
        link = bytes[start]
        timestamp = (1...6).reduce(0) { $0 | UInt64(bytes[start + $1]) << UInt64(8 * ($1 - 1)) }
    }

    /// True if a complete frame's authentication code is valid for this key.
    public static func isRight(_ bytes: [UInt8], key: SharedKey) -> Bool {
        SharedKey.isEqual(
            code(of: bytes.dropLast(codeSize), key: key), bytes.suffix(codeSize))
    }

    /// Appends this signature to a frame. The frame's header must announce a signature.
    public func append(to bytes: inout [UInt8], key: SharedKey) {
        bytes.append(link)
        for shift in stride(from: 0, to: 48, by: 8) as StrideTo<UInt64> {
            bytes.append(UInt8(truncatingIfNeeded: timestamp >> shift))
        }
        bytes += Self.code(of: bytes[...], key: key)
    }

    /// Authentication code: the first 48 bits of SHA-256 over key, frame, link ID and time.
    private static func code(of bytes: ArraySlice<UInt8>, key: SharedKey) -> ArraySlice<UInt8> {
        var hash = SHA256()
        hash.add(key.bytes)
        hash.add(bytes)
        return hash.digest().prefix(codeSize)
    }
}
