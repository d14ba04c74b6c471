import Glibc
import GimbalCore
import Identification
import PlainText
import Simulation

/// Benchmark of autotune in the complete simulation, with gimbals whose inertia, friction,
/// imbalance or delay differs from the initial tuning.
enum AutotuneBench {
    /// Test case: a gimbal and its initial tuning.
    private struct Case {
        var name: String
        var motor = MotorType.torque
        var inertia = 1.0
        var friction = 1.0
        var imbalance = 1.0
        /// Ratio of the servos' delay and lag to the delay and lag in the tuning.
        var slowness = 1.0
        /// Factor applied to all gains per unit of inertia; for servos, factor applied to the
        /// bandwidth of the prediction.
        var gains = 1.0
        var motion = HandleMotion.still

        func with(_ motor: MotorType) -> Case {
            var copy = self
            copy.motor = motor
            copy.name = "\(motor), \(name)"
            return copy
        }
    }

    private static let strangers = [
        Case(name: "1/17 of the inertia", inertia: 1 / 17.0),
        Case(name: "4 x the inertia", inertia: 4),
        Case(name: "3 x the friction", friction: 3),
        Case(name: "imbalance of 5 mm", imbalance: 5),
    ]

    private static let mistuned = [
        Case(name: "gains four times too low", gains: 0.25),
        Case(name: "gains at the edge of oscillation", gains: 1.9),
        Case(name: "hand-held", motion: .handheld),
        Case(name: "walking", motion: .walking),
    ]

    private static let servos = [
        Case(name: "delay and lag x 1.5", motor: .servo, slowness: 1.5),
        Case(name: "delay and lag x 0.7", motor: .servo, slowness: 0.7),
        Case(name: "bandwidth four times too low", motor: .servo, gains: 0.25),
        Case(name: "bandwidth at the edge of oscillation", motor: .servo, gains: 1.9),
        Case(name: "hand-held", motor: .servo, motion: .handheld),
        Case(name: "walking", motor: .servo, motion: .walking),
    ]

    /// Runs all cases.
    ///
    /// - Parameters:
    ///   - options: Options of the command line; this benchmark does not use them.
    ///   - report: Report to which the results are added.
    static func run(_ options: Options, _ report: inout BenchReport) {
        report.note("hold error: pitch error per unit of disturbing acceleration, while walking")
        for motor in [MotorType.torque, .field] { exerting(motor, &report) }
        GyroDelayBench.run(&report)
        report.note("servo hold error: pitch error while walking")
        for what in servos {
            guard let tuned = tuned(what, &report) else { continue }
            let ratio = shake(what, tuned) / shake(what, known(what))
            report.check("servo, \(what.name): ratio to known servos", ratio, atMost: 1.2, "x")
        }
    }

    private static func exerting(_ motor: MotorType, _ report: inout BenchReport) {
        let plain = Case(name: "default plant, default tuning").with(motor)
        let base = known(plain)
        let reference = quality(plain, base)
        report.show(plain.name, reference * 1e3, "mdeg/(rad/s²)")
        for stranger in strangers.map({ $0.with(motor) }) {
            guard let tuned = tuned(stranger, &report) else { continue }
            let ratio = quality(stranger, tuned) / reference
            report.check("\(stranger.name): ratio to the default", ratio, atMost: 1.5, "x")
        }
        for start in mistuned.map({ $0.with(motor) }) {
            guard let tuned = tuned(start, &report) else { continue }
            let deviation = stiffness(tuned) / stiffness(base) - 1
            report.check("\(start.name): rate gain error", abs(deviation) * 100, atMost: 20, "%")
            let ratio = quality(plain, tuned) / reference
            report.check("\(start.name): hold error", ratio, atMost: 1.2, "x")
        }
    }

    /// The default tuning with the true inertia and delay of the plant.
    private static func known(_ what: Case) -> Stabilizer.Parameters {
        var tuning = Stabilizer.Parameters()
        tuning.motorType = what.motor
        tuning.controller.findsInertia = false
        tuning.field.probesInertia = false
        tuning.servo.delay *= what.slowness
        tuning.servo.lag *= what.slowness
        tuning.servo.trackerBandwidth /= max(what.slowness, 0.67)
        return tuning
    }

    /// Product of the pitch axis's rate gain and inertia, N·m·s.
    private static func stiffness(_ tuning: Stabilizer.Parameters) -> Double {
        if case .field = tuning.motorType {
            return tuning.field.rateGain.pitch * tuning.field.inertia.pitch
        }
        return tuning.controller.rateGain.pitch * tuning.controller.inertia.pitch
    }

    private static func gimbal(_ what: Case, _ motion: HandleMotion) -> SimulatedGimbal {
        var parameters = SimulatedGimbal.Parameters()
        parameters.motor = what.motor
        parameters.plant.scale(
            inertia: what.inertia, friction: what.friction, imbalance: what.imbalance)
        // The factor `slowness` does not apply to the wait for the servo's next pulse.
        let wait = 0.5 / parameters.servo.frameRate
        parameters.servo.lag *= what.slowness
        parameters.servo.totalDelay =
            (parameters.servo.totalDelay - wait) * what.slowness + wait
        return SimulatedGimbal(
            parameters: parameters, motion: BaseMotion(motion, seed: 2), seed: 2)
    }

