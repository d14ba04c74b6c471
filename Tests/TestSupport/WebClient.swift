import Glibc

/// HTTP and WebSocket client for tests. Calls block, and the test can send arbitrary bytes.
public final class WebClient {
    /// Failure of the client.
    public enum Failure: Error, Equatable {
        /// The connection was refused, or ended.
        case closed
        /// The answer did not come in time.
        case timeout
        /// The answer is not HTTP or not a WebSocket frame.
        case malformed
    }

    /// Frame of a WebSocket.
    public struct Frame: Equatable {
        /// Opcode, 0...15.
        public let opcode: UInt8
        /// Payload.
        public let payload: [UInt8]

        /// Creates an expected frame.
        public init(opcode: UInt8, payload: [UInt8]) {
            self.opcode = opcode
            self.payload = payload
        }

        /// Payload as text.
        public var text: String { String(decoding: payload, as: UTF8.self) }
        /// Close code of a close frame; nil for an empty close frame.
        public var code: Int? {
            payload.count < 2 ? nil : Int(payload[0]) << 8 | Int(payload[1])
        }
    }

    /// Answer of an HTTP server.
    public struct Answer {
        /// Status code, such as 200.
        public let status: Int
        /// Header fields, names in lower case.
        public let headers: [String: String]
        /// Body.
        public let body: [UInt8]
        /// Body as text.
        public var text: String { String(decoding: body, as: UTF8.self) }
    }

    private let descriptor: Int32
    private var received: [UInt8] = []

