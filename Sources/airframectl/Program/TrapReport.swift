import Glibc

/// A readable message if the arithmetic with a recording's numbers traps. The numbers that cause a
/// trap are valid values, but no control loop can have recorded them. All other properties of a
/// recording are checked before (`BytePattern`).
enum TrapReport {
    /// Message of the handler; it is created before the signal, because a signal handler must not
    /// allocate memory.
    nonisolated(unsafe) private static var sentence: UnsafeMutablePointer<CChar>?

    /// Installs the handler: a trap then ends with the message and with `ExitCodes.file`.
    static func install(for path: String) {
        sentence = strdup(
            "airframectl: \(Output.shown(path)): it contains values that the control loop cannot produce; the replay stops.\n"
        )
        // The signals that Swift's traps raise on x86-64 and on AArch64.
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
