import CLinuxShim
import Glibc
import Wire

/// Connection to the daemon's socket. Each operation waits at most 10 s.
final class SocketClient {
    let descriptor: Int32
    private var received: [UInt8] = []

    init(_ path: String) throws {
        var raw: Int32 = -1
        let error = cl_socket_connect(path, &raw)
        guard error == 0 else { throw Trouble("connect \(path): errno \(error)") }
        descriptor = raw
    }

    deinit { close(descriptor) }

    /// Sends all bytes, and reads nothing meanwhile.
    func send(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count {
            sent += try sendSome(bytes[sent...])
            if sent < bytes.count { try wait(for: POLLOUT) }
        }
    }

    /// Sends the bytes that the socket accepts without waiting, and returns their number.
    func sendSome(_ bytes: ArraySlice<UInt8>) throws -> Int {
        var taken = 0
        let error = bytes.withUnsafeBytes {
            cl_socket_send(descriptor, $0.baseAddress, $0.count, &taken)
        }
        guard error == 0 || error == EAGAIN else { throw Trouble("send: errno \(error)") }
        return taken
    }

    /// Sends a request, and returns the whole reply.
    func ask(_ request: String) throws -> JSONValue {
        try send(Array(request.utf8) + [UInt8(ascii: "\n")])
        return try reply()
    }

    /// The next line as JSON.
    func reply() throws -> JSONValue { try JSONValue(parsing: Array(try line().utf8)) }

    /// The next line, without its newline.
    func line() throws -> String {
        while true {
            if let newline = received.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: received[..<newline], as: UTF8.self)
                received.removeFirst(newline + 1)
                return line
            }
            guard try receiveSome() else { throw Trouble("the daemon has closed the connection") }
        }
    }

    /// Waits for data and reads it; false at the end of the connection.
    func receiveSome() throws -> Bool {
        var chunk = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = read(descriptor, &chunk, chunk.count)
            if count > 0 {
                received += chunk[..<count]
                return true
            }
            guard count < 0, errno == EAGAIN else { return false }
            try wait(for: POLLIN)
        }
    }

    /// True if the daemon closes the connection without sending anything else; throws if nothing
    /// happens.
    func isAtEnd() throws -> Bool {
        guard received.isEmpty else { return false }
        return try !receiveSome()
    }

    private func wait(for events: Int32) throws {
        var entry = pollfd(fd: descriptor, events: Int16(events), revents: 0)
        guard poll(&entry, 1, 10_000) > 0 else { throw Trouble("the daemon does not answer") }
    }
}

extension SocketClient {
    /// Waits for data or the end of the connection; false after the time.
    func hasNews(within seconds: Double) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, Int32(seconds * 1000)) > 0
    }

    /// Closes the sending direction of the connection.
    func finishSending() { shutdown(descriptor, Int32(SHUT_WR)) }
}
