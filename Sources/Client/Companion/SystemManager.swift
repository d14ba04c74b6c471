import CLinuxShim
import Glibc
import PlainText

/// Notifications to systemd, for a service with `Type=notify`. A missing systemd is not an error.
public struct SystemManager: Sendable {
    private let socket: String?

    /// Finds systemd's socket.
    public init() { self.init(socket: getenv("NOTIFY_SOCKET").map { String(cString: $0) }) }

    /// Creates a sender of notifications to the socket at a path; nil means no systemd.
    package init(socket: String?) { self.socket = socket }

    /// Sends a notification to systemd, such as `READY=1`.
    public func notify(_ text: String) {
        guard let socket else { return }
        _ = cl_notify(socket, text)
    }

    /// Sets the text that `systemctl status` shows. The text can contain the name of a device, in
    /// which a line end would begin another notification.
    public func status(_ text: String) { notify("STATUS=\(text.visible)") }
}
