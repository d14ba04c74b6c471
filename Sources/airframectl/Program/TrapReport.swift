import Glibc

/// A readable message for a trap during the arithmetic with a recording's numbers. Such numbers are
/// valid values, but impossible in a loop. All other properties of a recording are checked before
/// (`BytePattern`).
enum TrapReport {
    /// Message of the handler; it must exist before the signal, because a handler must not
    /// allocate.
    nonisolated(unsafe) private static var sentence: UnsafeMutablePointer<CChar>?

    /// Installs the handler: a trap then ends with the message and with `ExitCodes.file`.
    static func install(for path: String) {
        sentence = strdup(
            "airframectl: \(Output.shown(path)): it contains values that the control loop cannot produce; the replay stops.\n"
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
