import Foundation
import Links
import Logging
import Synchronization
import TestSupport
import Testing

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
    // If the body has thrown an error, its requests can still wait.
    backend.record.withLock { record in
        record.isDoctorSlow = false
        record.isDiskSlow = false
    }
    backend.finishDisk()
    try await endInTime(running)
    try result.get()
}

/// Cancels a server, and requires that it ends within ten seconds.
func endInTime(_ running: Task<Void, any Error>) async throws {
    running.cancel()
    let end = ServerEnd()
    Task {
        _ = await running.result
        end.hasCome.withLock { $0 = true }
    }
    let isInTime = await onThread { eventually(within: 10) { end.hasCome.withLock { $0 } } }
    try #require(isInTime, "The server has not ended within 10 s.")
    try await running.value
}

/// The end of a server, which one task notices for another thread.
private final class ServerEnd: Sendable {
    let hasCome = Mutex(false)
}

/// Runs blocking code outside Swift's thread pool.
func onThread<T: Sendable>(_ body: @escaping @Sendable () -> T) async -> T {
    await withCheckedContinuation { continuation in
        Thread.detachNewThread { continuation.resume(returning: body()) }
    }
}
