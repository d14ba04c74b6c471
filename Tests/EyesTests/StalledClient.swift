import Glibc
import SystemPackage

/// Minimal RTSP client that requests the stream over TCP, and then stops reading.
final class StalledClient {
    private let descriptor: Int32
    private let port: UInt16
    private var number = 0
    /// Bytes that no response has used yet.
    private var received: [UInt8] = []

    init(port: UInt16) throws {
        self.port = port
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        // A small window, so that the server soon cannot send.
        var size: Int32 = 4096
        setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        var time = timeval(tv_sec: 5, tv_usec: 0)
        setsockopt(
            descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw Errno(rawValue: errno) }
    }

    deinit { close(descriptor) }

    /// Sends a request; returns the header of the response.
    private func ask(_ method: String, _ path: String, _ header: String = "") throws -> String {
        number += 1
        let text =
            "\(method) rtsp://127.0.0.1:\(port)\(path) RTSP/1.0\r\nCSeq: \(number)\r\n\(header)\r\n"
        let sent = text.utf8CString.withUnsafeBytes {
            send(descriptor, $0.baseAddress, $0.count - 1, Int32(MSG_NOSIGNAL))
        }
        guard sent == text.utf8.count else { throw Errno(rawValue: errno) }
        return try response()
    }

    /// Reads one complete response, which may arrive in parts or after data of the stream.
    private func response() throws -> String {
        while true {
            // RFC 2326 section 10.12: data of the stream are `$`, channel, size (2 bytes), bytes.
            if received.first == UInt8(ascii: "$") {
                let size = received.count < 4 ? 4 : 4 + Int(received[2]) << 8 + Int(received[3])
                if received.count >= size {
                    received.removeFirst(size)
                    continue
                }
            } else if let end = received.firstRange(of: Array("\r\n\r\n".utf8))?.upperBound {
                let header = String(decoding: received[..<end], as: UTF8.self)
                let length = header.split(separator: "\r\n")
                    .first { $0.lowercased().hasPrefix("content-length:") }
                    .flatMap { Int($0.dropFirst(15).filter(\.isNumber)) }
                if received.count >= end + (length ?? 0) {
                    received.removeFirst(end + (length ?? 0))
                    return header
                }
            }
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { throw Errno(rawValue: count == 0 ? ECONNRESET : errno) }
            received += buffer[..<count]
        }
    }

    /// Requests the description of the stream.
    func describe() throws {
        _ = try ask("DESCRIBE", "/stream", "Accept: application/sdp\r\n")
    }

    /// Starts playing.
    ///
    /// - Returns: Header of the last response, `RTSP/1.0 200 OK` first if the server now sends the stream.
    func play() throws -> String {
        try describe()
        let answer = try ask(
            "SETUP", "/stream/stream=0", "Transport: RTP/AVP/TCP;unicast;interleaved=0-1\r\n")
        guard let line = answer.split(separator: "\r\n").first(where: { $0.hasPrefix("Session:") })
        else { return answer }
        let session = line.dropFirst(8).split(separator: ";")[0].filter { $0 != " " }
        return try ask("PLAY", "/stream", "Session: \(session)\r\n")
    }
}
