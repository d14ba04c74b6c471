import Glibc
import SystemPackage

/// Simulated notification socket of systemd.
public final class NotificationSocket {
    private let descriptor: Int32

    /// Creates the socket.
    ///
    /// - Parameter path: Path of the socket; the programs get it as `NOTIFY_SOCKET`.
    /// - Throws: `Errno` if the socket cannot be created there.
    public init(_ path: String) throws {
        descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard bound == 0 else { throw Errno(rawValue: errno) }
    }

    deinit { close(descriptor) }

    /// The next notification that has arrived; nil if there is none.
    public func next() -> String? {
        var buffer = [UInt8](repeating: 0, count: 256)
        let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        return count >= 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
    }

    /// Discards all received notifications.
    public func drain() { while next() != nil {} }

    /// True if the next notification arrives within this time, s, and is `text`.
    public func hears(_ text: String, within seconds: Double) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&entry, 1, Int32(seconds * 1000)) > 0 else { return false }
        return next() == text
    }
}
