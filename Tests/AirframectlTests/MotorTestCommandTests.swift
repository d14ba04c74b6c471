import Testing
import Wire

@testable import airframectl

@Suite("airframectl motor test") struct MotorTestCommandTests {
    @Test("a motor that did not move is reported with the reasons, or with the next step")
    func reason() {
        var status = Status()
        let start = "The motor of roll did not move, because the motors stayed off. "
        #expect(
            MotorTestCommand.reason("roll", status)
                == start + "`airframectl doctor` searches for the reason.")
        status.inhibitions = [
            Inhibition(name: "imu_missing", sentence: "No samples arrive."),
            Inhibition(name: "motor_bus", sentence: "The bus fails."),
            Inhibition(name: "inactive_mode", sentence: "The mode is inactive."),
        ]
        #expect(
            MotorTestCommand.reason("roll", status) == start + "No samples arrive. The bus fails.")
    }
}
