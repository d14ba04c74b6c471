import Client
import Glibc
import SystemPackage

/// Runner of the program airframectl, which executes shots and reads files with settings. The
/// program gets no open descriptors of airframe-web, and no input.
struct ControlTool: Sendable {
    /// Result of a program that has ended.
    struct Result: Sendable {
        /// Exit status, or the negative number of the signal that ended the program.
        var status: Int32
        /// Standard output.
        var output: String
        /// Standard error.
        var errors: String
    }

    /// Largest size of the output in `run`, bytes.
    static let outputLimit = 1_000_000

    /// Path of airframectl, or its name.
    let program: String
    /// Path of airframed's socket.
    let socket: String

    /// - Parameters:
    ///   - socket: Path of airframed's socket.
    ///   - program: Path of airframectl; nil to use the directory of this program, or PATH.
    init(socket: String, program: String? = nil) {
        self.socket = socket
        self.program = program ?? Self.usualProgram
    }

    private static var usualProgram: String {
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        let own = String(
            decoding: buffer.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let path = FilePath(own).removingLastComponent().appending("airframectl").string
        return access(path, X_OK) == 0 ? path : "airframectl"
    }

    /// Runs airframectl until it ends.
    ///
    /// - Parameters:
    ///   - words: Arguments.
    ///   - seconds: Timeout, s; the program is killed then.
    /// - Returns: The result; nil if the program cannot be started or did not end in time.
    func run(_ words: [String], within seconds: Double) -> Result? {
        guard let (output, outputEnd) = Self.pipe() else { return nil }
        defer { close(output) }
        guard let (errors, errorsEnd) = Self.pipe() else {
            close(outputEnd)
            return nil
        }
        defer { close(errors) }
        let process = spawn(words, name: "", output: outputEnd, errors: errorsEnd)
        close(outputEnd)
        close(errorsEnd)
        guard let process else { return nil }
        var texts: [[UInt8]] = [[], []]
        let end = DaemonClient.now() + seconds
        var open: [Int32] = [output, errors]
        while open.contains(where: { $0 >= 0 }) {
            var entries = open.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            let rest = end - DaemonClient.now()
            guard rest > 0, texts.allSatisfy({ $0.count <= Self.outputLimit }) else {
                kill(process, SIGKILL)
                _ = Self.wait(process)
                return nil
            }
            poll(&entries, 2, Int32(min(rest, 1) * 1000) + 1)
            for index in 0..<2 where entries[index].revents != 0 {
                let bytes = Self.read(open[index])
                texts[index] += bytes
                if bytes.isEmpty { open[index] = -1 }
            }
        }
        let status = Self.wait(process)
        return Result(
            status: status, output: String(decoding: texts[0], as: UTF8.self),
            errors: String(decoding: texts[1], as: UTF8.self))
    }

    /// Starts airframectl.
    ///
    /// - Parameters:
    ///   - words: Arguments.
    ///   - name: Name of the program's connection to airframed.
    /// - Returns: The process, and a descriptor that contains its standard output and its standard
    ///   error; nil if the program cannot be started. The caller closes the descriptor, and waits
    ///   for the process.
    func start(_ words: [String], name: String) -> (process: pid_t, output: Int32)? {
        guard let (output, end) = Self.pipe() else { return nil }
        let process = spawn(words, name: name, output: end, errors: end)
        close(end)
        guard let process else {
            close(output)
            return nil
        }
        return (process, output)
    }

    private static func pipe() -> (reading: Int32, writing: Int32)? {
        guard let ends = try? FileDescriptor.pipe() else { return nil }
        return (ends.readEnd.rawValue, ends.writeEnd.rawValue)
    }

    /// Reads available bytes; empty at the end of the output.
    static func read(_ descriptor: Int32) -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: 16_384)
        var count = -1
        repeat {
            count = Glibc.read(descriptor, &buffer, buffer.count)
        } while count < 0
            && errno == EINTR
        return Array(buffer.prefix(max(0, count)))
    }

    /// Waits for the end of a process, and returns its status as in `Result`.
    static func wait(_ process: pid_t) -> Int32 {
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        return ChildProgram.result(status)
    }

    private func spawn(_ words: [String], name: String, output: Int32, errors: Int32) -> pid_t? {
        let inherited = ["PATH", "LD_LIBRARY_PATH", "LANG"].compactMap { (variable: String) in
            getenv(variable).map { "\(variable)=\(String(cString: $0))" }
        }
        return try? ChildProgram.start(
            [program] + words, output: output, errors: errors,
            environment: inherited + ["AIRFRAME_SOCKET=\(socket)", "AIRFRAME_CLIENT=\(name)"])
    }
}
