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
                "", "Problems to fix before the camera can move: 1.",
            ])
    }
}
