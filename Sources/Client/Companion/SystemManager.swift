import CLinuxShim
import Glibc

/// systemd, as a service of type `notify` tells it about itself. A missing systemd is not an error.
public struct SystemManager: Sendable {
    private let socket: String?

    /// Finds systemd's socket.
    public init() { socket = getenv("NOTIFY_SOCKET").map { String(cString: $0) } }

    /// Sends an assignment, as `READY=1`.
    public func notify(_ text: String) {
        guard let socket else { return }
        _ = cl_notify(socket, text)
    }
}
