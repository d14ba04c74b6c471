import Glibc
import TestSupport
import Testing
import Wire

@testable import Daemon

@Suite("Detection of the journal on standard error") struct JournalTests {
    /// Value of JOURNAL_STREAM that systemd would set for this file.
    private func mark(_ descriptor: Int32) throws -> String {
        var file = stat()
        try #require(fstat(descriptor, &file) == 0)
        return "\(file.st_dev):\(file.st_ino)"
    }

    @Test("only the file in JOURNAL_STREAM is detected as the journal")
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

    @Test(
        "with a foreign JOURNAL_STREAM, as in a desktop session, every line is logged as plain text"
    )
    func inheritedVariable() throws {
        try withDaemon(through: ["env", "JOURNAL_STREAM=1:2"]) { daemon throws in
            try daemon.status("enabled") { $0["enabled"]?.bool == true }
            _ = try daemon.control("stop")
            try daemon.status("the journal contains the line") { _ in
                daemon.log.contains("airframed: error: emergency_stop: ")
            }
            #expect(!daemon.log.contains("<5>"))
        }
    }
}
