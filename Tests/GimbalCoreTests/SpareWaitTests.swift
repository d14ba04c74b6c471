import Testing

@testable import GimbalCore

/// Tests of the default delay of slow loops, a part of which assumes old samples.
@Suite("Age of the samples in a slow loop")
struct SpareWaitTests {
    static let assumed = 0.002

    private static var drive: MotorDrive {
        var parameters = Stabilizer.Parameters()
        parameters.controller.loopDelay = 0.0075
        parameters.controller.assumedWait = assumed
        parameters.controller.findsInertia = false
        return MotorDrive(parameters)
    }

    @Test(
        "new samples shorten the delay by the assumed wait, old samples do not",
        arguments: [(0.0001, 0.0055), (0.0015, 0.0065), (0.004, 0.0075), (Double.nan, 0.0075)])
    func delay(age: Double, expected: Double) {
        var drive = Self.drive
        drive.note(sampleAge: age, isOff: true)
        #expect(abs(drive.torque.loopDelay - expected) < 1e-12)
        // The corner frequencies are inversely proportional to the delay.
        #expect(abs(drive.torque.stretch * expected - 0.0075) < 1e-12)
        // The status shows no reduction.
        #expect(abs(drive.torque.state.bandwidth - 1) < 1e-12)
    }

    @Test(
        "while the motors are on, older samples slow the loop down, and newer ones have no effect")
    func running() {
        var drive = Self.drive
        drive.note(sampleAge: 0.0015, isOff: true)
        drive.note(sampleAge: 0.0001, isOff: false)
        #expect(abs(drive.torque.loopDelay - 0.0065) < 1e-12)
        drive.note(sampleAge: 0.0020, isOff: false)
        #expect(abs(drive.torque.loopDelay - 0.0070) < 1e-12)
        drive.note(sampleAge: 0.0001, isOff: false)
        #expect(abs(drive.torque.loopDelay - 0.0070) < 1e-12)
    }

    @Test("a configured or measured delay contains the true wait, so nothing is subtracted")
    func configured() {
        var parameters = Stabilizer.Parameters()
        parameters.controller.loopDelay = 0.0075
        var drive = MotorDrive(parameters)
        drive.note(sampleAge: 0, isOff: true)
        #expect(drive.torque.loopDelay == 0.0075)
    }

    @Test("a measured delay that replaces the default while the motors are on is used unchanged")
    func measured() {
        var drive = Self.drive
        drive.note(sampleAge: 0, isOff: true)
        var tuning = drive.torque.parameters
        tuning.loopDelay = 0.0052
        tuning.assumedWait = 0
        drive.torque.apply(tuning)
        #expect(abs(drive.torque.loopDelay - 0.0052) < 1e-12)
        #expect(abs(drive.torque.stretch - 1) < 1e-12)
    }
}
