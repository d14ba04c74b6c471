import Foundation
import Links
import Logging

/// A directory that is removed after the test.
final class TemporaryDirectory: Sendable {
    let path: String

    init() {
        path = "/tmp/airframe-\(UUID().uuidString.prefix(8))"
        try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func file(_ name: String) -> String { path + "/" + name }
}

let silentLogger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

/// Runs a server around a body. The body has its own thread, because it waits for sockets, and
/// Swift's pool has only as many threads as there are cores.
func withServer(
    _ backend: FakeBackend = FakeBackend(),
    change: (inout DiagnosticsConfiguration) -> Void = { _ in },
    body: @escaping @Sendable (_ path: String, _ backend: FakeBackend) throws -> Void
) async throws {
    let directory = TemporaryDirectory()
    var configuration = DiagnosticsConfiguration(path: directory.file("d.sock"), group: nil)
    change(&configuration)
    let server = try DiagnosticsServer(
        configuration: configuration, port: backend.port, services: backend.services,
        logger: silentLogger)
    try server.open()
    let running = Task { try await server.run() }
    let path = configuration.path
    let result = await onThread { Result { try body(path, backend) } }
    running.cancel()
    try await running.value
    try result.get()
}

/// Runs blocking code outside Swift's thread pool.
func onThread<T: Sendable>(_ body: @escaping @Sendable () -> T) async -> T {
    await withCheckedContinuation { continuation in
        Thread.detachNewThread { continuation.resume(returning: body()) }
    }
}
