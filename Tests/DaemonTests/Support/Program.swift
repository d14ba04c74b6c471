import TestSupport
import Glibc
import SystemPackage

/// Error of the tests' own tools, as a message.
struct Trouble: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// A child process whose output is in files. Every wait has a deadline.
final class Program {
    let processID: pid_t
    private let outputPath: String
    private let errorPath: String
    /// Read end of a pipe. Only the child process holds the write end, so end-of-file means that
    /// the process has ended.
    private let life: FileDescriptor
    private(set) var exitStatus: Int32?

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - arguments: Path or name of the program, then its arguments.
    ///   - directory: Directory of the output files.
    ///   - input: Text for standard input.
    /// - Throws: The reason why the program cannot be started.
    init(_ arguments: [String], in directory: FilePath, input: String = "") throws {
        let stem = "\(directory)/\(FilePath(arguments[0]).lastComponent?.string ?? "program")"
        let number = Self.unusedNumber(stem)
        outputPath = "\(stem).\(number).out"
        errorPath = "\(stem).\(number).err"
        let inputPath = "\(stem).\(number).in"
        try write(input, to: FilePath(inputPath))
        // Close-on-exec keeps the descriptor out of all other processes. The duplicate below, onto
        // the same number, keeps the descriptor open in this process.
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw Errno(rawValue: errno) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        life = FileDescriptor(rawValue: ends[0])

        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[1], ends[1])
        posix_spawn_file_actions_addopen(&actions, 0, inputPath, O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, outputPath, O_WRONLY | O_CREAT, 0o600)
        posix_spawn_file_actions_addopen(&actions, 2, errorPath, O_WRONLY | O_CREAT, 0o600)
        var words = arguments.map { strdup($0) } + [nil]
        defer { words.forEach { free($0) } }
        var child = pid_t()
        let error = posix_spawnp(&child, arguments[0], &actions, nil, &words, environ)
        close(ends[1])
        guard error == 0 else {
            try? life.close()
            throw Trouble("\(arguments[0]): \(Errno(rawValue: error))")
        }
        processID = child
    }

    deinit {
        if exitStatus == nil {
            kill(processID, SIGKILL)
            waitpid(processID, nil, 0)
        }
        try? life.close()
    }

    var output: String { contents(of: outputPath) }
    var errors: String { contents(of: errorPath) }

    /// Waits for the end of the process, at most this long.
    ///
    /// - Returns: True if the process has ended.
    func hasEnded(within seconds: Double) -> Bool {
        if exitStatus != nil { return true }
        var entry = pollfd(fd: life.rawValue, events: Int16(POLLIN), revents: 0)
        guard poll(&entry, 1, Int32(seconds * 1000)) > 0 else { return false }
        var status: Int32 = 0
        waitpid(processID, &status, 0)
        // wait(2): the low seven bits are the signal that ended the process, the next byte is the
        // exit status.
        exitStatus = status & 0x7F == 0 ? (status >> 8) & 0xFF : -(status & 0x7F)
        return true
    }

    /// Waits for the end of the process, and returns the exit status, or the negative number of the
    /// signal that ended the process.
    func wait(seconds: Double = 20) throws -> Int32 {
        guard hasEnded(within: seconds), let exitStatus else {
            throw Trouble("process \(processID) has not ended within \(seconds) s: \(errors)")
        }
        return exitStatus
    }

    private static func unusedNumber(_ stem: String) -> Int {
        var number = 0
        while access("\(stem).\(number).out", F_OK) == 0 { number += 1 }
        return number
    }
}

extension Program {
    /// Exit status and output of a program that has ended.
    struct Result {
        let status: Int32
        let output: String
        let errors: String
    }

    /// Runs a program to its end.
    static func run(_ arguments: [String], in directory: FilePath, input: String = "") throws
        -> Result
    {
        let program = try Program(arguments, in: directory, input: input)
        let status = try program.wait()
        return Result(status: status, output: program.output, errors: program.errors)
    }

    /// Path of a program that was built together with the tests.
    static func built(_ name: String) throws -> String {
        var buffer = [CChar](repeating: 0, count: 4096)
        let length = readlink("/proc/self/exe", &buffer, buffer.count)
        let runner = String(
            decoding: buffer.prefix(max(0, length)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let candidates = [runner, CommandLine.arguments[0]].map {
            FilePath($0).removingLastComponent().appending(name).string
        }
        guard let path = candidates.first(where: { access($0, X_OK) == 0 }) else {
            throw Trouble("\(name) is not beside the tests, at \(candidates): run `swift build`")
        }
        return path
    }
}

/// Whole text of a file; empty if the file cannot be read.
func contents(of path: String) -> String {
    guard let file = fopen(path, "r") else { return "" }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65536)
    while case let count = fread(&chunk, 1, chunk.count, file), count > 0 {
        bytes += chunk[..<count]
    }
    return String(decoding: bytes, as: UTF8.self)
}
