import Glibc

/// HTTP client of `airframe-eyes aerie`, for the server on the same computer. The methods block.
struct LoopbackClient {
    /// Failure of a request, as a sentence with a remedy.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    let port: UInt16

    /// Sends a request, and returns the body of the response.
    ///
    /// - Parameters:
    ///   - method: HTTP method, such as "GET".
    ///   - path: Path and query of the URL.
    ///   - body: Body of the request.
    /// - Returns: The answer's body.
    /// - Throws: The server's refusal, or the reason why the server cannot be reached.
    func request(_ method: String, _ path: String, body: [UInt8] = []) throws(Failure) -> [UInt8] {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var limit = timeval(tv_sec: 5, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(
                descriptor, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else {
            throw Failure(
                description:
                    "No server for phones listens at port \(port). Set aerie.listen, and restart airframe-eyes."
            )
        }
        let head =
            "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: \(body.count)\r\n\r\n"
        var rest = (Array(head.utf8) + body)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { break }
            rest = rest.dropFirst(count)
        }
        var answer: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65536)
        while case let count = recv(descriptor, &chunk, chunk.count, 0), count > 0,
            answer.count < 10_000_000
        { answer += chunk[..<count] }
        return try Self.body(answer)
    }

    /// Returns the body of a response with status 200.
    static func body(_ answer: [UInt8]) throws(Failure) -> [UInt8] {
        let end: [UInt8] = [13, 10, 13, 10]
        guard
            let split = answer.indices.first(where: { answer[$0...].starts(with: end) })
        else { throw Failure(description: "The server for phones did not answer.") }
        let body = Array(answer[(split + 4)...])
        guard answer.starts(with: Array("HTTP/1.1 200 ".utf8)) else {
            let text = String(
                decoding: body.isEmpty ? Array(answer[..<split]) : body, as: UTF8.self)
            throw Failure(description: "The server for phones refused the request: \(text)")
        }
        return body
    }
}
