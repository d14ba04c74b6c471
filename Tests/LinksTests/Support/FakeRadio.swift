import GimbalCore
import Links
import Logging
import Synchronization

/// Records the notifications of a service.
final class FakeRadio: GATTNotifier, @unchecked Sendable {
    struct Notification: Equatable {
        var uuid: GATTUUID
        var value: [UInt8]
    }

    private(set) var sent: [Notification] = []

    func notify(_ characteristic: GATTUUID, _ value: [UInt8]) {
        sent.append(Notification(uuid: characteristic, value: value))
    }

    /// Notifications since the last call.
    func take() -> [Notification] {
        defer { sent = [] }
        return sent
    }

    /// All bytes since the last call, in order.
    func takeBytes() -> [UInt8] { take().flatMap(\.value) }
}

/// The logged lines.
final class LineLog: Sendable {
    private let kept = Mutex<[String]>([])

    var lines: [String] { kept.withLock { $0 } }

    var logger: Logger { Logger(label: "test") { _ in Handler(log: self) } }

    private struct Handler: LogHandler {
        let log: LineLog
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        init(log: LineLog) { self.log = log }

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            log.kept.withLock { $0.append(event.message.description) }
        }
    }
}

extension Central {
    static let iPhone = Central(address: "C0:1A:B0:00:00:02", connection: 1)
    static let iPad = Central(address: "C0:1A:B0:00:00:03", connection: 2)
}

func at(_ seconds: Double) -> Instant { Instant(seconds: 100 + seconds) }
