import Client
import Glibc
import SystemPackage
import Testing

@Suite("Other programs that a program starts", .timeLimit(.minutes(1)))
struct ChildProgramTests {
    /// Runs a program; returns its standard output and its result.
    private func run(_ words: [String], inheritsFiles: Bool) throws -> (text: String, Int32) {
        let (reading, writing) = try FileDescriptor.pipe()
        defer { try? reading.close() }
        let process = try ChildProgram.start(
            words, output: writing.rawValue, errors: writing.rawValue, environment: ["A=1"],
            inheritsFiles: inheritsFiles)
        try writing.close()
        var bytes = [UInt8](repeating: 0, count: 4096)
        var text = ""
        while true {
            let count = try bytes.withUnsafeMutableBytes { try reading.read(into: $0) }
            if count == 0 { break }
            text += String(decoding: bytes[..<count], as: UTF8.self)
        }
        var status: Int32 = 0
        #expect(waitpid(process, &status, 0) == process)
        return (text, ChildProgram.result(status))
    }

    @Test("a program has only the standard descriptors, unless it inherits files")
    func descriptors() throws {
        // This descriptor is not closed on exec.
        let file = try FileDescriptor.open("/dev/null", .readOnly)
        defer { try? file.close() }
        let own = "test -e /proc/self/fd/\(file.rawValue)"
        #expect(try run(["sh", "-c", own], inheritsFiles: false) == ("", 1))
        #expect(try run(["sh", "-c", own], inheritsFiles: true) == ("", 0))
    }

    @Test("a program gets its variables and no input, and its result is known")
    func results() throws {
        #expect(try run(["sh", "-c", "cat; echo $A"], inheritsFiles: false) == ("1\n", 0))
        #expect(try run(["sh", "-c", "exit 7"], inheritsFiles: false) == ("", 7))
        #expect(try run(["sh", "-c", "kill -9 $$"], inheritsFiles: false) == ("", -9))
        #expect(throws: Errno.noSuchFileOrDirectory) {
            try run(["/nonexistent/program"], inheritsFiles: false)
        }
    }
}
