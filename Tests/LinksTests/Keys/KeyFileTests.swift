import Foundation
import Glibc
import SystemPackage
import TestSupport
import Testing
import Wire

@testable import Links

@Suite("Key files") struct KeyFileTests {
    private let directory = TemporaryDirectory()

    private func file(_ contents: [UInt8], mode: Int = 0o640) throws -> KeyFile {
        let path = directory.file("mavlink.key")
        try Data(contents).write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        return KeyFile(path: FilePath(path), setting: "mavlink.require_signature")
    }

    private func problem(_ file: KeyFile) -> String {
        do {
            _ = try file.read()
            return ""
        } catch {
            return "\(error)"
        }
    }

    @Test("the key is read from the only line, with or without a line feed")
    func passphrase() throws {
        let key = SharedKey(passphrase: "correct horse")
        #expect(try file(Array("correct horse\n".utf8)).read() == key)
        #expect(try file(Array("correct horse".utf8)).read() == key)
    }

    @Test("a file without a key is refused with setting, file and remedy")
    func problems() throws {
        let missing = KeyFile(
            path: FilePath(directory.file("none.key")), setting: "mavlink.require_signature")
        #expect(problem(missing).contains("write a passphrase into this file"))
        #expect(problem(missing).hasPrefix("mavlink.require_signature is true, but "))
        #expect(problem(try file(Array("correct horse".utf8), mode: 0o644)).contains("chmod o="))
        for bytes in [[], Array("short".utf8), Array("two long\nlines of it\n".utf8)] {
            #expect(problem(try file(bytes)).contains("one line, a passphrase of 8"))
        }
        #expect(problem(try file([UInt8](repeating: 0x61, count: 5000))).contains("one line"))
        #expect(problem(try file([0xFF, 0xFE, 0, 1, 2, 3, 4, 5, 6])).contains("not text"))
        let folder = KeyFile(path: FilePath(directory.path), setting: "rider.require_signature")
        #expect(!problem(folder).isEmpty)
    }
}

extension KeyFileTests {
    @Test("for a key that airframed is not allowed to read, the remedy is the owner of the file")
    func owner() {
        let path = "/var/lib/airframe/mavlink.key"
        let file = KeyFile(path: FilePath(path), setting: "mavlink.require_signature")
        #expect(file.remedy(.permissionDenied).contains("sudo chown airframe: \(path)"))
        #expect(file.remedy(.noSuchFileOrDirectory).hasPrefix("write a passphrase"))
    }
}

@Suite("The newest timestamp of a key") struct FreshnessFileTests {
    private let directory = TemporaryDirectory()

    private func file(_ log: LineLog = LineLog()) throws -> FreshnessFile {
        try FreshnessFile(
            path: FilePath(directory.file("mavlink.newest")), margin: 60, logger: log.logger)
    }

    @Test("the value is the same after a restart")
    func restart() async throws {
        let first = try file()
        #expect(first.value == 0)
        let running = Task { try await first.run() }
        first.note(123_456_789)
        running.cancel()
        try await running.value
        #expect(try file().value == 123_456_789)
    }

    @Test(
        "a timestamp is accepted only when the disk has it or a later one, so that a power cut loses none"
    )
    func powerCut() async throws {
        let first = try file()
        #expect(!first.admits(1000), "the value is not on the disk yet")
        let running = Task { try await first.run() }
        #expect(eventually(within: 10) { first.admits(1000) })
        first.note(1000)
        // After a power cut at this point, times up to 1000 are refused, and new genuine times soon
        // exceed the file's value.
        #expect(try file().value == 1060)
        #expect(first.admits(1029))
        #expect(try file().value == 1060)
        #expect(first.admits(1055))
        #expect(try eventually(within: 10) { try file().value >= 1115 })
        #expect(!first.admits(5000))
        #expect(eventually(within: 10) { first.admits(5001) })
        first.note(5001)
        running.cancel()
        try await running.value
        #expect(
            try file().value == 5001, "frames are accepted immediately after an ordinary restart")
    }

    @Test("a disk that cannot be written is reported, and the links stay usable")
    func brokenDisk() async throws {
        let log = LineLog()
        let file = try FreshnessFile(
            path: FilePath("/proc/no such folder/newest"), margin: 60, logger: log.logger)
        let running = Task { try await file.run() }
        #expect(eventually(within: 10) { file.admits(1000) })
        running.cancel()
        try await running.value
        #expect(
            log.lines.contains { $0.contains("after a restart airframed cannot detect replays") })
    }

    @Test("a file without a number counts as empty, and is reported")
    func nonsense() throws {
        try Data("12x\n".utf8).write(to: URL(filePath: directory.file("mavlink.newest")))
        let log = LineLog()
        #expect(try file(log).value == 0)
        #expect(log.lines.first?.contains("mavlink.newest: the file contains no number") == true)
    }
}
