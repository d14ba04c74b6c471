import GimbalCore
import PlainText
import Recording
import Simulation
import SystemPackage

/// Stillness of the camera while the simulated handle repeats the recorded motion of people. The
/// bench uses every `.imu` file of a directory, with every kind of motor.
///
/// The camera follows the handle's heading (`pan_follow`), because people turn around. The camera
/// must remain level. All angles are true camera angles over the whole recording. The result `hold`
/// is the RMS of the camera angle's deviation from level; for random gimbals, from its mean. Shake
/// is the RMS of the camera angle above 1 Hz. Peak to peak is the range of the camera angle above 1
/// Hz in the worst 10 s. Each of the results `hold`, shake and peak to peak is the larger value of
/// roll and pitch. The result `estimate` is the angle between the true and the estimated vertical.
/// The accelerometer has been calibrated in six positions.
enum RecordedBench {
    /// Kind of motor, with its parameters and limits.
    struct Drive {
        var name: String
        var type: MotorType
        /// Limits for the default plant on recorded walks.
        var bars: Bars
    }

    /// Limits of each result, degrees: largest permitted median, and largest permitted value. The
    /// limits are at most 1.5 times the values of 18 recorded walks of six people.
    struct Bars {
        var hold: (median: Double, worst: Double)
        var shake: (median: Double, worst: Double)
        var peakToPeak: (median: Double, worst: Double)
        var tilt: (median: Double, worst: Double)
    }

    static let drives = [
        Drive(
            name: "torque, encoders", type: .torque,
            bars: Bars(
                hold: (0.5, 0.6), shake: (0.012, 0.015), peakToPeak: (0.1, 0.12),
                tilt: (0.5, 0.6))),
        Drive(
            name: "field", type: .field,
            bars: Bars(
                hold: (0.45, 0.6), shake: (0.035, 0.055), peakToPeak: (0.28, 0.5),
                tilt: (0.5, 0.6))),
        Drive(
            name: "servos", type: .servo,
            bars: Bars(
                hold: (0.6, 0.85), shake: (0.4, 0.8), peakToPeak: (3.5, 9),
                tilt: (0.5, 0.6))),
    ]
    /// Prefix of the names of recorded walks. The limits apply only to recorded walks.
    static let walk = "walk_"

    /// Duration of the rest before the recorded motion, s. The motors start during the rest.
    static let stillSeconds = 8.0

    /// The results of one recording.
    struct Score {
        /// Name of the recording; for a random gimbal, also the name of the gimbal.
        var name: String
        var outcome: PointingRun.Outcome

        /// True if the sensor is mounted at an angle to the camera.
        var isAskew = false

        var hold: Double {
            let (roll, pitch) = (outcome.roll, outcome.pitch)
            return isAskew
                ? max(roll.rms(about: roll.mean), pitch.rms(about: pitch.mean))
                : max(roll.rms, pitch.rms)
        }
        var shake: Double { max(outcome.roll.shake, outcome.pitch.shake) }
        var peakToPeak: Double { max(outcome.roll.peakToPeak, outcome.pitch.peakToPeak) }
        /// RMS above 1 Hz of the angle from the estimated attitude to the set-point, degrees.
        /// Unlike `shake`, this result does not include the error of the estimate.
        var ownShake: Double { max(outcome.holdRoll.shake, outcome.holdPitch.shake) }
        var tilt: Double { outcome.tilt.rms }
        var largestTilt: Double { outcome.tilt.largest }
    }

    /// Runs all recordings.
    ///
    /// - Parameters:
    ///   - directory: Directory of the recordings.
    ///   - options: Selection of motors and gimbals.
    ///   - report: Report to which the results are added, degrees.
    /// - Throws: `IMULogError`; `EstimatorBench.Failure` if the directory contains no log.
    static func run(
        _ directory: String, _ options: Options, _ report: inout BenchReport
    ) throws {
        guard let names = EstimatorBench.logNames(in: directory) else {
            report.note("not measured: there is no directory \(directory)")
            return
        }
        guard !names.isEmpty else { throw EstimatorBench.Failure.noLogs(directory: directory) }
        report.note(
            options.isDrawn
                ? "true angles, degrees; the worse of roll and pitch; random gimbals"
                : "true angles, degrees; the worse of roll and pitch; 1 kHz, default plant and tuning"
        )
        for drive in drives where options.motor.map({ $0 == drive.type }) ?? true {
            let scores = try scores(of: names, in: FilePath(directory), drive, options)
            let areWalks = names.allSatisfy { $0.hasPrefix(walk) }
            show(scores, drive, bars: options.isDrawn || !areWalks ? nil : drive.bars, &report)
            let alarms = scores.count { !FalseAlarms.names(in: $0.outcome.conditions).isEmpty }
            report.check("\(drive.name): false alarms", Double(alarms), atMost: 0, "")
        }
    }

