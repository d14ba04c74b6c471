import Testing
import Wire

@testable import airframectl

@Suite("Output of airframectl status")
struct StatusViewTests {
    private func lines(_ inhibitions: [Inhibition]) -> [String] {
        var status = Status()
        status.mode = "locked"
        status.inhibitions = inhibitions
        return StatusView.lines(status, .plain)
    }

    @Test("the first line states whether the camera moves, and otherwise the reason with its name")
    func firstLine() {
        let lines = lines([
            Inhibition(name: "imu_stale", sentence: "The IMU is silent. Check its bus."),
            Inhibition(name: "bus_error", sentence: "Transfers fail."),
        ])
        #expect(lines[0] == "NOT MOVING  imu_stale: The IMU is silent. Check its bus.")
        #expect(lines[1] == "- bus_error: Transfers fail.")
    }

    @Test(
        "motors that are off at a user's request are not a problem",
        arguments: ["inactive_mode", "retracted", "calibrating"])
    func request(name: String) {
        let reason = Inhibition(name: name, sentence: "The motors are off.")
        #expect(lines([reason])[0] == "OFF  \(name): The motors are off.")
        let fault = Inhibition(name: "imu_stale", sentence: "The IMU is silent.")
        #expect(lines([fault, reason])[0].hasPrefix("NOT MOVING"))
    }

    @Test("the note about the motor noise relates the gain reduction to the largest one")
    func gainReduction() {
        var status = Status()
        status.motors.humNm = AxisNumbers(yaw: 0.01, roll: 0.01, pitch: 0.01)
        let quiet = StatusView.lines(status, .plain).filter { $0.contains("torque noise") }
        #expect(quiet.count == 1 && !quiet[0].contains("gain"))
        // In a loop of 200 Hz, the reduction is always the largest one: the gains are 0.7 times as
        // high, not zero.
        status.motors.calmPercent = AxisNumbers(yaw: 100, roll: 100, pitch: 100)
        let note = StatusView.lines(status, .plain).filter { $0.contains("torque noise") }
        #expect(note.count == 1 && note[0].contains("gain reduction at 100 % of the largest"))
    }

    @Test("reasons fit into a narrow terminal")
    func narrow() {
        var status = Status()
        let words = Array(repeating: "word", count: 40).joined(separator: " ") + "."
        status.inhibitions = [Inhibition(name: "x", sentence: words)]
        let lines = StatusView.lines(status, .plain, width: 40)
        #expect(lines.prefix { !$0.isEmpty }.allSatisfy { $0.count <= 40 })
    }

    @Test("a long reason continues on the next lines without a loss of text")
    func longReason() {
        let words = Array(repeating: "word", count: 40).joined(separator: " ") + "."
        let lines = lines([Inhibition(name: "x", sentence: words)])
        #expect(lines[0].hasPrefix("NOT MOVING  x: word"))
        #expect(lines[1].hasPrefix("  word"))
        let all = lines.prefix { !$0.isEmpty }.joined(separator: " ")
        #expect(all.split(separator: " ").count { $0.hasPrefix("word") } == 40)
    }
}
