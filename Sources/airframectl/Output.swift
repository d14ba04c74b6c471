import CLinuxShim
import FoundationEssentials
import Glibc
import Wire

/// Standard output and standard error.
enum Output {
    /// One line, visible at once also in a pipe. Ends the program quietly when nobody reads any more.
    static func line(_ text: String) {
        write(text + "\n", to: STDOUT_FILENO)
    }

    static func error(_ text: String) {
        write(text + "\n", to: STDERR_FILENO)
    }

    /// All of the text.
    static func write(_ text: String, to descriptor: Int32) {
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
                    Glibc.exit(errno == EPIPE ? 0 : 1)
                }
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            }
        }
    }

    /// A value that this program made, as compact JSON.
    static func json(_ value: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        line(String(decoding: try encoder.encode(value), as: UTF8.self))
    }
}
