import CLinuxShim
import CMallocCounter
import GimbalCore
import Glibc
import Realtime
import Recording
import SystemPackage
import Wire

/// A daemon that the bench has started, with a separate temporary directory.
final class DaemonProcess {
    let processID: pid_t
    /// Time at which the bench started the process.
    let started: Instant
    private let directory: FilePath
    private var hasEnded = false

    /// Path of the daemon's program: the argument of `--daemon`, or the program in the bench's
    /// directory. If the program is missing, the bench reports the missing program, and the result
    /// is nil.
    static func program(_ options: Options, _ report: inout BenchReport) -> String? {
        let daemon = options.daemon ?? neighbour("airframed")
        guard access(daemon, X_OK) == 0 else {
            report.fail(
                "\(daemon) is missing: build the product airframed, or give --daemon PATH")
            return nil
        }
        return daemon
    }

    /// Path of a file in the directory of this program.
    static func neighbour(_ name: String) -> String {
        var buffer = [CChar](repeating: 0, count: 4096)
        let length = max(0, readlink("/proc/self/exe", &buffer, buffer.count))
        let program = String(
            decoding: buffer[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return FilePath(program).removingLastComponent().appending(name).string
    }

    /// Directory of the flight recorder.
    var recordings: FilePath { directory.appending("state").appending("recordings") }

    var socketPath: String { "\(directory)/s.sock" }
    /// Socket for a simulator; the socket exists if `hardware.backend` is `lockstep`.
    var simulatorPath: String { "\(directory)/l.sock" }

    /// Starts the daemon with the simulated gimbal.
    ///
    /// - Parameters:
    ///   - path: Path of the daemon's program.
    ///   - settings: Settings as `KEY=VALUE`, each passed with `--set`.
    ///   - counter: Library that counts allocations; the daemon preloads it.
    ///   - slowDisk: Library that makes each fsync(2) take a second; the daemon preloads it.
    ///   - bus: Address of a D-Bus daemon that replaces the system bus.
    /// - Throws: The reason why the daemon cannot start.
    init(
        _ path: String, settings: [String], counter: String? = nil, slowDisk: String? = nil,
        bus: String? = nil
    ) throws {
        var template = Array("/tmp/airframe-bench-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Errno(rawValue: errno) }
        let made = FilePath(
            String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self))
        directory = made
        let all =
            [
                "diagnostics.socket=\(made)/s.sock", "hardware.lockstep.socket=\(made)/l.sock",
                "persistence.directory=\(made)/state",
                "log.level=warning",
                // The benchmark must not switch on the computer's own Bluetooth adapter.
                "bluetooth.enabled=false",
            ] + settings
        var environment = ["PATH=/usr/bin:/bin"]
        // sd-bus reads the system bus's address from the environment variable
        // DBUS_SYSTEM_BUS_ADDRESS.
        if let bus { environment.append("DBUS_SYSTEM_BUS_ADDRESS=\(bus)") }
        if let counter {
            environment += ["LD_PRELOAD=\(counter)", "MALLOC_COUNTER_FILE=\(made)/counts"]
        }
        if let slowDisk { environment += ["LD_PRELOAD=\(slowDisk)", "SLOW_DISK_MS=1000"] }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        let log = made.appending("log").string
        posix_spawn_file_actions_addopen(&actions, 2, log, O_WRONLY | O_CREAT, 0o600)
        let arguments = all.flatMap { setting in ["--set", setting] }
        var words = ([path] + arguments).map { strdup($0) } + [nil]
        var variables = environment.map { strdup($0) } + [nil]
        defer { (words + variables).forEach { free($0) } }
        var child = pid_t()
        started = MonotonicClock.now
        let error = posix_spawn(&child, path, &actions, nil, &words, &variables)
        guard error == 0 else { throw Errno(rawValue: error) }
        processID = child
    }

    deinit {
        end()
        let folder = RecordingDirectory(directory: recordings, limits: RecordingDirectory.Limits())
        for entry in folder.entries { _ = remove(recordings.appending(entry.name).string) }
        let saved = ["lock", "state", "state.previous"].map { "state/airframed.\($0)" }
        for name in ["s.sock", "l.sock", "log", "counts"] + saved + ["state/recordings", "state"] {
            _ = remove("\(directory)/\(name)")
        }
        _ = remove(directory.string)
    }

    /// Waits until the daemon's status meets a condition.
    ///
    /// - Returns: First status that meets the condition; nil if the status does not meet the
    ///   condition within ten seconds.
    func status(where isMet: (JSONValue) -> Bool) -> JSONValue? {
        let asked = MonotonicClock.now
        while MonotonicClock.now.seconds(since: asked) < 10 {
            if let client = BenchClient(socketPath),
                let status = client.ask(#"{"id":1,"method":"status"}"#),
                isMet(status)
            {
                return status
            }
            usleep(2000)
        }
        return nil
    }

    /// Ends the daemon with SIGKILL, which the daemon cannot handle.
    func end() {
        if hasEnded { return }
        kill(processID, SIGKILL)
        waitpid(processID, nil, 0)
        hasEnded = true
    }

    /// Requests a stop, and waits until the process has ended.
    ///
    /// - Returns: Time from the request until the process had ended, s, and the exit status.
    func stop() -> (seconds: Double, status: Int32) {
        let asked = MonotonicClock.now
        var status: Int32 = 0
        kill(processID, SIGTERM)
        waitpid(processID, &status, 0)
        hasEnded = true
        return (MonotonicClock.now.seconds(since: asked), status)
    }

    /// Current text of the daemon's log.
    var log: String { contents(of: directory.appending("log").string) }

    /// Value of a field of /proc/PID/status, converted from kB to MB (10^6 bytes).
    func megabytes(_ field: String) -> Double {
        for line in contents(of: "/proc/\(processID)/status").split(separator: "\n")
        where line.hasPrefix("\(field):") {
            let digits = line.drop { !$0.isNumber }.prefix { $0.isNumber }
            return (Double(digits) ?? .nan) * 1024 / 1e6
        }
        return .nan
    }

    /// Number of the daemon's open file descriptors.
    var descriptors: Int { entries(of: "/proc/\(processID)/fd") }

    /// Number of threads.
    var threads: Int { entries(of: "/proc/\(processID)/task") }

    private func entries(of path: String) -> Int {
        guard let directory = opendir(path) else { return 0 }
        defer { closedir(directory) }
        var count = 0
        while readdir(directory) != nil { count += 1 }
        return count - 2
    }

    /// The thread with this name; nil if it does not exist.
    func thread(named name: String) -> Int32? {
        guard let tasks = opendir("/proc/\(processID)/task") else { return nil }
        defer { closedir(tasks) }
        while let entry = readdir(tasks) {
            let number = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if contents(of: "/proc/\(processID)/task/\(number)/comm") == name + "\n" {
                return Int32(number)
            }
        }
        return nil
    }

    /// Numbers of minor and major page faults of a thread.
    func faults(of thread: Int32) -> (minor: Int64, major: Int64) {
        ThreadMemory.faults(in: contents(of: "/proc/\(processID)/task/\(thread)/stat"))
    }

    /// Number of allocator calls by thread ID, if the counter is preloaded.
    var allocatorCalls: [Int32: Int64] {
        let size = Int(MC_TABLE_THREADS * MC_TABLE_ENTRY_BYTES)
        guard let file = fopen(directory.appending("counts").string, "r") else { return [:] }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: size)
        guard fread(&bytes, 1, size, file) == size else { return [:] }
        return bytes.withUnsafeBytes { table in
            var calls: [Int32: Int64] = [:]
            for entry in stride(from: 0, to: size, by: Int(MC_TABLE_ENTRY_BYTES)) {
                let thread = table.loadUnaligned(fromByteOffset: entry, as: Int32.self)
                // Later entries replace earlier entries, because the kernel reuses the IDs of
                // threads that have ended.
                if thread != 0 {
                    calls[thread] = table.loadUnaligned(fromByteOffset: entry + 8, as: Int64.self)
                }
            }
            return calls
        }
    }
}

/// A connection to the daemon that waits at most a second for a reply.
final class BenchClient {
    private let descriptor: Int32
    private var received: [UInt8] = []
    /// True if a send has shown that the daemon has closed the connection.
    private(set) var isClosed = false

    init?(_ path: String) {
        var raw: Int32 = -1
        guard cl_socket_connect(path, &raw) == 0 else { return nil }
        descriptor = raw
    }

    deinit { close(descriptor) }

    /// Sends a line. The result is false if the line does not fit into the socket's buffer, or if
    /// the daemon has closed the connection.
    func send(_ line: String) -> Bool { sendPart(line + "\n") }

    /// Sends text without an end of line. The result is false if the text does not fit into the
    /// socket's buffer, or if the daemon has closed the connection.
    func sendPart(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        var sent = 0
        let error = cl_socket_send(descriptor, bytes, bytes.count, &sent)
        isClosed = error != 0 && error != EAGAIN
        return error == 0 && sent == bytes.count
    }

    /// Sends a request. Returns the result in the daemon's reply; nil if the reply contains no
    /// result, or if no reply arrives in time.
    func ask(_ request: String) -> JSONValue? {
        guard send(request), let line = line(waitMilliseconds: 1000) else { return nil }
        return (try? JSONValue(parsing: line))?["result"]
    }

    /// The next line that the daemon sends; nil if none arrives in time.
    func line(waitMilliseconds: Int32) -> [UInt8]? {
        while true {
            if let newline = received.firstIndex(of: UInt8(ascii: "\n")) {
                let line = Array(received[..<newline])
                received.removeFirst(newline + 1)
                return line
            }
            var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&entry, 1, waitMilliseconds) > 0 else { return nil }
            var chunk = [UInt8](repeating: 0, count: 65536)
            let count = read(descriptor, &chunk, chunk.count)
            guard count > 0 else { return nil }
            received += chunk[..<count]
        }
    }
}
