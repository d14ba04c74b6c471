import GimbalCore
import Identification
import Testing
import Wire

@testable import Daemon

@Suite("Report of autotune") struct AutotuneReportTests {
    @Test("the sentence about proposed gains does not contain an option of the command line")
    func sentence() {
        let run = AutotuneRun(axes: [.pitch], present: Stabilizer.Parameters(), tickRate: 1000)
        var report = AutotuneReport()
        report.fill(from: run, [])
        #expect(report.sentence == "The proposed gains are not applied.")
    }
}
