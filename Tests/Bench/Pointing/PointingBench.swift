import GimbalCore
import Simulation

/// Stillness and accuracy of the camera, with the default plant and the default tuning.
///
/// Angles are true camera angles. Jitter is the RMS of the camera angle's deviation from its mean;
/// a separate mean is computed for each 10 s of the run. Shake is the RMS of the camera angle above
/// 1 Hz. Peak to peak is the range of the camera angle above 1 Hz within the worst 10 s. The result
/// `hold error` is the RMS of the angle from estimated attitude to set-point. The result `horizon`
/// is the mean of roll and pitch; an uncalibrated accelerometer causes most of the horizon's error.
enum PointingBench {
    private static let seeds: [UInt64] = [1, 2, 3]

    /// Runs all cases; each result is the worst of all seeds.
    ///
    /// - Parameters:
    ///   - options: Options with the directory for the plots.
    ///   - report: Report to which the results are added; angles are in thousandths of a degree.
    static func run(_ options: Options, _ report: inout BenchReport) {
        report.note(
            "1 kHz, default plant and tuning, worst of seeds 1, 2, 3; perfect: the same run")
        report.note(
            "by a controller that knows the true state and every disturbance, without delay")
        walking(&report)
        running(&report)
        handheld(&report)
        vertical(&report)
        step(&report)
        push(&report)
        PointingStarts.run(&report)
        margins(&report)
        repeatability(&report)
    }

    private static func walking(_ report: inout BenchReport) {
        var run = PointingRun()
        run.isCalibrated = true
        let pair = Pair(run)
        let figures: [(String, Double, (PointingRun.Outcome) -> Double)] = [
            ("jitter roll", 25, { $0.roll.jitter }), ("jitter pitch", 25, { $0.pitch.jitter }),
            ("shake roll", 10, { $0.roll.shake }), ("shake pitch", 10, { $0.pitch.shake }),
            ("peak to peak roll", 60, { $0.roll.peakToPeak }),
            ("peak to peak pitch", 60, { $0.pitch.peakToPeak }),
            ("hold error roll", 6, { $0.holdRoll.rms }),
            ("hold error pitch", 6, { $0.holdPitch.rms }),
            ("horizon roll, six positions", 300, { abs($0.roll.mean) }),
            ("horizon pitch, six positions", 300, { abs($0.pitch.mean) }),
        ]
        for (name, bar, figure) in figures {
            pair.check("walking, \(name)", atMost: bar, &report, figure)
        }
        report.show("motors on at rest to full torque", pair.worst { $0.start }, "s")
        run.parameters.encoderCounts = 0
        let blind = Pair(run)
        blind.check("walking without encoders, shake roll", atMost: 12.6, &report) { $0.roll.shake }
        blind.check("walking without encoders, shake pitch", atMost: 12.6, &report) {
            $0.pitch.shake
        }
        run.parameters.hasHandleGyro = true
        let handle = Pair(run)
        handle.check("walking, handle IMU only, shake roll", atMost: 10, &report) { $0.roll.shake }
        handle.check("walking, handle IMU only, shake pitch", atMost: 10, &report) {
            $0.pitch.shake
        }
    }

    private static func running(_ report: inout BenchReport) {
        var run = PointingRun()
        run.motion = .running
        let pair = Pair(run)
        pair.check("running, hold error roll", atMost: 8, &report) { $0.holdRoll.rms }
        pair.check("running, hold error pitch", atMost: 8, &report) { $0.holdPitch.rms }
        report.show("running, shake roll", pair.worst { $0.roll.shake * 1000 }, "mdeg")
        report.show("running, shake pitch", pair.worst { $0.pitch.shake * 1000 }, "mdeg")
    }

    /// Measures the stillness of a camera that points nearly straight up. In this pose, yaw and
    /// roll turn the camera about the same axis.
    private static func vertical(_ report: inout BenchReport) {
        for pitch in [80.0, 90, 100] {
            var run = PointingRun()
            run.seconds = 25
            run.event = .point(AxisVector(yaw: .nan, roll: 0, pitch: pitch * .pi / 180), at: 5)
            let outcome = run.run()
            report.check(
                "walking, pitch \(Int(pitch)) deg, shake",
                max(outcome.roll.shake, outcome.pitch.shake) * 1000, atMost: 15, "mdeg")
        }
    }

    private static func handheld(_ report: inout BenchReport) {
        var run = PointingRun()
        run.motion = .handheld
        let pair = Pair(run)
        pair.check("hand-held, shake roll", atMost: 12, &report) { $0.roll.shake }
        pair.check("hand-held, shake pitch", atMost: 12, &report) { $0.pitch.shake }
    }

