import CLinuxShim
import FoundationEssentials
import Glibc
import PlainText
import SystemPackage
import Wire

/// Standard output and standard error. All output of the program uses this type, which escapes
/// external control characters.
enum Output {
    /// Writes one line immediately, without buffering. If the reader has closed the pipe, the
    /// program ends without a message.
    static func line(_ text: String) {
        write(text + "\n", to: STDOUT_FILENO)
    }

    static func error(_ text: String) {
        write(text + "\n", to: STDERR_FILENO)
    }

    /// Result of a command: a sentence, or JSON with the sentence and further values.
    static func text(
        of sentence: String, _ values: [String: JSONValue] = [:], json: Bool
    ) -> String {
        guard json else { return sentence }
        return JSONValue.object(values.merging(["sentence": .string(sentence)]) { $1 }).text
    }

    /// Writes text with escapes instead of control characters.
    static func write(_ text: String, to descriptor: Int32) {
        control(shown(text), to: descriptor)
    }

    /// Escapes a text for `write`. The only remaining control characters are line ends, tabs and
    /// the sequences of `Style`.
    static func shown(_ text: String) -> String {
        let escape: Unicode.Scalar = "\u{1B}"
        let parts = text.unicodeScalars.split(separator: escape, omittingEmptySubsequences: false)
        return parts.enumerated().map { index, scalars in
            let part = String(scalars)
            if index == 0 { return part.visibleLines }
            let own = part.hasPrefix(Style.key) ? String(part.dropFirst(Style.key.count)) : ""
            guard let end = Style.sequences.first(where: own.hasPrefix) else {
                return "\\u001b" + part.visibleLines
            }
            return "\u{1B}" + end + String(own.dropFirst(end.count)).visibleLines
        }.joined()
    }

    /// Writes the program's own control sequences for the terminal, unchanged. The control
    /// sequences must not contain external text.
    static func control(_ text: String, to descriptor: Int32) {
        var text = text
        text.withUTF8 { buffer in
            var rest = UnsafeRawBufferPointer(buffer)
            while !rest.isEmpty {
                let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
                if count < 0 {
                    if errno == EINTR { continue }
                    if errno == EAGAIN {
                        var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                        poll(&entry, 1, -1)
                        continue
                    }
                    end(after: Errno(rawValue: errno), at: descriptor)
                }
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            }
        }
    }

    /// Ends the program after a failed write. A closed pipe is not a failure: the reader has read
    /// enough.
    private static func end(after failure: Errno, at descriptor: Int32) -> Never {
        if failure == .brokenPipe { Glibc.exit(0) }
        if descriptor == STDOUT_FILENO {
            error("airframectl: Standard output cannot be written: \(failure).")
        }
        Glibc.exit(1)
    }

    /// Writes a value as compact JSON.
    static func json(_ value: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .custom(MessageKey.encoding)
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        line(String(decoding: try encoder.encode(value), as: UTF8.self))
    }
}
