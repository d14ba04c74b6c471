import Configuration
import GimbalCore
import Port
import Simulation

/// Stability test of the gains that an AirOS app can set, with every kind of motor. The gains are a
/// grid of 5 x 5 x 5 positions of the app's sliders.
enum GainGridBench {
    private static let shares = [0, 0.25, 0.5, 0.75, 1]

    /// Tests every point of the grid.
    ///
    /// - Parameters:
    ///   - options: Options of the command line; this benchmark does not use them.
    ///   - report: Report to which the worst results of all points are added.
    static func run(_ options: Options, _ report: inout BenchReport) {
        report.note(
            "125 sets of gains per motor type, handle at rest, steps of yaw, roll and pitch; worst case"
        )
        for (motor, name, bar) in [
            (MotorType.torque, "torque motors", 0.06), (.servo, "servos", 0.5),
            (.field, "motors without encoders", 0.06),
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
                    var scaled = Stabilizer.Parameters()
                    AirOSScale.apply(sliders(p, i, d), to: &scaled)
                    for axis in GimbalAxis.allCases {
                        let margins = LoopMargins(
                            of: scaled.controller, axis: axis,
                            lead: AttitudeEstimator.Parameters().sensorDelay)
                        gain = min(gain, margins.increaseDecibels, margins.decreaseDecibels)
                        phase = min(phase, margins.phaseDegrees)
                    }
                }
            }
        }
        report.check("torque motors: smallest gain margin", gain, atLeast: 3, "dB")
        report.check("torque motors: smallest phase margin", phase, atLeast: 25, "deg")
    }

    /// The app's numbers at the given positions of the sliders, 0...1.
    private static func sliders(_ p: Double, _ i: Double, _ d: Double) -> PerAxis<PIDTriple> {
        let tilt = PIDTriple(p: 5 * p, i: i, d: 0.5 * d)
        let pan = PIDTriple(p: 3 * p, i: 0.5 * i, d: 0.2 * d)
        return PerAxis(yaw: pan, roll: tilt, pitch: tilt)
    }

    /// Largest deviation from the set-point in the interval from 1.3 to 1.8 s after a step,
    /// degrees; infinite if the motors are off.
    private static func error(
        _ motor: MotorType, _ p: Double, _ i: Double, _ d: Double
    ) -> Double {
        var loop = SimulatedLoop(BaseMotion(.still, seed: 1), motor: motor) { _, tuning in
            AirOSScale.apply(sliders(p, i, d), to: &tuning)
        }
        loop.run(seconds: 2.199)
        loop.advance()
        loop.ask(.point(target: AxisVector(yaw: 0.1, roll: 0.05, pitch: 0.1), duration: 0))
        loop.drive()
        loop.run(seconds: 1.3)
        var largest = 0.0
        loop.run(seconds: 0.5) {
            let error = $0.snapshot.attitudeError.norm * 180 / .pi
            largest = max(largest, $0.output.enabled ? error : .infinity)
        }
        return largest
    }
}
