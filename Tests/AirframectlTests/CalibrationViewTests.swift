import ArgumentParser
import Testing
import Wire

@testable import airframectl

@Suite("Output of airframectl calibrate")
struct CalibrationViewTests {
    private func collecting(_ progress: Double, hint: String = "") -> CalibrationReport {
        var report = CalibrationReport()
        report.what = "accelerometer"
        report.state = CalibrationReport.State.collecting.rawValue
        report.progress = Number(progress)
        report.instruction = "Put the camera upright."
        report.hint = hint
        return report
    }

    @Test("an instruction is printed once, the bar when it grows, and a hint when it changes")
    func lines() {
        var view = CalibrationView()
        #expect(
            view.lines(for: collecting(0)) == [
                "Put the camera upright.", "  [..........] 0 %",
            ])
        #expect(view.lines(for: collecting(0.05)) == [])
        #expect(view.lines(for: collecting(0.31)) == ["  [###.......] 31 %"])
        #expect(
            view.lines(for: collecting(0.2, hint: "The camera turns (1.0 °/s)."))
                == ["  [##........] 20 %  The camera turns (1.0 °/s)."])
        #expect(view.lines(for: collecting(0.1, hint: "The camera turns (2.0 °/s).")) == [])
        #expect(view.lines(for: collecting(0.2, hint: "The camera turns (3.0 °/s).")) == [])
        var next = collecting(0.2, hint: "The camera turns (3.0 °/s).")
        next.instruction = "Put the camera on its back."
        #expect(view.lines(for: next).first == "Put the camera on its back.")
    }

    @Test("the last lines contain the result, and the residual in °/s")
    func ending() {
        var view = CalibrationView()
        var report = collecting(1)
        report.state = CalibrationReport.State.done.rawValue
        report.sentence = "The gyro is calibrated, and the result is saved."
        report.residual = Number(0.01 * .pi / 180)
        report.residualUnit = "rad/s"
        #expect(
            view.lines(for: report) == [
                "The gyro is calibrated, and the result is saved.", "  residual 0.0100 °/s",
            ])
        report.state = CalibrationReport.State.refused.rawValue
        report.sentence = "The camera shakes."
        report.residual = .unknown
        #expect(view.lines(for: report) == ["The camera shakes."])
    }

    @Test("the list contains the saved calibrations, or a sentence that no sensor is calibrated")
    func list() {
        #expect(CalibrationView.saved(CalibrationReport())[0].contains("No sensor is calibrated"))
        var report = CalibrationReport()
        report.saved = [
            SavedCalibration(
                what: "mounting", dateS: 1_795_240_030, temperatureC: 31, sigma: 0.01,
                residual: 0.02, unit: "m/s²", canUndo: false)
        ]
        let line = CalibrationView.saved(report)[0]
        #expect(line.hasPrefix("mounting  2026-11-2"))
        #expect(line.hasSuffix("31 °C, residual 0.0200 m/s², cannot be undone"))
    }

    @Test(
        "calibrate accepts the name of a sensor, undo also works with a sensor's name, and unknown names are refused"
    )
    func commandLine() throws {
        let gyro = try #require(
            try Airframectl.parseAsRoot(["calibrate", "gyro"]) as? CalibrateCommand)
        #expect(gyro.action == .gyro)
        let undo = try #require(
            try Airframectl.parseAsRoot(["calibrate", "undo", "mounting"]) as? CalibrateCommand)
        #expect(undo.what == "mounting")
        #expect(throws: (any Error).self) {
            _ = try Airframectl.parseAsRoot(["calibrate", "gyro", "mounting"])
        }
        #expect(throws: (any Error).self) {
            _ = try Airframectl.parseAsRoot(["calibrate", "gyroscop"])
        }
    }
}
