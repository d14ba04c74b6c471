import CLinuxShim
import Client
import Foundation
import Glibc
import Shots
import Testing
import Wire

@testable import airframectl

@Suite("Shutter airframe-eyes of a shot")
struct EyesShutterTests {
    @Test(
        "no photo is requested while the number of earlier photos is unknown",
        .timeLimit(.minutes(1)))
    func unknownCount() throws {
        let path = "/tmp/airframectl-\(UUID().uuidString.prefix(8))"
        var listener: Int32 = -1
        try #require(cl_socket_listen(path, 1, &listener) == 0)
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .custom(MessageKey.encoding)
        let status = String(decoding: try encoder.encode(Status()), as: UTF8.self)
        let answers = Array(
            """
            {"id":1,"t":1,"result":\(status)}
            {"id":2,"t":1,"result":{"sentence":"A photo.","number":3}}

            """.utf8)
        // A daemon without airframe-eyes answers the request for its state, and would accept the
        // request for a photo.
        let (socket, isDone) = (listener, DispatchSemaphore(value: 0))
        Thread.detachNewThread {
            var entry = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
            var connection: Int32 = -1
            if poll(&entry, 1, 10_000) == 1, cl_socket_accept(socket, &connection) == 0 {
                entry.fd = connection
                poll(&entry, 1, 10_000)
                var buffer = [UInt8](repeating: 0, count: 4096)
                read(connection, &buffer, buffer.count)
                _ = answers.withUnsafeBytes { write(connection, $0.baseAddress, $0.count) }
                // Waits for the next request, or for the end of the connection.
                poll(&entry, 1, 10_000)
                close(connection)
            }
            isDone.signal()
        }
        defer {
            isDone.wait()
            close(listener)
            unlink(path)
        }
        do {
            let client = try DaemonClient(path: path, timeout: 10)
            let shutter = EyesShutter(timeout: 1, wait: { _ in }) {
                () throws(ClientError) in client
            }
            let problem = try shutter.shoot(4, at: Pose())
            #expect(problem?.contains("airframe-eyes is not connected") == true)
            #expect(try shutter.examine(4, mark: 7) == .notTaken)
        }
    }
}