    /// Wrong initial tuning, which the autotune must correct.
    private static func start(_ what: Case) -> Stabilizer.Parameters {
        var tuning = Stabilizer.Parameters()
        tuning.motorType = what.motor
        tuning.controller.rateGain = tuning.controller.rateGain * what.gains
        tuning.controller.attitudeGain = tuning.controller.attitudeGain * what.gains
        tuning.controller.rateIntegralGain =
            tuning.controller.rateIntegralGain * what.gains * what.gains
        tuning.field.rateGain = tuning.field.rateGain * what.gains
        tuning.field.attitudeGain = tuning.field.attitudeGain * what.gains
        tuning.servo.trackerBandwidth *= what.gains
        return tuning
    }

    /// The tuning that the autotune proposes. If the autotune ends without a result, the bench
    /// counts an exceeded limit, and the value is nil.
    private static func tuned(
        _ what: Case, _ report: inout BenchReport
    ) -> Stabilizer.Parameters? {
        let tuning = start(what)
        var loop = SimulatedLoop(gimbal(what, what.motion), tuning)
        var run = AutotuneRun(axes: GimbalAxis.allCases, present: tuning, tickRate: 1000)
        loop.run(seconds: 8)
        run.finish(in: &loop)
        guard case .done = run.outcome else {
            report.fail("\(what.name): \(String(describing: run.outcome))")
            return nil
        }
        report.note("\(what.name): \(loop.tick / 1000 - 8) s")
        for found in run.results { report.note("  \(found.axis): \(words(found))") }
        return run.proposal
    }

    private static func words(_ found: AutotuneRun.AxisResult) -> String {
        let residual = Format.fixed(found.residual, 3)
        switch found.finding {
        case .motor(let motor):
            let inertia = Format.fixed(motor.model.inertia / 2.5e-3, 3)
            let delay = Format.fixed(motor.model.delay * 1e3, 2)
            let (coulomb, viscous) = (motor.coulomb * 1e3, motor.viscous * 1e3)
            return "inertia \(inertia), delay \(delay) ms, residual \(residual), "
                + "Coulomb \(Format.fixed(coulomb, 1)) mN·m, viscous \(Format.fixed(viscous, 2)) mN·m·s"
        case .servo(let servo):
            let delay = Format.fixed(servo.design.parameters.delay * 1e3, 2)
            let lag = Format.fixed(servo.model.lag * 1e3, 2)
            return "delay \(delay) ms, lag \(lag) ms, "
                + "gain \(Format.fixed(servo.model.gain, 3)), residual \(residual)"
        }
    }

    /// RMS of the pitch error while a person walks with the gimbal, degrees. For servos, the error
    /// includes the whole motion of the camera.
    private static func shake(_ what: Case, _ tuning: Stabilizer.Parameters) -> Double {
        var loop = SimulatedLoop(gimbal(what, .walking), tuning)
        loop.run(seconds: 12)
        var error = 0.0
        loop.run(seconds: 18) {
            let off = $0.snapshot.attitudeError.y
            error += $0.output.enabled ? off * off : .infinity
        }
        return (error / 18_000).squareRoot() * 180 / .pi
    }

    /// Sensitivity of the camera to disturbances while a person walks with the gimbal: RMS hold
    /// error of pitch, degrees, per RMS of the disturbing acceleration, rad/s².
    ///
    /// The bench compares runs with and without pushes. The pushes have 8 rad/s² RMS (3 rad/s² for
    /// motors without encoders) at frequencies from 0.7 to 6 Hz. The runs with and without pushes
    /// have identical noise and identical steps of the walker.
    private static func quality(_ what: Case, _ parameters: Stabilizer.Parameters) -> Double {
        var softening = SimulatedLoop(gimbal(what, .walking), parameters)
        var pushed = softening
        let inertia = softening.gimbal.parameters.plant.inertia.pitch
        var (error, disturbance) = (0.0, 0.0)
        // A motor without encoder can resist pushes of 3 rad/s² RMS while a person walks, even with
        // four times the inertia.
        let strength = what.motor == .field ? 2 : 5.06
        for tick in 1...30_000 {
            let time = Double(tick) * 1e-3
            let push =
                tick < 10_000
                ? 0
                : [0.7, 1.3, 2.3, 3.7, 6.1].map { sin(2 * .pi * $0 * time + $0) }.reduce(0, +)
                    * strength
            pushed.gimbal.push = Vector3(0, push * inertia, 0)
            softening.step()
            pushed.step()
            guard tick > 12_000 else { continue }
            guard pushed.output.enabled else { return .infinity }
            let moved = pushed.snapshot.attitudeError.y - softening.snapshot.attitudeError.y
            error += moved * moved
            disturbance += push * push
        }
        return (error / disturbance).squareRoot() * 180 / .pi
    }
}

extension AutotuneRun {
    /// Runs the loop until the autotune has ended, or until 200 s after the loop's start.
    mutating func finish(in loop: inout SimulatedLoop) {
        while outcome == nil, loop.seconds < 200 {
            loop.step()
            execute(take(loop.snapshot), in: &loop)
        }
    }

    private mutating func execute(_ action: Action?, in loop: inout SimulatedLoop) {
        switch action {
        case .trial(let trial): loop.stabilizer.apply(trial)
        case .excite(let excitation): loop.ask(.excite(excitation))
        case .judge: execute(judge(), in: &loop)
        case .finish, nil: break
        }
    }
}
