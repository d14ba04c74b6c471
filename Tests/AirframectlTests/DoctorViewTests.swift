import Testing
import Wire

@testable import airframectl

@Suite("Output of airframectl doctor") struct DoctorViewTests {
    @Test("a remedy is printed below its check, and a summary at the end")
    func view() {
        let lines = DoctorView.lines(
            [
                DoctorCheck("socket", .ok, "answers"),
                DoctorCheck("imu", .fail, "no sample", remedy: "Check the cable."),
            ], .plain)
        #expect(
            lines == [
                "ok    socket  answers", "fail  imu     no sample",
                "              Check the cable.",
                "", "Checks that have failed: 1.",
            ])
    }

    @Test("the summary of a failed check of the wheels does not concern the camera")
    func wheels() {
        let lines = DoctorView.lines(
            [DoctorCheck("wheels", .fail, "no answer", remedy: "Check the cable.")], .plain)
        #expect(lines.last == "Checks that have failed: 1.")
    }
}
