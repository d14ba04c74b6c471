import Glibc

/// Addresses of this computer.
public enum NetworkInterface {
    /// Finds the address of a server for clients on other computers.
    ///
    /// - Parameter host: Address on which the server listens; 0.0.0.0 means all addresses.
    /// - Returns: Address for clients. If `host` means all addresses, the result is the address on
    ///   the first network. An IPv6 address is in brackets.
    public static func reachable(_ host: String) -> String {
        guard host == "0.0.0.0" || host == "::" else {
            return host.contains(":") ? "[\(host)]" : host
        }
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return "127.0.0.1" }
        defer { freeifaddrs(list) }
        var entry = list
        while let present = entry {
            defer { entry = present.pointee.ifa_next }
            let flags = Int32(bitPattern: present.pointee.ifa_flags)
            guard let address = present.pointee.ifa_addr, address.pointee.sa_family == AF_INET,
                flags & Int32(IFF_UP) != 0, flags & Int32(IFF_LOOPBACK) == 0
            else { continue }
            var name = [CChar](repeating: 0, count: Int(NI_MAXHOST))
            let result = getnameinfo(
                address, socklen_t(MemoryLayout<sockaddr_in>.size), &name, socklen_t(name.count),
                nil, 0, NI_NUMERICHOST)
            guard result == 0 else { continue }
            return String(
                decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
        return "127.0.0.1"
    }
}
