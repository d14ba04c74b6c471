import CLinuxShim
import Glibc
import SystemPackage

/// Numeric address and port for UDP.
public struct DatagramAddress: Hashable, Sendable, CustomStringConvertible {
    /// Address in the kernel's form: sockaddr_in or sockaddr_in6.
    fileprivate var bytes: [UInt8]

    fileprivate init(bytes: [UInt8]) { self.bytes = bytes }

    /// Parses an address with a port; nil if the address is not numeric.
    public init?(host: String, port: UInt16) {
        var length: UInt32 = 0
        var storage = [UInt8](repeating: 0, count: Int(CL_UDP_ADDRESS_SIZE))
        guard cl_udp_parse(host, port, &storage, &length) == 0 else { return nil }
        bytes = Array(storage.prefix(Int(length)))
    }

    /// The address as text, such as "127.0.0.1:14550" or "[::1]:14550".
    public var description: String {
        guard let (host, port) = parts else { return "unknown address" }
        return host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }

    /// The address without its port.
    var host: String { parts?.host ?? "" }

    private var parts: (host: String, port: UInt16)? {
        var text = [CChar](repeating: 0, count: 64)
        var port: UInt16 = 0
        guard cl_udp_text(bytes, UInt32(bytes.count), &text, text.count, &port) == 0 else {
            return nil
        }
        return (String(decoding: text.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self), port)
    }
}

/// UDP socket whose methods never block.
struct DatagramSocket {
    /// Longest accepted datagram, bytes. A longer datagram is truncated, which makes the datagram
    /// invalid in every format.
    static let capacity = 2048

    let descriptor: FileDescriptor

    /// Opens a socket that is bound to `address`. If `binds` is false, the socket is not bound, and
    /// sends from any port.
    init(_ address: DatagramAddress, binds: Bool) throws(Errno) {
        var raw: Int32 = -1
        let error = cl_udp_open(address.bytes, UInt32(address.bytes.count), binds ? 1 : 0, &raw)
        guard error == 0 else { throw Errno(rawValue: error) }
        descriptor = FileDescriptor(rawValue: raw)
    }

    /// Receives the next datagram; nil if no datagram waits.
    func receive() -> (bytes: [UInt8], from: DatagramAddress)? {
        var from = [UInt8](repeating: 0, count: Int(CL_UDP_ADDRESS_SIZE))
        var length: UInt32 = 0
        var count = 0
        var error: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: Self.capacity) { buffer, used in
            error = cl_udp_receive(
                descriptor.rawValue, buffer.baseAddress, buffer.count, &count, &from, &length)
            used = error == 0 ? min(count, buffer.count) : 0
        }
        // The error ECONNREFUSED concerns an earlier datagram (ICMP "port unreachable"), so the
        // call is repeated.
        if error == ECONNREFUSED { return receive() }
        guard error == 0 else { return nil }
        return (bytes, DatagramAddress(bytes: Array(from.prefix(Int(length)))))
    }

    /// Sends a datagram.
    ///
    /// - Returns: True if the kernel accepted the datagram.
    func send(_ bytes: [UInt8], to address: DatagramAddress) -> Bool {
        cl_udp_send(
            descriptor.rawValue, bytes, bytes.count, address.bytes, UInt32(address.bytes.count))
            == 0
    }

    func close() { try? descriptor.close() }
}
