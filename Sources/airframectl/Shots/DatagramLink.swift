import Client
import Glibc

/// UDP socket that exchanges datagrams with one address.
final class DatagramLink {
    private let descriptor: Int32

    /// Opens a socket.
    ///
    /// - Parameter address: `HOST:PORT`; an IPv6 address is in brackets.
    /// - Throws: `ClientError` if the address is invalid or cannot be used.
    init(to address: String) throws(ClientError) {
        descriptor = try DatagramSender.connected(to: address)
    }

    deinit { close(descriptor) }

    /// Sends one datagram.
    func send(_ bytes: [UInt8]) { _ = Glibc.send(descriptor, bytes, bytes.count, 0) }

    /// The next datagram; nil if none arrives within the given time, s.
    func receive(within seconds: Double) -> [UInt8]? {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&entry, 1, Int32(max(0, seconds) * 1000)) > 0 else { return nil }
        var bytes = [UInt8](repeating: 0, count: 2048)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        if count > 0 { return Array(bytes[..<count]) }
        // If the other computer refuses datagrams, `recv` fails immediately; the pause prevents a
        // busy loop.
        usleep(10_000)
        return nil
    }
}
