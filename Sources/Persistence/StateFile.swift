import FoundationEssentials

/// Format of a state file: one header line, followed by JSON text.
///
/// Example of a header: `airframe-state 1 length=118 crc32=0a1b2c3d`. The header contains the
/// format version, and the length and CRC-32 of the text after the header line.
enum StateFile {
    /// Reason why a state file is invalid.
    enum Fault: Error, Equatable {
        case noHeader
        case futureVersion(Int)
        case length(expected: Int, found: Int)
        case checksum
        case contents(String)
    }

    /// Version of the format. This release supports only this version.
    static let version = 1
    private static let magic = "airframe-state"

    /// Encodes a state. An infinite or NaN number causes an error, because JSON cannot represent
    /// it.
    static func encode(_ state: SavedState) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let body = Array(try encoder.encode(state)) + [UInt8(ascii: "\n")]
        let digits = String(CRC32.checksum(body), radix: 16)
        let crc = String(repeating: "0", count: 8 - digits.count) + digits
        return Array("\(magic) \(version) length=\(body.count) crc32=\(crc)\n".utf8) + body
    }

    /// Decodes a state.
    static func decode(_ bytes: [UInt8]) throws(Fault) -> SavedState {
        guard let end = bytes.prefix(128).firstIndex(of: UInt8(ascii: "\n")),
            let line = String(validating: bytes[..<end], as: UTF8.self)
        else { throw .noHeader }
        let words = line.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count >= 2, words[0] == magic, let version = Int(words[1]) else {
            throw .noHeader
        }
        guard version <= Self.version else { throw .futureVersion(version) }
        guard version == Self.version, words.count == 4,
            let length = words[2].valued("length=").flatMap({ Int($0) }),
            let crc = words[3].valued("crc32=").flatMap({ UInt32($0, radix: 16) })
        else { throw .noHeader }
        let body = bytes[(end + 1)...]
        guard body.count == length else { throw .length(expected: length, found: body.count) }
        guard CRC32.checksum(body) == crc else { throw .checksum }
        do {
            return try JSONDecoder().decode(SavedState.self, from: Data(body))
        } catch let error as DecodingError {
            throw .contents(Self.sentence(error))
        } catch {
            throw .contents("\(error)")
        }
    }

    private static func sentence(_ error: DecodingError) -> String {
        let context: DecodingError.Context? =
            switch error {
            case .dataCorrupted(let context), .keyNotFound(_, let context),
                .typeMismatch(_, let context), .valueNotFound(_, let context):
                context
            @unknown default: nil
            }
        guard let context else { return "\(error)" }
        let path = context.codingPath.map(\.stringValue).joined(separator: ".")
        return path.isEmpty ? context.debugDescription : "\(path): \(context.debugDescription)"
    }
}

extension Substring {
    /// Text after `prefix`; nil if the text does not begin with `prefix`.
    fileprivate func valued(_ prefix: String) -> Substring? {
        hasPrefix(prefix) ? dropFirst(prefix.count) : nil
    }
}
