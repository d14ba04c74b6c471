import Calibration
import GimbalCore
import PlainText
import Wire

/// One calibration from start to result. The run passes samples to the computation, and provides
/// instructions for the user.
struct CalibrationRun: Sendable {
    private enum Work: Sendable {
        case gyro(GyroCalibration)
        case accelerometer(AccelerometerCalibration)
        case mounting(MountingCalibration)
        case magnetometer(MagnetometerCalibration)
        case gyroMatrix(GyroMatrixCalibration)
    }

    /// Result of the calibration: the values to be saved, without date and temperature.
    struct Result: Sendable, Equatable {
        var values: [Double]
        var sigma: Double
        var residual: Double
        /// Next instruction for the user; empty if there is none.
        var advice = ""
    }

    /// Kind of the calibration.
    let kind: CalibrationKind
    private var work: Work
    /// True if the mounting has been calibrated, and its level pose defines the horizon.
    private let isHorizonKnown: Bool
    private var lastTime: Instant?
    /// Time of the last used magnetic field.
    private var fieldTime = Instant(nanoseconds: 0)
    /// Time since the last used magnetic field, s.
    private var fieldAge = 0.0
    /// Temperature of the sensor at the newest sample, °C; nil if it is unknown.
    private(set) var temperature: Double?

    /// Creates a calibration.
    ///
    /// - Parameters:
    ///   - kind: Kind of the calibration.
    ///   - book: Active calibrations. The run needs them for two purposes: to name the sensor's
    ///     face that points up, and to detect the poses for the mounting.
    ///   - configured: The configured mounting rotation.
    ///   - largestGyroOffset: Largest offset of the gyroscope on each axis if it is healthy, rad/s.
    ///     At a larger mean rate, the camera is not still.
    init(
        _ kind: CalibrationKind, _ book: ActiveCalibrations, configured: SensorCorrection,
        largestGyroOffset: Double
    ) {
        let recorded = book.recorded(configured: configured)
        var gyro = GyroCalibration.Parameters()
        var accelerometer = AccelerometerCalibration.Parameters()
        var mounting = MountingCalibration.Parameters()
        var gyroMatrix = GyroMatrixCalibration.Parameters()
        gyro.window.largestRate = largestGyroOffset
        accelerometer.window.largestRate = largestGyroOffset
        mounting.window.largestRate = largestGyroOffset
        gyroMatrix.window.largestRate = largestGyroOffset
        self.kind = kind
        isHorizonKnown = book.record(.mounting)?.poses != nil
        work =
            switch kind {
            case .gyro: .gyro(GyroCalibration(parameters: gyro))
            case .accelerometer:
                .accelerometer(
                    AccelerometerCalibration(
                        mounting: recorded.mounting, parameters: accelerometer))
            case .mounting:
                .mounting(MountingCalibration(accel: recorded.accel, parameters: mounting))
            case .magnetometer: .magnetometer(MagnetometerCalibration())
            case .gyroMatrix:
                .gyroMatrix(
                    GyroMatrixCalibration(
                        accel: recorded.accel, mounting: recorded.mounting, parameters: gyroMatrix))
            }
    }

    /// Passes the newest sample of a tick to the calibration. A tick without a new sample has no
    /// effect.
    mutating func add(_ snapshot: StabilizerSnapshot) -> CalibrationOutcome<Result> {
        defer { lastTime = snapshot.sampleTime }
        guard let lastTime, lastTime < snapshot.sampleTime else {
            fieldTime = snapshot.magneticTime
            return .collecting
        }
        if !snapshot.temperature.isNaN { temperature = snapshot.temperature }
        let dt = snapshot.sampleTime.seconds(since: lastTime)
        let gyro = snapshot.rawGyro
        let accel = snapshot.rawAccel
        switch work {
        case .gyro(var calibration):
            let outcome = calibration.add(gyro: gyro, accel: accel, dt: dt)
            work = .gyro(calibration)
            return outcome.map {
                Result(
                    values: [$0.bias.x, $0.bias.y, $0.bias.z], sigma: $0.sigma, residual: $0.sigma)
            }
        case .accelerometer(var calibration):
            let outcome = calibration.add(gyro: gyro, accel: accel, dt: dt)
            work = .accelerometer(calibration)
            return outcome.map {
                Result(
                    values: CalibrationRecord.values($0.correction), sigma: $0.offsetSigma,
                    residual: $0.residual, advice: advice($0))
            }
        case .mounting(var calibration):
            let outcome = calibration.add(gyro: gyro, accel: accel, dt: dt)
            work = .mounting(calibration)
            return outcome.map {
                let (q, a, b) = ($0.mounting, $0.level, $0.lensDown)
                return Result(
                    values: [q.w, q.x, q.y, q.z, a.x, a.y, a.z, b.x, b.y, b.z],
                    sigma: Self.poseSigma, residual: $0.residual)
            }
        case .magnetometer(var calibration):
            fieldAge += dt
            guard fieldTime < snapshot.magneticTime else {
                guard fieldAge > Self.longestFieldAge else { return .collecting }
                return .refused(
                    "The sensor does not measure the magnetic field: only an MPU-9250, an ICM-20948, some sensors of the kernel and some simulators have a magnetometer."
                )
            }
            let outcome = calibration.add(field: snapshot.rawMagneticField, dt: fieldAge)
            work = .magnetometer(calibration)
            fieldTime = snapshot.magneticTime
            fieldAge = 0
            return outcome.map {
                Result(
                    values: CalibrationRecord.values($0.correction), sigma: $0.offsetSigma,
                    residual: $0.residual)
            }
        case .gyroMatrix(var calibration):
            let outcome = calibration.add(gyro: gyro, accel: accel, dt: dt)
            work = .gyroMatrix(calibration)
            return outcome.map {
                Result(
                    values: CalibrationRecord.matrix($0.correction), sigma: $0.crossSigma,
                    residual: $0.residual, advice: Self.advice($0))
            }
        }
    }

