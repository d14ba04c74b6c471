import GimbalCore
import Glibc
import Logging
import Policy
import Port
import Realtime
import ServiceLifecycle
import SystemPackage

/// File with the links whose emergency stop is latched, so that a crash or a restart of airframed
/// does not reset the stop. One line contains one `CommandSource.Link`; without a latched stop the
/// file does not exist.
///
/// The file is in the folder of the variable RUNTIME_DIRECTORY. systemd keeps this folder while the
/// service restarts, and it is in memory: a write does not wait for a disk, and a restart of the
/// computer resets the stop.
struct StopRecord {
    private let file: FilePath

    /// Creates a record; nil without the variable RUNTIME_DIRECTORY, which systemd sets.
    ///
    /// - Parameter environment: Function that returns an environment variable.
    init?(
        environment: (String) -> String? = { name in getenv(name).map { String(cString: $0) } }
    ) {
        // systemd separates several folders by colons.
        guard let first = environment("RUNTIME_DIRECTORY")?.split(separator: ":").first else {
            return nil
        }
        file = FilePath(String(first)).appending("emergency-stop")
    }

    /// The recorded links; empty without a latched stop. A file that cannot be read counts as a
    /// stop by the socket, whose clients can reset the stop of every link.
    var links: [CommandSource.Link] {
        do {
            let descriptor = try FileDescriptor.open(file, .readOnly, options: [.noFollow])
            let text = try descriptor.closeAfter {
                try String(unsafeUninitializedCapacity: 1024) {
                    try descriptor.read(into: UnsafeMutableRawBufferPointer($0))
                }
            }
            let links = text.split(separator: "\n").map { CommandSource.Link(rawValue: String($0)) }
            return links.isEmpty ? [.diagnostics] : links.map { $0 ?? .diagnostics }
        } catch {
            return error as? Errno == .noSuchFileOrDirectory ? [] : [.diagnostics]
        }
    }

    /// Replaces the recorded links.
    ///
    /// - Throws: `Errno` if the file cannot be written or removed.
    func store(_ links: [CommandSource.Link]) throws {
        guard !links.isEmpty else {
            guard unlink(file.string) == 0 || errno == ENOENT else { throw Errno(rawValue: errno) }
            return
        }
        // A file that is complete at every instant; a crash leaves the old or the new links.
        let next = file.removingLastComponent().appending("emergency-stop.new")
        let descriptor = try FileDescriptor.open(
            next, .writeOnly, options: [.create, .truncate, .noFollow],
            permissions: [.ownerReadWrite])
        _ = try descriptor.closeAfter {
            try descriptor.writeAll(links.map { "\($0.rawValue)\n" }.joined().utf8)
        }
        guard rename(next.string, file.string) == 0 else { throw Errno(rawValue: errno) }
    }

    /// Latches the recorded stops. Call this method before the loop starts.
    ///
    /// - Parameters:
    ///   - commander: Receiver of the stops.
    ///   - now: Present time, on the loop's clock.
    ///   - log: Log for the warning that the motors stay off.
    func repeatStops(_ commander: Commander, now: Instant, log: Logger) {
        for link in links {
            let source = CommandSource(link: link, connection: 0, name: "before the restart")
            do throws(Refusal) {
                try commander.request(.emergencyStop, from: source, now: now)
                log.warning(
                    "The emergency stop by \(source) is still latched, so the motors stay off. Reset it: airframectl stop --reset"
                )
            } catch {
                log.critical("The emergency stop by \(source) was not repeated: \(error.message)")
            }
        }
    }
}

/// Service that keeps the record of the latched emergency stops up to date.
struct StopRecordService: Service {
    /// Interval between two checks. An emergency stop shortly before a crash of airframed is lost.
    private static let period = Duration.milliseconds(20)

    let record: StopRecord
    let commander: Commander
    let log: Logger

    func run() async throws {
        var stored = record.links
        var hasFailed = false
        while true {
            // The last check follows the end of the links, so it includes their last stop.
            let isOver = Task.isShuttingDownGracefully || Task.isCancelled
            let links = commander.view(now: MonotonicClock.now).stops
            if links != stored {
                do {
                    try record.store(links)
                    stored = links
                    hasFailed = false
                } catch {
                    if !hasFailed {
                        log.error(
                            "The emergency stops cannot be recorded in $RUNTIME_DIRECTORY/emergency-stop: \(error). A restart of airframed would change them."
                        )
                    }
                    hasFailed = true
                }
            }
            if isOver { return }
            try? await Task.sleep(for: Self.period)
        }
    }
}
