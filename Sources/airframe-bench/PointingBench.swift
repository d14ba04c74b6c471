import GimbalCore
import Simulation

/// How still the camera stays and how well it goes where it is told, on the default plant with the default tuning.
enum PointingBench {
    private static let seeds: [UInt64] = [1, 2, 3]

    /// Runs everything and prints a table, each figure beside its bar.
    ///
    /// - Returns: Whether every figure with a bar met it.
    @discardableResult
    static func run() -> Bool {
        print("simulated gimbal, default plant and tuning, 1 kHz; worst of seeds 1, 2, 3; degrees")
        var isGood = walking()
        isGood = steps() && isGood
        isGood = servos() && isGood
        isGood = margins() && isGood
        isGood = repeatability() && isGood
        return isGood
    }

    private static func walking() -> Bool {
        let outcomes = seeds.map { seed in
            var run = PointingRun()
            run.seed = seed
            return run.run()
        }
        var isGood = row("walking, jitter roll", worst(outcomes) { $0.roll.jitter }, bar: 0.06)
        isGood =
            row("walking, jitter pitch", worst(outcomes) { $0.pitch.jitter }, bar: 0.06) && isGood
        row("walking, shake (> 1 Hz) roll", worst(outcomes) { $0.roll.shake })
        row("walking, shake (> 1 Hz) pitch", worst(outcomes) { $0.pitch.shake })
        row("walking, hold error roll", worst(outcomes) { $0.holdRoll.rms })
        row("walking, hold error pitch", worst(outcomes) { $0.holdPitch.rms })
        row("walking, horizon roll (uncalibrated)", worst(outcomes) { abs($0.roll.mean) })
        row("walking, horizon pitch (uncalibrated)", worst(outcomes) { abs($0.pitch.mean) })
        row("switched on to full authority, s", worst(outcomes) { $0.start })
        let handheld = seeds.map { seed in
            var run = PointingRun()
            run.motion = .handheld
            run.seed = seed
            return run.run()
        }
        row("hand-held, shake roll", worst(handheld) { $0.roll.shake })
        row("hand-held, shake pitch", worst(handheld) { $0.pitch.shake })
        return isGood
    }

    private static func steps() -> Bool {
        var run = PointingRun()
        run.motion = .still
        run.seconds = 14
        run.event = .point(AxisVector(yaw: .nan, roll: 0, pitch: 30 * .pi / 180), at: 12)
        let outcomes = seeds.map { seed in
            run.seed = seed
            return run.run().step(30)
        }
        var isGood = row(
            "30° pitch step, settled within 2 %, s", outcomes.map(\.settling).max() ?? .nan,
            bar: 0.5)
        isGood =
            row("30° pitch step, overshoot, %", outcomes.map(\.overshoot).max() ?? .nan, bar: 5)
            && isGood
        run.event = .push(0.020, at: 12)
        let pushes = seeds.map { seed in
            run.seed = seed
            return run.run().displacement()
        }
        row("20 mN·m push, peak", pushes.map(\.peak).max() ?? .nan)
        row("20 mN·m push, 0.15 s later", pushes.map(\.late).max() ?? .nan)
        return isGood
    }

    private static func servos() -> Bool {
        let outcomes = seeds.map { seed in
            var run = PointingRun()
            run.parameters.motor = .servo
            run.tuning.motorType = .servo
            run.seed = seed
            return run.run()
        }
        row("servos walking, shake roll", worst(outcomes) { $0.roll.shake })
        row("servos walking, shake pitch", worst(outcomes) { $0.pitch.shake })
        return true
    }

    private static func margins() -> Bool {
        let margins = LoopMargins(
            pitchOf: AttitudeController.Parameters(), inertia: 2.5e-3, delay: 0.0035)
        row("crossover, Hz", margins.crossover / (2 * .pi))
        var isGood = row("gain margin upwards, dB", margins.increaseDecibels, atLeast: 6)
        isGood = row("gain margin downwards, dB", margins.decreaseDecibels, atLeast: 6) && isGood
        isGood = row("phase margin, degrees", margins.phaseDegrees, atLeast: 45) && isGood
        return isGood
    }

    private static func repeatability() -> Bool {
        var run = PointingRun()
        run.seconds = 20
        let isSame = run.run().digest == run.run().digest
        print(
            padded("the same seed twice is the same run, bit for bit", 46),
            isSame ? "yes  pass" : "no  MISS")
        return isSame
    }

    private static func worst(
        _ outcomes: [PointingRun.Outcome], _ figure: (PointingRun.Outcome) -> Double
    ) -> Double {
        // A run that never started has no figure, and that must show.
        let values = outcomes.map(figure)
        return values.contains { $0.isNaN } ? .nan : values.max() ?? .nan
    }

    @discardableResult
    private static func row(
        _ name: String, _ value: Double, bar: Double? = nil, atLeast: Double? = nil
    ) -> Bool {
        var line = padded(name, 46) + " " + fixed(value)
        var isGood = true
        if let bar {
            isGood = value <= bar
            line += "  bar <= \(fixed(bar))  \(isGood ? "pass" : "MISS")"
        }
        if let atLeast {
            isGood = value >= atLeast
            line += "  bar >= \(fixed(atLeast))  \(isGood ? "pass" : "MISS")"
        }
        print(line)
        return isGood
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(width - text.count, 0))
    }

    /// Four digits after the point.
    private static func fixed(_ value: Double) -> String {
        guard value.isFinite else { return "   nan" }
        let scaled = Int((abs(value) * 10_000).rounded())
        let fraction = String(scaled % 10_000)
        return (value < 0 ? "-" : "") + "\(scaled / 10_000)."
            + String(repeating: "0", count: 4 - fraction.count) + fraction
    }
}
