import CMathShim
import Testing

@testable import GimbalCore

/// Tests with motors without encoders, whose rotors are searched at the first start. The axes move
/// independently.
@Suite("Gaps between the ticks during the search for the rotors")
struct MotorDriveGapTests {
    private static let inertia = AxisVector(yaw: 2.5e-3, roll: 2.5e-3, pitch: 7.5e-3)
    private static let rotors = AxisVector(yaw: 1, roll: -0.7, pitch: 2)

    /// Camera that is moved by the fields of three motors.
    private struct Plant {
        let field: FieldController.Parameters
        var angles = AxisVector.zero
        var rates = AxisVector.zero
        /// The outputs of the last 3 ms, which have not acted yet.
        var outputs = [MotorOutput](repeating: .off, count: 3)

        /// Simulates 1 ms.
        mutating func step(_ output: MotorOutput) {
            outputs.append(output)
            let acting = outputs.removeFirst()
            for axis in GimbalAxis.allCases {
                let load = acting.field[axis] - rotors[axis] - field.polePairs * angles[axis]
                let torque = field.peakTorque[axis] * acting.power[axis] * cm_sin(load)
                rates[axis] += torque / inertia[axis] * 1e-3
                angles[axis] += rates[axis] * 1e-3
            }
        }
    }

    @Test(
        "a pause of 30 ms during the search does not falsify the measured inertia",
        arguments: [440, 460, 480, 540, 560])
    func search(pauseAt: Int) {
        var parameters = Stabilizer.Parameters()
        parameters.motorType = .field
        parameters.field.loopDelay = 0.004
        parameters.field.watchesOscillation = false
        var drive = MotorDrive(parameters)
        drive.reset(joints: .zero)
        var plant = Plant(field: parameters.field)
        var tick = 0
        var pause = 0
        while tick < 2500, !drive.state.isReady {
            let output = drive.step(
                ControlInput(
                    attitude: EulerZXY.quaternion(plant.angles),
                    rate: Vector3(plant.rates.roll, plant.rates.pitch, plant.rates.yaw),
                    setpoint: Setpoint(attitude: .identity, rate: .zero), joints: plant.angles,
                    areJointsMeasured: true, authority: min(Double(tick) / 500, 1),
                    dt: Double(pause + 1) * 1e-3), isAfterGap: pause > 0)
            tick += 1
            pause = tick == pauseAt ? 30 : 0
            // During the pause, the motors keep their output.
            for _ in 0...pause { plant.step(output) }
            tick += pause
        }
        #expect(drive.state.isReady)
        for axis in GimbalAxis.allCases {
            let ratio = drive.state.inertia.values[axis] / Self.inertia[axis]
            #expect(ratio > 0.7 && ratio < 1.35, "\(axis): \(ratio)")
        }
    }
}
