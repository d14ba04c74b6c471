import CLinuxShim
import Foundation
import Glibc

/// Separate dbus-daemon that only the test uses. It ends with this object.
package final class PrivateBus {
    /// Address of the bus, for sd-bus and DBUS_SYSTEM_BUS_ADDRESS.
    package let address: String
    private let directory: URL
    private var daemon: pid_t = 0

    /// Starts the dbus-daemon.
    package init() throws {
        directory = FileManager.default.temporaryDirectory.appending(
            path: "airframe-bus-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
        let path = directory.appending(path: "bus").path
        address = "unix:path=\(path)"
        let configuration = """
            <busconfig><type>session</type><listen>\(address)</listen><auth>EXTERNAL</auth>
            <policy context="default"><allow send_destination="*"/><allow receive_sender="*"/>
            <allow own="*"/></policy></busconfig>
            """
        let file = directory.appending(path: "bus.conf").path
        try configuration.write(toFile: file, atomically: false, encoding: .utf8)
        try start(["dbus-daemon", "--nofork", "--nopidfile", "--config-file=\(file)"], path)
    }

    /// Spawns the dbus-daemon without Foundation's Process, which needs a run loop to wait. Threads
    /// of tests do not have a run loop.
    private func start(_ arguments: [String], _ path: String) throws {
        var words = arguments.map { strdup($0) } + [nil]
        defer { words.forEach { free($0) } }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        // Discards dbus-daemon's warning about the limit on file descriptors, which tests do not
        // reach.
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        defer { posix_spawn_file_actions_destroy(&actions) }
        let error = posix_spawnp(&daemon, "dbus-daemon", &actions, nil, &words, environ)
        guard error == 0 else { throw POSIXError(.init(rawValue: error) ?? .EIO) }
        // The socket file exists before dbus-daemon listens on it.
        var connection: Int32 = -1
        var attempts = 0
        while cl_socket_connect(path, &connection) != 0, attempts < 5000 {
            usleep(1000)
            attempts += 1
        }
        close(connection)
    }

    /// Kills the bus while its clients are connected.
    package func stop() {
        guard daemon > 0 else { return }
        kill(daemon, SIGKILL)
        waitpid(daemon, nil, 0)
        daemon = 0
    }

    /// Suspends the bus until `stop`.
    package func freeze() { kill(daemon, SIGSTOP) }

    deinit {
        stop()
        try? FileManager.default.removeItem(at: directory)
    }
}
