import Glibc

/// A sentence instead of a bare signal where a recording's numbers lead to arithmetic that Swift
/// refuses: they are values, but no loop could have had them. Everything else about a recording is
/// checked before (`BytePattern`).
enum TrapReport {
    /// Message of the handler; it must exist before the signal, because a handler may not allocate.
    nonisolated(unsafe) private static var sentence: UnsafeMutablePointer<CChar>?

    /// From now on such an end says what it means, with `ExitCodes.file`.
    static func install(for path: String) {
        sentence = strdup(
            "airframectl: \(Output.shown(path)): its numbers are impossible for a loop; the replay stops.\n"
        )
        // The signals of Swift's traps on x86-64 and on AArch64.
        for number in [SIGILL, SIGTRAP] {
            signal(number) { _ in
                if let sentence = TrapReport.sentence {
                    _ = Glibc.write(STDERR_FILENO, sentence, strlen(sentence))
                }
                _exit(ExitCodes.file)
            }
        }
    }
}
