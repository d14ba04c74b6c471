import ArgumentParser
import Client
import Glibc

/// Questions to the user at a terminal.
enum Prompt {
    /// Interval between two checks for a signal, ms.
    private static let period: Int32 = 200

    /// Writes a question, and waits until the user enters a line in the terminal. Lines that were
    /// entered before are discarded, because they cannot be an answer to this question.
    ///
    /// - Returns: The line without its newline; nil at the end of the input (Ctrl-D).
    /// - Throws: `ExitCode` after Ctrl-C or SIGTERM.
    static func answer(to question: String, _ signals: SignalQueue) throws -> String? {
        tcflush(STDIN_FILENO, TCIFLUSH)
        Output.write(question, to: STDOUT_FILENO)
        while true {
            if let signal = signals.next(within: 0) {
                Output.line("")
                throw ExitCodes.failure(after: signal)
            }
            var entry = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
            guard poll(&entry, 1, period) > 0 else { continue }
            // In a terminal, `read` returns at most one line.
            var bytes = [UInt8](repeating: 0, count: 256)
            let count = read(STDIN_FILENO, &bytes, bytes.count)
            guard count > 0 else { return nil }
            return String(decoding: bytes.prefix(count).prefix { $0 != 0x0A }, as: UTF8.self)
        }
    }
}
