import GimbalCore
import PlainText
import Recording
import Simulation
import SystemPackage

/// The stillness of the camera in the hands of people whose motion was recorded: every `.imu` of a directory, with every kind of
/// motor.
///
/// The camera follows the handle's heading (`pan_follow`), because people turn round, and is to stay level. Angles are true ones, from the start of the recording to its end. Hold: RMS from
/// level. Shake: RMS above 1 Hz. Peak to peak: above 1 Hz, over the worst 10 s. Estimate: the angle between the true vertical and
/// the estimate's. Of roll and pitch the worse one counts. The accelerometer has been through its six positions.
enum RecordedBench {
    /// One way of driving the joints.
    struct Drive {
        var name: String
        var type: MotorType
    }

    static let drives = [
        Drive(name: "torque, encoders", type: .torque), Drive(name: "field", type: .field),
        Drive(name: "servos", type: .servo),
    ]

    /// Rest before the recording, s: the motors' start is over then.
    static let stillSeconds = 8.0

    /// The figures of one recording.
    struct Score {
        var recording: String
        var outcome: PointingRun.Outcome

        var hold: Double { max(outcome.roll.rms, outcome.pitch.rms) }
        var shake: Double { max(outcome.roll.shake, outcome.pitch.shake) }
        var peakToPeak: Double { max(outcome.roll.peakToPeak, outcome.pitch.peakToPeak) }
        var tilt: Double { outcome.tilt.rms }
        var largestTilt: Double { outcome.tilt.largest }
    }

    /// Runs everything.
    ///
    /// - Parameters:
    ///   - directory: Of the recordings.
    ///   - report: Receives the figures, degrees.
    /// - Throws: `IMULogError`; `EstimatorBench.Failure` where the directory holds no log.
    static func run(_ directory: String, _ report: inout BenchReport) throws {
        guard let names = EstimatorBench.logNames(in: directory) else {
            report.note("not measured: there is no directory \(directory)")
            return
        }
        guard !names.isEmpty else { throw EstimatorBench.Failure.noLogs(directory: directory) }
        report.note("degrees, true; the worse of roll and pitch; 1 kHz, default plant and tuning")
        for drive in drives {
            let scores = try names.map { name in
                Score(
                    recording: name, outcome: try run(FilePath(directory).appending(name), drive))
            }
            show(scores, drive, report)
            let alarms = scores.count { !FalseAlarms.names(in: $0.outcome.conditions).isEmpty }
            report.check("\(drive.name): false alarms", Double(alarms), atMost: 0, "")
        }
    }

    /// One recording with one kind of motor.
    static func run(_ path: FilePath, _ drive: Drive) throws -> PointingRun.Outcome {
        let log = try IMULog(path: path)
        let motion = RecordedMotion(
            try log.handleSamples(path: path), sampleRate: log.sampleRate)
        var run = PointingRun()
        run.use(drive.type)
        run.recording = motion
        run.tuning.bootMode = .panFollow
        run.isCalibrated = true
        run.stillSeconds = stillSeconds
        run.settled = stillSeconds
        run.seconds = stillSeconds + motion.duration
        return run.run()
    }

    private static func show(_ scores: [Score], _ drive: Drive, _ report: BenchReport) {
        report.note("")
        report.note(
            Format.left(drive.name, 34)
                + "hold     shake    p-p      estimate, and its largest")
        for score in scores {
            let figures = [
                score.hold, score.shake, score.peakToPeak, score.tilt, score.largestTilt,
            ]
            let held = score.outcome.conditions
            let named =
                (held.intersects(.attitudeDoubtful) ? "  doubtful" : "")
                + "  " + FalseAlarms.names(in: held)
            report.note(
                Format.left(String(score.recording.prefix(32)), 34)
                    + figures.map { Format.left(Format.fixed($0, 3), 9) }.joined() + named)
        }
        let figures: [(String, (Score) -> Double)] = [
            ("hold", \.hold), ("shake", \.shake), ("peak to peak", \.peakToPeak),
            ("estimate", \.tilt), ("estimate, largest", \.largestTilt),
        ]
        for (name, figure) in figures {
            let worst = scores.max { figure($0) < figure($1) }
            report.show("\(drive.name): \(name), median", median(scores.map(figure)), "deg")
            report.show(
                "\(drive.name): \(name), worst", worst.map(figure) ?? .nan,
                "deg: \(worst?.recording ?? "")")
        }
    }
}
