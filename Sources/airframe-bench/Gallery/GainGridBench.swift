import GimbalCore
import Simulation

/// Every point of a 5 x 5 x 5 grid over the sliders of an AirOS app, on every kind of motor: the gimbal must stay stable.
enum GainGridBench {
    private static let shares = [0, 0.25, 0.5, 0.75, 1]

    /// Runs the grid.
    ///
    /// - Parameters:
    ///   - options: Not used.
    ///   - report: Receives the worst of all points.
    static func run(_ options: Options, _ report: inout BenchReport) {
        report.note("125 points each, still handle, steps of yaw, roll and pitch; worst of all")
        for (motor, name, bar) in [
            (MotorType.torque, "torque motors", 0.06), (.servo, "servos", 0.5),
            (.field, "field motors", 0.06),
        ] {
            var worst = 0.0
            var place = ""
            for p in shares {
                for i in shares {
                    for d in shares {
                        let error = error(motor, p, i, d)
                        guard error > worst else { continue }
                        worst = error
                        place = "p \(p), i \(i), d \(d)"
                    }
                }
            }
            report.check("\(name): error 1.3 s after a step", worst, atMost: bar, "deg")
            report.note("\(name): worst at \(place) of the sliders' lengths")
        }
        var (gain, phase) = (Double.infinity, Double.infinity)
        for p in shares {
            for i in shares {
                for d in shares {
                    let scaled = scaled(AttitudeController.Parameters(), p, i, d)
                    for axis in GimbalAxis.allCases {
                        let margins = LoopMargins(of: scaled, axis: axis)
                        gain = min(gain, margins.increaseDecibels, margins.decreaseDecibels)
                        phase = min(phase, margins.phaseDegrees)
                    }
                }
            }
        }
        report.check("torque motors: least gain margin", gain, atLeast: 3, "dB")
        report.check("torque motors: least phase margin", phase, atLeast: 25, "deg")
    }

    private static func scaled(
        _ base: AttitudeController.Parameters, _ p: Double, _ i: Double, _ d: Double
    ) -> AttitudeController.Parameters {
        let tilt = PIDTriple(p: 5 * p, i: i, d: 0.5 * d)
        return base.scaled(
            yaw: PIDTriple(p: 3 * p, i: 0.5 * i, d: 0.2 * d), roll: tilt, pitch: tilt)
    }

    /// The largest error from 1.3 to 1.8 s after a step, degrees; infinite when the motors were off.
    private static func error(
        _ motor: MotorType, _ p: Double, _ i: Double, _ d: Double
    ) -> Double {
        var parameters = SimulatedGimbal.Parameters()
        parameters.motor = motor
        var tuning = Stabilizer.Parameters()
        tuning.motorType = motor
        tuning.controller = scaled(tuning.controller, p, i, d)
        let tilt = PIDTriple(p: 5 * p, i: i, d: 0.5 * d)
        let pan = PIDTriple(p: 3 * p, i: 0.5 * i, d: 0.2 * d)
        tuning.servo = tuning.servo.scaled(yaw: pan, roll: tilt, pitch: tilt)
        tuning.field = tuning.field.scaled(yaw: pan, roll: tilt, pitch: tilt)
        var gimbal = SimulatedGimbal(
            parameters: parameters, motion: BaseMotion(.still, seed: 1), seed: 1)
        var stabilizer = Stabilizer(parameters: tuning)
        var largest = 0.0
        for tick in 1...4000 {
            let now = Instant(nanoseconds: Int64(tick) * 1_000_000)
            gimbal.advance(to: now) { stabilizer.integrate($0) }
            if tick == 2200 {
                let target = AxisVector(yaw: 0.1, roll: 0.05, pitch: 0.1)
                stabilizer.apply(.point(target: target, duration: 0), now: now)
            }
            let output = stabilizer.step(now: now)
            gimbal.apply(output, at: now)
            guard tick > 3500 else { continue }
            guard output.enabled else { return .infinity }
            largest = max(largest, stabilizer.snapshot.attitudeError.norm * 180 / .pi)
        }
        return largest
    }
}
