import GimbalCore
import Glibc
import Port
import SystemPackage
import TestSupport
import Testing
import Wire

@testable import Daemon

@Suite("Record of the latched emergency stops") struct StopRecordTests {
    private func record(in directory: FilePath) throws -> StopRecord {
        try #require(StopRecord { $0 == "RUNTIME_DIRECTORY" ? "\(directory):/other" : nil })
    }

    @Test("the recorded links are read again, and without a stop there is no file")
    func links() throws {
        try withTemporaryDirectory { directory in
            let record = try record(in: directory)
            #expect(record.links == [])
            try record.store([.airos, .diagnostics])
            try record.store([.airos, .mavlink])
            #expect(record.links == [.airos, .mavlink])
            try record.store([])
            #expect(record.links == [])
            #expect(access("\(directory)/emergency-stop", F_OK) != 0)
            try record.store([])
        }
    }

    @Test(
        "a damaged file is a stop by the socket, which can reset the stop of every link",
        arguments: ["", "\n", "telegraph\n", "\u{0}\u{0}"])
    func damaged(text: String) throws {
        try withTemporaryDirectory { directory in
            let record = try record(in: directory)
            let file = try FileDescriptor.open(
                directory.appending("emergency-stop"), .writeOnly, options: [.create],
                permissions: [.ownerReadWrite])
            _ = try file.closeAfter { try file.writeAll(text.utf8) }
            #expect(record.links == [.diagnostics])
        }
    }

    @Test("a file that cannot be read is a stop; a folder that does not exist is none")
    func unreadable() throws {
        try withTemporaryDirectory { directory in
            mkdir("\(directory)/emergency-stop", 0o755)
            let (unreadable, missing) = (
                try record(in: directory), try record(in: directory.appending("missing"))
            )
            #expect(unreadable.links == [.diagnostics])
            #expect(throws: Errno.self) { try unreadable.store([.airos]) }
            #expect(missing.links == [])
        }
    }

    @Test("without systemd's folder there is no record")
    func noFolder() { #expect(StopRecord { _ in nil } == nil) }

    @Test(
        "an emergency stop outlives a crash of airframed, until it is reset",
        .timeLimit(.minutes(2)))
    func crash() throws {
        try withTemporaryDirectory { directory throws in
            let through = ["/usr/bin/env", "RUNTIME_DIRECTORY=\(directory)"]
            let first = try RunningDaemon(in: directory, through: through)
            try first.status("the motors follow") { $0.isFollowing }
            _ = try first.ask("stop")
            let file = "\(directory)/emergency-stop"
            #expect(eventually(within: 20) { access(file, F_OK) == 0 })
            #expect(try first.stop(SIGKILL).status == -SIGKILL)

            let second = try RunningDaemon(in: directory, through: through)
            let status = try second.status("the loop runs") { $0["mode"]?.string == "inactive" }
            #expect(
                status["stopped_by"]?.string == "diagnostics client 0 (before the restart)",
                "\(status.text)")
            let refusal = try second.control("mode", "locked")
            #expect(refusal.status != 0 && refusal.errors.contains("emergency stop"))
            #expect(second.log.contains("airframectl stop --reset"))
            #expect(try second.control("stop", "--reset").status == 0)
            #expect(eventually(within: 20) { access(file, F_OK) != 0 })
            #expect(try second.stop(SIGKILL).status == -SIGKILL)

            let third = try RunningDaemon(in: directory, through: through)
            try third.status("the motors follow") { $0.isFollowing }
        }
    }
}
