public import Wire

/// Authenticated datagram of a remote control, `COUNTER CODE COMMAND`. The code proves that the
/// sender has the key, and the counter prevents replay.
///
/// The counter is a decimal number that increases with every datagram. A time in milliseconds is a
/// suitable counter, because the time also increases across restarts of the remote control. The
/// code is the first 16 bytes of HMAC-SHA256 over `COUNTER COMMAND`, as 32 hexadecimal digits. The
/// command has the same format (JSON or text) as without a secret key.
public struct SealedRiderCommand: Sendable, Equatable {
    /// Size of the authentication code, bytes.
    private static let codeSize = 16

    /// The counter; it must increase from datagram to datagram.
    public let counter: UInt64
    /// The command, in the same format as without a secret key.
    public let command: [UInt8]
    private let code: [UInt8]

    /// Parses a datagram; nil if the datagram is not `COUNTER CODE COMMAND`.
    ///
    /// - Parameter datagram: The received bytes.
    public init?(datagram: [UInt8]) {
        let parts = datagram.split(
            separator: UInt8(ascii: " "), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, (1...20).contains(parts[0].count),
            parts[0].allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let counter = UInt64(String(decoding: parts[0], as: UTF8.self)),
            let code = Self.bytes(hexadecimal: parts[1])
        else { return nil }
        self.counter = counter
        self.code = code
        command = Array(parts[2])
    }

    /// True if the authentication code is valid for this key.
    public func isRight(key: SharedKey) -> Bool {
        SharedKey.isEqual(Self.code(counter, command, key), code)
    }

    /// Creates a datagram in the format of a remote control.
    public static func datagram(
        counter: UInt64, command: [UInt8], key: SharedKey
    ) -> [UInt8] {
        let digits = code(counter, command, key).map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        return Array("\(counter) \(digits.joined()) ".utf8) + command
    }

    private static func code(_ counter: UInt64, _ command: [UInt8], _ key: SharedKey) -> [UInt8] {
        Array(key.hmac(Array("\(counter) ".utf8) + command).prefix(codeSize))
    }

    private static func bytes(hexadecimal digits: ArraySlice<UInt8>) -> [UInt8]? {
        guard digits.count == 2 * codeSize else { return nil }
        let values = digits.compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
        guard values.count == digits.count else { return nil }
        return stride(from: 0, to: values.count, by: 2).map {
            UInt8(values[$0] << 4 | values[$0 + 1])
        }
    }
}
