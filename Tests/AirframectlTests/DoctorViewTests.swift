import Testing
import Wire

@testable import airframectl

@Suite("How doctor's checks are shown") struct DoctorViewTests {
    @Test("prints remedies below their line, and a verdict")
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