    private static func step(_ report: inout BenchReport) {
        var run = PointingRun()
        run.motion = .still
        run.seconds = 14
        run.event = .point(AxisVector(yaw: .nan, roll: 0, pitch: 30 * .pi / 180), at: 12)
        let pair = Pair(run)
        report.check(
            "30 deg pitch step, settled within 2 %", pair.worst { $0.step(30).settling },
            atMost: 0.3, "s", perfect: pair.perfectWorst { $0.step(30).settling })
        report.check(
            "30 deg pitch step, overshoot", pair.worst { $0.step(30).overshoot }, atMost: 1, "%",
            perfect: pair.perfectWorst { $0.step(30).overshoot })
    }

    /// Measures the effect of a push: the run with the push minus the run without the push. The
    /// sensor's noise therefore cancels.
    private static func push(_ report: inout BenchReport) {
        var run = PointingRun()
        run.motion = .still
        run.seconds = 14
        func largest(from start: Int) -> Double {
            run.event = .push(0.020, at: 12)
            let pushed = outcomes(of: run)
            run.event = .push(0, at: 12)
            return zip(pushed, outcomes(of: run)).map { pushed, quiet in
                pushed.response(against: quiet).dropFirst(start).max() ?? .nan
            }.max() ?? .nan
        }
        for (name, start, bar) in [("peak", 0, 20.0), ("largest from 0.15 s to 1 s", 150, 8)] {
            run.isPerfect = false
            let ours = largest(from: start)
            run.isPerfect = true
            report.check(
                "20 mN·m push, \(name)", ours * 1000, atMost: bar, "mdeg",
                perfect: largest(from: start) * 1000)
        }
    }

    private static func margins(_ report: inout BenchReport) {
        let margins = LoopMargins(
            of: AttitudeController.Parameters(), axis: .pitch, inertia: 2.5e-3, delay: 0.0035,
            lead: AttitudeEstimator.Parameters().sensorDelay)
        report.show("crossover", margins.crossover / (2 * .pi), "Hz")
        report.check("gain margin upwards", margins.increaseDecibels, atLeast: 6, "dB")
        report.check("gain margin downwards", margins.decreaseDecibels, atLeast: 6, "dB")
        report.check("phase margin", margins.phaseDegrees, atLeast: 45, "deg")
        for factor in [0.7, 1.3] {
            let askew = LoopMargins(
                of: AttitudeController.Parameters(), axis: .pitch, inertia: 2.5e-3 * factor,
                delay: 0.0035 * 1.1, lead: AttitudeEstimator.Parameters().sensorDelay)
            report.check(
                "smallest gain margin, \(factor) x inertia, + 10 % delay",
                min(askew.increaseDecibels, askew.decreaseDecibels), atLeast: 0, "dB")
        }
    }

    private static func repeatability(_ report: inout BenchReport) {
        var run = PointingRun()
        run.seconds = 20
        let isSame = run.run().digest == run.run().digest
        report.check(
            "repeated runs that differ from the first run", isSame ? 0 : 1, atMost: 0, "")
    }

    private static func outcomes(of run: PointingRun) -> [PointingRun.Outcome] {
        seeds.map { seed in
            var run = run
            run.seed = seed
            return run.run()
        }
    }

    /// Outcomes of runs with the stabilizer, and of the same runs with `PerfectKnowledge`.
    struct Pair {
        private let ours: [PointingRun.Outcome]
        private let perfect: [PointingRun.Outcome]

        init(_ run: PointingRun) {
            ours = outcomes(of: run)
            var reference = run
            reference.isPerfect = true
            perfect = outcomes(of: reference)
        }

        /// The largest result of the runs with the stabilizer.
        func worst(_ figure: (PointingRun.Outcome) -> Double) -> Double {
            PointingBench.worst(ours, figure)
        }

        /// The largest result of the runs with `PerfectKnowledge`.
        func perfectWorst(_ figure: (PointingRun.Outcome) -> Double) -> Double {
            PointingBench.worst(perfect, figure)
        }

        /// Checks that the stabilizer's result is within a limit. Prints the result, the limit and
        /// the result of `PerfectKnowledge`. `figure` is in degrees, and the limit in thousandths
        /// of a degree.
        func check(
            _ name: String, atMost bar: Double, _ report: inout BenchReport,
            _ figure: (PointingRun.Outcome) -> Double
        ) {
            report.check(
                name, worst(figure) * 1000, atMost: bar, "mdeg",
                perfect: perfectWorst(figure) * 1000)
        }
    }

    /// The largest value of a result over the runs; NaN if a run has no value, for example because
    /// the motors never started.
    static func worst(
        _ outcomes: [PointingRun.Outcome], _ figure: (PointingRun.Outcome) -> Double
    ) -> Double {
        let values = outcomes.map(figure)
        return values.contains { $0.isNaN } ? .nan : values.max() ?? .nan
    }
}
