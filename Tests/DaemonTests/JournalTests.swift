import Glibc
import TestSupport
import Testing
import Wire

@testable import Daemon

@Suite("The journal, as far as standard error goes there") struct JournalTests {
    /// What systemd would put into JOURNAL_STREAM for this file.
    private func mark(_ descriptor: Int32) throws -> String {
        var file = stat()
        try #require(fstat(descriptor, &file) == 0)
        return "\(file.st_dev):\(file.st_ino)"
    }

    @Test("reads the file that systemd names, and no other")
    func compares() throws {
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        defer { ends.forEach { close($0) } }
        let stream = try mark(ends[1])
        #expect(Journal.reads(ends[1], stream: stream))
        #expect(!Journal.reads(STDIN_FILENO, stream: stream))
        #expect(!Journal.reads(ends[1], stream: nil))
        #expect(!Journal.reads(ends[1], stream: "1:2"))
        #expect(!Journal.reads(-1, stream: stream))
    }

    @Test("loses no line of a daemon that was started in a terminal of a desktop session")
    func inheritedVariable() throws {
        try withDaemon(through: ["env", "JOURNAL_STREAM=1:2"]) { daemon throws in
            try daemon.status("enabled") { $0["enabled"]?.bool == true }
            _ = try daemon.control("stop")
            try daemon.status("a line about it") { _ in
                daemon.log.contains("airframed: error: emergency_stop: ")
            }
            #expect(!daemon.log.contains("<5>"))
        }
    }
}