    /// Connects to a port of the loopback interface.
    ///
    /// - Parameters:
    ///   - port: The server's port.
    ///   - timeout: Longest time of each call, s.
    ///   - receiveBuffer: The kernel's buffer for incoming data, bytes; nil leaves the default.
    ///   - host: Last byte of the client's own address 127.0.0.x.
    /// - Throws: `Failure.closed` if nothing listens.
    public init(
        port: Int, timeout: Double = 10, receiveBuffer: Int32? = nil, host: UInt8 = 1
    ) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | 0o2000000, 0)
        if var size = receiveBuffer {
            setsockopt(
                descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        }
        limit(timeout)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        if host != 1 {
            address.sin_addr.s_addr = (UInt32(0x7f00_0000) + UInt32(host)).bigEndian
            let isBound = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
                }
            }
            guard isBound else { throw Failure.closed }
        }
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw Failure.closed }
    }

    /// Connects to a UNIX socket.
    ///
    /// - Parameters:
    ///   - path: Path of the socket.
    ///   - timeout: Longest time of each call, s.
    /// - Throws: `Failure.closed` if nothing listens.
    public init(path: String, timeout: Double = 10) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | 0o2000000, 0)
        limit(timeout)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0 else { throw Failure.closed }
    }

    private func limit(_ seconds: Double) {
        var limit = timeval(tv_sec: Int(seconds), tv_usec: Int(seconds * 1e6) % 1_000_000)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(
                descriptor, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
    }

    deinit { Glibc.close(descriptor) }

    /// Sends bytes as they are.
    public func send(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.send(
                    descriptor, $0.baseAddress.map { $0 + sent }, bytes.count - sent,
                    Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw errno == EAGAIN ? Failure.timeout : Failure.closed }
            sent += count
        }
    }

    /// Sends text as it is.
    public func send(_ text: String) throws { try send(Array(text.utf8)) }

    /// Waits until the server closes the connection, and discards its bytes.
    ///
    /// - Returns: True if the server has closed the connection.
    public func isClosed() throws -> Bool {
        do {
            while true { _ = try take(1) }
        } catch Failure.closed { return true }
    }

    /// Ends the client's side of the connection.
    ///
    /// - Returns: The bytes that the server sends before it closes the connection, as text.
    public func rest() throws -> String {
        shutdown(descriptor, Int32(SHUT_WR))
        var bytes: [UInt8] = []
        do {
            while true { bytes += try take(1) }
        } catch Failure.closed { return String(decoding: bytes, as: UTF8.self) }
    }

    /// Reads an answer with a Content-Length. An answer to HEAD has no body.
    public func answer(isHead: Bool = false) throws -> Answer {
        var head: [UInt8] = []
        while !head.suffix(4).elementsEqual([13, 10, 13, 10]) { head += try take(1) }
        let lines = String(decoding: head, as: UTF8.self).split(separator: "\r\n")
        let words = lines[0].split(separator: " ")
        guard words.count >= 2, let status = Int(words[1]) else { throw Failure.malformed }
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            let sides = line.split(separator: ":", maxSplits: 1)
            headers[sides[0].lowercased()] = String(sides.last?.drop { $0 == " " } ?? "")
        }
        let length = isHead ? 0 : Int(headers["content-length"] ?? "0") ?? 0
        return Answer(status: status, headers: headers, body: try take(length))
    }

    /// Sends a request and reads the answer. `headers` are lines without line ends. Adds Host if
    /// missing, and Content-Length if there is a body.
    public func request(
        _ method: String, _ path: String, headers: [String] = [], body: String? = nil
    ) throws -> Answer {
        var lines = ["\(method) \(path) HTTP/1.1"] + headers
        if !headers.contains(where: { $0.lowercased().hasPrefix("host:") }) {
            lines.append("Host: 127.0.0.1")
        }
        if let body { lines.append("Content-Length: \(body.utf8.count)") }
        try send(lines.joined(separator: "\r\n") + "\r\n\r\n" + (body ?? ""))
        return try answer(isHead: method == "HEAD")
    }

    /// Requests a WebSocket. The WebSocket is open if the answer's status is 101.
    @discardableResult
    public func upgrade(_ path: String, headers: [String] = []) throws -> Answer {
        try request(
            "GET", path,
            headers: [
                "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13",
                "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
            ] + headers)
    }

    /// Bytes of a masked frame.
    public static func frame(
        _ opcode: UInt8, _ payload: [UInt8], isLast: Bool = true, isMasked: Bool = true
    ) -> [UInt8] {
        var bytes = [opcode | (isLast ? 0x80 : 0)]
        let mask: UInt8 = isMasked ? 0x80 : 0
        switch payload.count {
        case ...125: bytes.append(mask | UInt8(payload.count))
        case ...65535:
            bytes += [mask | 126, UInt8(payload.count >> 8), UInt8(payload.count & 255)]
        default:
            bytes.append(mask | 127)
            bytes += (0..<8).reversed().map { UInt8(payload.count >> (8 * $0) & 255) }
        }
        guard isMasked else { return bytes + payload }
        let key: [UInt8] = [0x37, 0xfa, 0x21, 0x3d]
        return bytes + key + payload.enumerated().map { $0.element ^ key[$0.offset & 3] }
    }

    /// Sends a message of text in one frame.
    public func send(message: String) throws { try send(Self.frame(1, Array(message.utf8))) }

    /// Reads a frame.
    public func frame() throws -> Frame {
        let start = try take(2)
        guard start[1] & 0x80 == 0 else { throw Failure.malformed }
        var length = Int(start[1])
        if length >= 126 {
            length = try take(length == 126 ? 2 : 8).reduce(0) { $0 << 8 | Int($1) }
        }
        return Frame(opcode: start[0] & 15, payload: try take(length))
    }

    /// Reads frames up to the next message of text.
    public func message() throws -> String {
        while true {
            let frame = try frame()
            if frame.opcode == 1 { return frame.text }
            if frame.opcode == 8 { throw Failure.closed }
        }
    }

    /// Discards frames up to the server's close frame.
    ///
    /// - Returns: Code of the close frame; nil for an empty close frame.
    /// - Throws: `Failure` if the connection ends, or the server sends nothing for the timeout,
    ///   before a close frame.
    public func closeCode() throws -> Int? {
        while true {
            let frame = try frame()
            if frame.opcode == 8 { return frame.code }
        }
    }

    /// True if unread bytes are available.
    public func hasMessage() throws -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return !received.isEmpty || poll(&entry, 1, 0) > 0
    }

    private func take(_ count: Int) throws -> [UInt8] {
        var chunk = [UInt8](repeating: 0, count: 65536)
        while received.count < count {
            let got = recv(descriptor, &chunk, chunk.count, 0)
            if got > 0 {
                received += chunk[..<got]
            } else {
                throw got < 0 && errno == EAGAIN ? Failure.timeout : Failure.closed
            }
        }
        defer { received.removeFirst(count) }
        return Array(received[..<count])
    }
}