    private static func scores(
        of names: [String], in directory: FilePath, _ drive: Drive, _ options: Options
    ) throws -> [Score] {
        guard options.isDrawn else {
            return try names.map { name in
                var run = try run(directory.appending(name))
                run.use(drive.type)
                return Score(name: name, outcome: run.run())
            }
        }
        return try (options.seeds ?? .all).first(options.count ?? 200).map { seed in
            let gimbal = DrawnGimbal(seed: seed, motor: drive.type)
            let name = names[Int(seed / 2) % names.count]
            var run = try run(directory.appending(name))
            run.parameters = gimbal.parameters
            run.loopHz = gimbal.loopHz
            run.seed = seed
            let boot = run.tuning.bootMode
            run.tuning = try gimbal.tuning(loopHz: gimbal.loopHz, with: options.settings)
            run.tuning.bootMode = boot
            return Score(
                name: "\(seed) \(name) \(gimbal.summary)", outcome: run.run(),
                isAskew: true)
        }
    }

    /// Runs one recording with the default gimbal.
    static func run(_ path: FilePath) throws -> PointingRun {
        let log = try IMULog(path: path)
        let motion = RecordedMotion(
            try log.handleSamples(path: path), sampleRate: log.sampleRate)
        var run = PointingRun()
        run.recording = motion
        run.tuning.bootMode = .panFollow
        run.isCalibrated = true
        run.stillSeconds = stillSeconds
        run.settled = stillSeconds
        run.seconds = stillSeconds + motion.duration
        return run
    }

    private static func show(
        _ scores: [Score], _ drive: Drive, bars: Bars?, _ report: inout BenchReport
    ) {
        report.note("")
        report.note(
            Format.left(drive.name, 22)
                + "hold     shake    p-p      own      estimate  largest  hum, mN·m")
        for score in scores {
            let figures = [
                score.hold, score.shake, score.peakToPeak, score.ownShake, score.tilt,
                score.largestTilt,
            ]
            let held = score.outcome.conditions
            let named =
                (held.intersects(.attitudeDoubtful) ? "  doubtful" : "")
                + "  " + FalseAlarms.names(in: held)
            report.note(
                Format.left(String(score.name.prefix(20)), 22)
                    + figures.map { Format.left(Format.fixed($0, 3), 9) }.joined()
                    + Format.left(Format.fixed(score.outcome.hum.rms * 1e3, 2), 8)
                    + named + " " + score.name.dropFirst(20))
        }
        typealias Bar = (median: Double, worst: Double)
        let figures: [(name: String, unit: String, bar: Bar?, value: (Score) -> Double)] = [
            ("hold", "deg", bars?.hold, \.hold), ("shake", "deg", bars?.shake, \.shake),
            ("peak to peak", "deg", bars?.peakToPeak, \.peakToPeak),
            ("own shake", "deg", nil, \.ownShake), ("estimate", "deg", bars?.tilt, \.tilt),
            ("estimate, largest", "deg", nil, \.largestTilt),
            ("hum", "N·m", nil, \.outcome.hum.rms),
        ]
        for (name, unit, bar, value) in figures {
            let values = scores.map(value)
            // A result that is NaN counts as the worst value.
            let last = zip(scores, values).max { !$1.1.isFinite || $0.1 < $1.1 }
            let worst = last?.1 ?? .nan
            let title = "\(drive.name): \(name)"
            if let bar {
                report.check("\(title), median", median(values), atMost: bar.median, unit)
                report.check("\(title), worst", worst, atMost: bar.worst, unit)
            } else {
                report.show("\(title), median", median(values), unit)
                report.show("\(title), worst", worst, "\(unit): \(last?.0.name.prefix(20) ?? "")")
            }
        }
    }
}
