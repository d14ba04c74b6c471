import CLinuxShim
import Glibc

/// Notifications to systemd, for a service with `Type=notify`. A missing systemd is not an error.
public struct SystemManager: Sendable {
    private let socket: String?

    /// Finds systemd's socket.
    public init() { socket = getenv("NOTIFY_SOCKET").map { String(cString: $0) } }

    /// Sends a notification to systemd, such as `READY=1`.
    public func notify(_ text: String) {
        guard let socket else { return }
        _ = cl_notify(socket, text)
    }
}
