import Glibc

/// Handler that prints a readable message if a recording's numbers cause an arithmetic trap. A
/// damaged recording can contain floating-point values that a control loop never records. All other
/// values are checked before the replay (`BytePattern`).
enum TrapReport {
    /// Message of the handler. The message is created in advance, because a signal handler must not
    /// allocate memory.
    nonisolated(unsafe) private static var sentence: UnsafeMutablePointer<CChar>?

    /// Installs the handler. After a trap, the process prints the message, and ends with
    /// `ExitCodes.file`.
    static func install(for path: String) {
        sentence = strdup(
            "airframectl: \(Output.shown(path)): the recording contains values that the control loop cannot produce; the replay stops.\n"
        )
        // Signals for Swift's traps on x86-64 and AArch64.
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
