import Glibc
import Synchronization

/// Record of a SIGTERM or SIGINT that arrives after the socket is created, but before the services
/// handle these signals. Without the record, such a signal would end the process with a nonzero
/// status.
///
/// A second signal has its default effect, so that a start that hangs can be ended.
public enum EarlyStop {
    private static let isRequested = Atomic(false)

    /// Begins to record. Call this method once, before the daemon is created.
    public static func watch() {
        isRequested.store(false, ordering: .relaxed)
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { _ in
            EarlyStop.isRequested.store(true, ordering: .relaxed)
        }
        action.sa_flags = Int32(bitPattern: UInt32(SA_RESETHAND)) | SA_RESTART
        sigemptyset(&action.sa_mask)
        sigaction(SIGTERM, &action, nil)
        sigaction(SIGINT, &action, nil)
    }

    /// Repeats the recorded signal, after the services have begun to handle signals.
    static func repeatSignal() {
        if isRequested.exchange(false, ordering: .relaxed) { kill(getpid(), SIGTERM) }
    }
}
