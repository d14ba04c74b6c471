import CLinuxShim
import Foundation
import Glibc
import Testing

/// Runs a fake daemon that answers the first request with these lines, then closes the
/// connection unless `thenStays` is true.
func withDaemon(
    answering lines: String, thenStays: Bool = false, body: (String) throws -> Void
) throws {
    let path = "/tmp/airframectl-\(UUID().uuidString.prefix(8))"
    var listener: Int32 = -1
    #expect(cl_socket_listen(path, 1, &listener) == 0)
    defer {
        close(listener)
        unlink(path)
    }
    let (socket, isDone) = (listener, DispatchSemaphore(value: 0))
    Thread.detachNewThread {
        var entry = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        var connection: Int32 = -1
        if poll(&entry, 1, 10_000) == 1, cl_socket_accept(socket, &connection) == 0 {
            entry.fd = connection
            poll(&entry, 1, 10_000)
            var buffer = [UInt8](repeating: 0, count: 4096)
            read(connection, &buffer, buffer.count)
            _ = Array(lines.utf8).withUnsafeBytes {
                write(connection, $0.baseAddress, $0.count)
            }
            // Waits until the client disconnects.
            if thenStays { poll(&entry, 1, 10_000) }
            close(connection)
        }
        isDone.signal()
    }
    defer { isDone.wait() }
    try body(path)
}
