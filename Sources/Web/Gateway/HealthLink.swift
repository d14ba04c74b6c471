import Client
import Synchronization
import Wire

/// Connection to airframed. The link reports this program's health every second, and requests the
/// path of the recordings' directory. The link has its own thread, so an unresponsive or missing
/// daemon does not delay pages.
final class HealthLink: Sendable {
    private let socket: String
    private let report: @Sendable () -> CompanionReport
    private let noteDirectory: @Sendable (String) -> Void
    private let latest = Mutex(String?.none)
    private let thread = CompanionThread()

    /// Starts the thread.
    ///
    /// - Parameters:
    ///   - socket: Path of the daemon's socket.
    ///   - report: Function that returns the current health.
    ///   - noteDirectory: Function that receives the recordings' directory.
    init(
        socket: String, report: @escaping @Sendable () -> CompanionReport,
        noteDirectory: @escaping @Sendable (String) -> Void
    ) {
        self.socket = socket
        self.report = report
        self.noteDirectory = noteDirectory
        thread.start("web-health") { [self] in run() }
    }

    /// Current problem of the connection to airframed; nil if there is none.
    var problem: String? { latest.withLock { $0 } }

    /// Stops the thread after the current request, and waits until the thread has ended.
    func stop() { thread.stop() }

    private func run() {
        while !thread.mustEnd {
            do throws(ClientError) {
                let client = try DaemonClient(path: socket, timeout: 2)
                _ = try client.json("client", ["name": "airframe-web"])
                try serve(client)
            } catch {
                latest.withLock { $0 = error.requestError.message }
            }
            thread.pause(0.5)
        }
    }

    private func serve(_ client: DaemonClient) throws(ClientError) {
        while !thread.mustEnd {
            _ = try client.json("companion", report().params)
            if let directory = try client.json("record")["directory"]?.string {
                noteDirectory(directory)
            }
            latest.withLock { $0 = nil }
            thread.pause(1)
        }
    }
}
