public import Glibc
public import SystemPackage

/// Runs a program from the same build as the tests as a separate process. The output is written to
/// a file.
public final class RunningProgram {
    private let output: FilePath
    /// Process ID of the program.
    public let process: pid_t
    /// Exit status after `wait`; nil while the program runs.
    public private(set) var status: Int32?

    /// Starts the program.
    ///
    /// - Parameters:
    ///   - name: Name of the program in the directory of the tests, or in `AIRFRAME_BIN`.
    ///   - arguments: Arguments of the program.
    ///   - directory: Directory for the program's output.
    /// - Throws: `Errno` if the program cannot be started.
    public init(_ name: String, _ arguments: [String], in directory: FilePath) throws {
        let path = Self.path(name)
        output = directory.appending("\(name).\(monotonicNow()).log")
        process = try spawn(
            ["sh", "-c", "exec \"$0\" \"$@\" > \(output) 2>&1", path.string] + arguments)
    }

    deinit {
        kill(process, SIGKILL)
        _ = wait(seconds: 5)
    }

    /// True if the program is in the directory from which `init` starts programs.
    public static func isBuilt(_ name: String) -> Bool { access(path(name).string, X_OK) == 0 }

    private static func path(_ name: String) -> FilePath {
        let folder =
            getenv("AIRFRAME_BIN").map { FilePath(String(cString: $0)) }
            ?? FilePath(Self.executable).removingLastComponent()
        return folder.appending(name)
    }

    private static var executable: String {
        var buffer = [CChar](repeating: 0, count: 4096)
        let length = readlink("/proc/self/exe", &buffer, buffer.count)
        return String(
            decoding: buffer.prefix(max(0, length)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Output of the program so far.
    public var log: String { (try? String(decoding: bytes(of: output), as: UTF8.self)) ?? "" }

    /// Waits until the log contains a text.
    public func says(_ text: String, within seconds: Double = 10) -> Bool {
        eventually(within: seconds) { log.contains(text) }
    }

    /// Exit status, or the negative signal number; nil if the program does not end in time.
    @discardableResult
    public func wait(seconds: Double) -> Int32? {
        if let status { return status }
        var raw: Int32 = 0
        guard eventually(within: seconds, { waitpid(process, &raw, WNOHANG) == process }) else {
            return nil
        }
        status = raw & 0x7F == 0 ? (raw >> 8) & 0xFF : -(raw & 0x7F)
        return status
    }
}

/// Waits until a condition is met, for a limited time.
public func eventually(within seconds: Double, _ isMet: () throws -> Bool) rethrows -> Bool {
    let end = monotonicNow() + seconds
    while monotonicNow() < end {
        if try isMet() { return true }
        usleep(20_000)
    }
    return try isMet()
}

/// Time on CLOCK_MONOTONIC, s.
public func monotonicNow() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
}

/// Starts a program.
///
/// - Parameter words: Name or path of the program, and its arguments.
/// - Returns: Process ID. The caller must wait for the end of the process.
/// - Throws: `Errno` if the program cannot be started.
public func spawn(_ words: [String]) throws -> pid_t {
    var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) }
    arguments.append(nil)
    defer { arguments.forEach { free($0) } }
    var child = pid_t()
    let error = posix_spawnp(&child, words[0], nil, nil, &arguments, environ)
    guard error == 0 else { throw Errno(rawValue: error) }
    return child
}

/// Runs a shell command.
///
/// - Parameter command: The shell command.
/// - Returns: Exit status, or the negative number of the signal that ended the command.
/// - Throws: `Errno` if the shell cannot be started.
public func shell(_ command: String) throws -> Int32 {
    var status: Int32 = 0
    waitpid(try spawn(["sh", "-c", command]), &status, 0)
    return status & 0x7F == 0 ? (status >> 8) & 0xFF : -(status & 0x7F)
}