    private static func advice(_ result: GyroMatrixCalibration.Result) -> String {
        let (before, after) = (result.errorBefore * 180 / .pi, result.errorAfter * 180 / .pi)
        return
            "In the last half turn, the tilt error was \(Format.fixed(before, 2))° without the correction, and \(Format.fixed(after, 2))° with it."
    }

    private func advice(_ result: AccelerometerCalibration.Result) -> String {
        guard !result.isLevel, !isHorizonKnown else { return "" }
        let degrees = Format.fixed(result.tilt * 180 / .pi, 1)
        return
            "The upright pose was \(degrees)° off level, so the mounting differs from the configuration: run `airframectl calibrate mounting` next."
    }

    /// Longest interval between two measurements of a magnetometer, s.
    private static let longestFieldAge = 1.0

    /// Standard deviation of the user's error when the camera is levelled by hand, rad (0.5°).
    private static let poseSigma = 0.5 * Double.pi / 180

    /// Adds the state of this calibration to a report.
    func describe(_ report: inout CalibrationReport) {
        var motion: Motion?
        switch work {
        case .gyro(let calibration):
            report.progress = Number(calibration.progress)
            report.instruction = "Put the camera down on a firm surface, and do not touch it."
            motion = calibration.motion
        case .accelerometer(let calibration):
            report.progress = Number(calibration.progress)
            report.missing = calibration.missing.map(\.name)
            report.instruction =
                calibration.missing.first.map { "Put the camera \($0.words), and hold it still." }
                ?? ""
            motion = calibration.motion
            if !calibration.isNewPose {
                report.hint = "This pose is already measured."
                return
            }
        case .mounting(let calibration):
            report.progress = Number(calibration.progress)
            report.missing = calibration.hasLevelPose ? ["lens_down"] : ["level", "lens_down"]
            report.instruction =
                calibration.hasLevelPose
                ? "Tilt the lens down by 45 to 90 degrees, about the pitch axis alone, and hold the camera still."
                : "Level the camera exactly, because this pose defines the horizon, and hold the camera still."
            motion = calibration.motion
        case .gyroMatrix(let calibration):
            report.progress = Number(calibration.progress)
            report.missing = calibration.missing.map(\.rawValue)
            report.instruction = calibration.instruction
            report.hint = calibration.hint
            return
        case .magnetometer(let calibration):
            report.progress = Number(calibration.progress)
            report.instruction =
                "Turn the camera slowly about all axes, until it has also been upside down (\(calibration.octants) of 8 directions are measured)."
        }
        report.hint = motion?.description ?? ""
    }
}

extension CalibrationOutcome {
    /// Converts the result of a finished calibration; other outcomes are returned unchanged.
    func map<New: Sendable>(_ transform: (Result) -> New) -> CalibrationOutcome<New> {
        switch self {
        case .collecting: .collecting
        case .done(let result): .done(transform(result))
        case .refused(let reason): .refused(reason)
        }
    }
}

extension GyroMatrixCalibration {
    /// Next step for the user.
    var instruction: String {
        guard let step = missing.first else { return "" }
        let next: CameraFace =
            switch step {
            case .upright, .check: .bottom
            case .side: .right
            case .lens: .back
            }
        return place == nil
            ? "Within 15 s, put the camera \(Self.words(next)), and hold it still."
            : "Within 15 s, turn the camera by half a turn about the vertical, and hold it still. It must again be \(Self.words(place ?? next))."
    }

    private static func words(_ face: CameraFace) -> String {
        face == .bottom ? "upright" : face.words
    }

    /// Reason why the last turn does not count, and the motion that prevents the measurement of a
    /// pose; empty if there is neither.
    var hint: String {
        let reason: String? =
            switch flaw {
            case .angle(let angle):
                "The camera has turned by \(Format.fixed(angle * 180 / .pi, 0))°; half a turn is 180°."
            case .tooSlow: "The move took too long, so it does not count."
            case .gap: "Samples of the sensor are missing, so the move does not count."
            case nil: nil
            }
        let motion = place == nil ? motion?.description : nil
        return [reason, motion].compactMap { $0 }.joined(separator: " ")
    }
}

extension CalibrationKind {
    /// Unit of the calibration's offset and residual.
    var unit: String {
        switch self {
        case .gyro: "rad/s"
        case .accelerometer, .mounting: "m/s²"
        case .magnetometer: "µT"
        case .gyroMatrix: "rad"
        }
    }
}
