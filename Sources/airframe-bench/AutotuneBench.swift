import Glibc
import GimbalCore
import Identification
import Simulation

/// What autotune makes of gimbals that it has never seen, on the whole simulated gimbal.
enum AutotuneBench {
    /// A gimbal, and the tuning that it is started with.
    private struct Case {
        var name: String
        var inertia = 1.0
        var friction = 1.0
        var imbalance = 1.0
        /// Factor on all gains, per unit of inertia.
        var gains = 1.0
        var motion = BaseMotion.Kind.still
    }

    private static let strangers = [
        Case(name: "1/17 of the inertia", inertia: 1 / 17.0),
        Case(name: "4 x the inertia", inertia: 4),
        Case(name: "3 x the friction", friction: 3),
        Case(name: "5 mm off balance", imbalance: 5),
    ]

    private static let mistuned = [
        Case(name: "gains four times too low", gains: 0.25),
        Case(name: "gains at the edge of oscillation", gains: 1.9),
        Case(name: "hand-held", motion: .handheld),
        Case(name: "walking", motion: .walking),
    ]

    /// Runs everything.
    ///
    /// - Parameters:
    ///   - options: Not used.
    ///   - report: Receives the figures.
    static func run(_ options: Options, _ report: inout BenchReport) {
        report.note("hold error: of pitch, per unit of disturbing acceleration, while walking")
        let reference = quality(Case(name: "default"), AttitudeController.Parameters())
        report.show("default plant, default tuning", reference * 1e3, "mdeg/(rad/s²)")
        for stranger in strangers {
            guard let tuned = tuned(stranger, &report) else { continue }
            let ratio = quality(stranger, tuned) / reference
            report.check("\(stranger.name): against the default", ratio, atMost: 1.5, "x")
        }
        for start in mistuned {
            guard let tuned = tuned(start, &report) else { continue }
            let base = AttitudeController.Parameters()
            let gain = tuned.rateGain.pitch * tuned.inertia.pitch
            let deviation = gain / (base.rateGain.pitch * base.inertia.pitch) - 1
            report.check("\(start.name): rate gain off", abs(deviation) * 100, atMost: 20, "%")
            let ratio = quality(Case(name: "default"), tuned) / reference
            report.check("\(start.name): hold error", ratio, atMost: 1.2, "x")
        }
    }

    private static func gimbal(_ what: Case, _ motion: BaseMotion.Kind) -> SimulatedGimbal {
        var parameters = SimulatedGimbal.Parameters()
        parameters.plant.scale(
            inertia: what.inertia, friction: what.friction, imbalance: what.imbalance)
        return SimulatedGimbal(
            parameters: parameters, motion: BaseMotion(motion, seed: 2), seed: 2)
    }

    /// The tuning that autotune proposes; nil, and a miss, when it gives up.
    private static func tuned(
        _ what: Case, _ report: inout BenchReport
    ) -> AttitudeController.Parameters? {
        var tuning = Stabilizer.Parameters()
        tuning.controller.rateGain = tuning.controller.rateGain * what.gains
        tuning.controller.attitudeGain = tuning.controller.attitudeGain * what.gains
        tuning.controller.rateIntegralGain =
            tuning.controller.rateIntegralGain * what.gains * what.gains
        var gimbal = gimbal(what, what.motion)
        var stabilizer = Stabilizer(parameters: tuning)
        var run = AutotuneRun(
            axes: GimbalAxis.allCases, present: tuning.controller,
            filter: RateFilter.Parameters(), tickRate: 1000)
        var tick = 0
        while run.outcome == nil, tick < 200_000 {
            tick += 1
            let now = Instant(nanoseconds: Int64(tick) * 1_000_000)
            gimbal.advance(to: now) { stabilizer.integrate($0) }
            gimbal.apply(stabilizer.step(now: now), at: now)
            guard tick > 8000 else { continue }
            switch run.take(stabilizer.snapshot) {
            case .trial(let gains):
                var trial = tuning
                trial.controller = gains
                stabilizer.apply(trial)
            case .excite(let excitation): stabilizer.apply(.excite(excitation), now: now)
            case .finish, nil: break
            }
        }
        guard case .done = run.outcome else {
            report.fail("\(what.name): \(String(describing: run.outcome))")
            return nil
        }
        report.note("\(what.name): \(tick / 1000 - 8) s")
        for found in run.results {
            let model = found.model
            report.note(
                "  \(found.axis): inertia \(model.inertia / 2.5e-3), delay \(model.delay * 1e3) ms, "
                    + "residual \(found.residual), Coulomb \(found.coulomb * 1e3) mN·m, viscous \(found.viscous)"
            )
        }
        return run.proposal
    }

    /// How much a disturbing acceleration moves the camera: degrees of hold error of pitch per rad/s², RMS, while walking.
    ///
    /// The same run with and without pushes of 8 rad/s² RMS between 0.7 and 6 Hz; noise and steps are the same in both.
    private static func quality(
        _ what: Case, _ tuning: AttitudeController.Parameters
    ) -> Double {
        var parameters = Stabilizer.Parameters()
        parameters.controller = tuning
        var gimbals = [gimbal(what, .walking), gimbal(what, .walking)]
        var stabilizers = [Stabilizer(parameters: parameters), Stabilizer(parameters: parameters)]
        let inertia = gimbals[0].parameters.plant.inertia.pitch
        var (error, disturbance) = (0.0, 0.0)
        for tick in 1...30_000 {
            let now = Instant(nanoseconds: Int64(tick) * 1_000_000)
            let time = Double(tick) * 1e-3
            let push =
                tick < 10_000
                ? 0
                : [0.7, 1.3, 2.3, 3.7, 6.1].map { sin(2 * .pi * $0 * time + $0) }.reduce(0, +)
                    * 5.06
            gimbals[1].push = Vector3(0, push * inertia, 0)
            for index in 0...1 {
                gimbals[index].advance(to: now) { stabilizers[index].integrate($0) }
                gimbals[index].apply(stabilizers[index].step(now: now), at: now)
            }
            guard tick > 12_000 else { continue }
            guard stabilizers[1].snapshot.output.enabled else { return .infinity }
            let moved =
                stabilizers[1].snapshot.attitudeError.y - stabilizers[0].snapshot.attitudeError.y
            error += moved * moved
            disturbance += push * push
        }
        return (error / disturbance).squareRoot() * 180 / .pi
    }
}
