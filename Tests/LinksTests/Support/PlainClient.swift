import CLinuxShim
import Glibc
import Wire

/// A plain socket, like that of `nc -U`. It waits for at most ten seconds, then the test fails.
final class PlainClient {
    struct Problem: Error {
        var description: String
    }

    private(set) var descriptor: Int32 = -1
    private var received: [UInt8] = []

    init(_ path: String) throws {
        let error = cl_socket_connect(path, &descriptor)
        guard error == 0 else { throw Problem(description: "connect: \(error)") }
    }

    deinit { close() }

    func close() {
        if descriptor >= 0 { Glibc.close(descriptor) }
        descriptor = -1
    }

    func endInput() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Sends everything without reading.
    func send(_ bytes: some Collection<UInt8>) throws {
        var rest = Array(bytes)[...]
        while !rest.isEmpty {
            let taken = try sendSome(rest)
            if taken == 0 { try wait(for: POLLOUT) }
            rest = rest.dropFirst(taken)
        }
    }

    func send(_ text: String) throws { try send(Array(text.utf8)) }

    /// Sends as much as fits immediately; 0 if nothing fits.
    func sendSome(_ bytes: ArraySlice<UInt8>) throws -> Int {
        var taken = 0
        let error = bytes.withUnsafeBytes {
            cl_socket_send(descriptor, $0.baseAddress, $0.count, &taken)
        }
        guard error == 0 || error == EAGAIN else { throw Problem(description: "send: \(error)") }
        return taken
    }

    /// The next line; nil if the server has closed the connection.
    func line() throws -> String? {
        while true {
            if let newline = received.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: received[..<newline], as: UTF8.self)
                received.removeFirst(newline + 1)
                return line
            }
            guard try fill() else { return nil }
        }
    }

    /// The next line as JSON.
    func json() throws -> JSONValue {
        guard let line = try line() else { throw Problem(description: "the server closed") }
        return try JSONValue(parsing: Array(line.utf8))
    }

    /// Sends one request and reads its reply.
    func ask(_ request: String) throws -> JSONValue {
        try send(request + "\n")
        return try json()
    }

    private func fill() throws -> Bool {
        var chunk = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = read(descriptor, &chunk, chunk.count)
            if count > 0 {
                received += chunk[..<count]
                return true
            }
            if count == 0 || errno == ECONNRESET { return false }
            guard errno == EAGAIN else { throw Problem(description: "read: \(errno)") }
            try wait(for: POLLIN)
        }
    }

    private func wait(for events: Int32) throws {
        var entry = pollfd(fd: descriptor, events: Int16(events), revents: 0)
        guard poll(&entry, 1, 10_000) > 0 else { throw Problem(description: "nothing for 10 s") }
    }
}
