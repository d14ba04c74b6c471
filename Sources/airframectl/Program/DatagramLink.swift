import Client
import Glibc

/// UDP socket that exchanges datagrams with one address. Datagrams without a receiver are lost.
final class DatagramLink {
    /// The socket, which is connected to `address`.
    let descriptor: Int32
    /// Address of the other program, and the length of this address, bytes.
    private let address: sockaddr_storage
    private let length: socklen_t

    /// Opens a socket.
    ///
    /// - Parameters:
    ///   - address: `HOST:PORT`; an IPv6 address is in brackets.
    ///   - field: Name of the option or key that contains the address.
    /// - Throws: `ClientError.file` if the address is not `HOST:PORT`, or `ClientError.unreachable`
    ///   if the host is unknown or the network is down.
    init(to address: String, field: String = "udp") throws(ClientError) {
        (descriptor, self.address, length) = try Self.connected(to: address, field: field)
    }

    private static func connected(
        to address: String, field: String
    ) throws(ClientError) -> (descriptor: Int32, address: sockaddr_storage, length: socklen_t) {
        func malformed(_ reason: String) -> ClientError {
            .file(
                "\(address): \(reason). Write HOST:PORT, such as 192.168.1.20:9870.", field: field)
        }
        func unreachable(_ reason: String) -> ClientError {
            .unreachable("\(field) = \"\(address)\": \(reason). Check the address and the network.")
        }
        guard let colon = address.lastIndex(of: ":") else {
            throw malformed("the port is missing")
        }
        let host = String(address[..<colon].filter { $0 != "[" && $0 != "]" })
        let port = String(address[address.index(after: colon)...])
        guard !host.isEmpty, UInt16(port) ?? 0 > 0 else {
            throw malformed("this is not a host and a port")
        }
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_DGRAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        let status = getaddrinfo(host, port, &hints, &found)
        guard status == 0, let found else {
            // The name can become known later: the network starts after this program, and a camera
            // with a name in mDNS can be off.
            throw unreachable(
                "the host name cannot be resolved (\(String(cString: gai_strerror(status))))")
        }
        defer { freeaddrinfo(found) }
        var error: Int32 = 0
        for place in addresses(found) {
            let descriptor = socket(place.pointee.ai_family, Int32(SOCK_DGRAM.rawValue), 0)
            if descriptor >= 0,
                connect(descriptor, place.pointee.ai_addr, place.pointee.ai_addrlen) == 0
            {
                var address = sockaddr_storage()
                memcpy(&address, place.pointee.ai_addr, Int(place.pointee.ai_addrlen))
                return (descriptor, address, place.pointee.ai_addrlen)
            }
            error = errno
            if descriptor >= 0 { close(descriptor) }
        }
        throw unreachable(String(cString: strerror(error)))
    }

    /// Addresses of a host in the order of the attempts, IPv4 first. The first address of
    /// `localhost` is usually ::1, but receivers such as PlotJuggler listen only on 127.0.0.1.
    static func addresses(
        _ found: UnsafeMutablePointer<addrinfo>
    ) -> [UnsafeMutablePointer<addrinfo>] {
        let all = Array(sequence(first: found) { $0.pointee.ai_next })
        return all.filter { $0.pointee.ai_family == AF_INET }
            + all.filter { $0.pointee.ai_family != AF_INET }
    }

    deinit { close(descriptor) }

    /// Sends one datagram.
    ///
    /// A connected socket keeps the address that the computer had when the socket was connected. If
    /// the computer gets another address, for example by DHCP, no datagram leaves this socket any
    /// more. Therefore a failure connects the socket again, and the datagram is sent once more. A
    /// refusal of an earlier datagram only means that no program listens; a new connection would
    /// change the socket's port.
    func send(_ bytes: [UInt8]) {
        guard Glibc.send(descriptor, bytes, bytes.count, 0) < 0 else { return }
        if errno != ECONNREFUSED { reconnect() }
        _ = Glibc.send(descriptor, bytes, bytes.count, 0)
    }

    /// Connects the socket again, with the computer's present address.
    private func reconnect() {
        // Without this call, Linux keeps the computer's earlier address (connect(2), AF_UNSPEC).
        var none = sockaddr()
        none.sa_family = sa_family_t(AF_UNSPEC)
        _ = connect(descriptor, &none, socklen_t(MemoryLayout<sockaddr>.size))
        _ = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, length)
            }
        }
    }

    /// Discards the datagrams that have arrived.
    func discard() {
        // A refusal of the other computer (ECONNREFUSED) precedes datagrams that have arrived.
        while recv(descriptor, nil, 0, Int32(MSG_DONTWAIT)) >= 0 || errno == ECONNREFUSED {}
    }

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
