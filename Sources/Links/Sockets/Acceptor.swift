import CLinuxShim
import GimbalCore
import Glibc
import Logging
import SystemPackage

/// Listening socket that accepts connections one by one, and pauses while the process has no free
/// descriptor.
struct Acceptor {
    /// Duration of a pause, s. Without a pause, the thread would run continuously, because the
    /// listening socket is readable while a client waits.
    private static let pauseSeconds = 1.0

    let listener: SocketListener
    /// Description of the clients that connect to this socket, for the log.
    let client: String
    /// Time at which the pause ends; nil if the acceptor does not pause.
    private(set) var pause: Instant?

    init(_ listener: SocketListener, client: String) {
        self.listener = listener
        self.client = client
    }

    /// Adds the listener's descriptor to the set for poll(2); during a pause, adds the end of the
    /// pause instead.
    mutating func prepare(_ set: inout PollSet, now: Instant) {
        if let end = pause, now >= end { pause = nil }
        set.add(pause == nil ? listener.descriptor : nil)
        set.end(by: pause)
    }

    /// Accepts the next connection; nil if no client waits, or no connection can be accepted.
    mutating func next(now: Instant, _ logger: Logger) -> FileDescriptor? {
        while true {
            var raw: Int32 = -1
            let error = cl_socket_accept(listener.descriptor.rawValue, &raw)
            switch error {
            case 0: return FileDescriptor(rawValue: raw)
            case EAGAIN: return nil
            // The client closed the connection before it was accepted.
            case ECONNABORTED: continue
            default:
                logger.warning("Cannot accept a \(client): \(Errno(rawValue: error)).")
                pause = now.advanced(bySeconds: Self.pauseSeconds)
                return nil
            }
        }
    }

    /// Ends the pause after a descriptor has become free.
    mutating func resume() { pause = nil }
}
