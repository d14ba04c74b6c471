import GimbalCore
import Glibc
import Plot
import Simulation
import SystemPackage

/// Plots of the estimator's errors over a simulated run, together with the standard deviations that
/// the estimator computes for these errors.
enum ConsistencyPlot {
    /// Conditions of one run.
    private struct Run {
        var name: String
        var file: String
        var kind: HandleMotion
        var stillSeconds: Double
    }

    private static let runs = [
        Run(
            name: "walking after four seconds of rest", file: "walking-after-rest.svg",
            kind: .walking, stillSeconds: 4),
        Run(
            name: "walking from the first sample on", file: "walking-at-once.svg", kind: .walking,
            stillSeconds: 0),
        Run(
            name: "held by hand after four seconds of rest", file: "handheld.svg",
            kind: .handheld, stillSeconds: 4),
    ]

    /// Errors and standard deviations at one sample, in degrees for angles and degrees per second
    /// for the bias.
    private struct Row {
        var time: Double
        var inclination: Double
        var inclinationSigma: Double
        var bias: Vector3
        var biasSigma: Vector3
        var innovation: Double
        var isAtRest: Bool
    }

    private static let degrees = 180 / Double.pi
    private static let seconds = 60.0
    private static let substeps = 4

    /// Draws a plot of each run.
    ///
    /// - Parameter directory: Directory of the plots; created if it is missing.
    /// - Throws: `Errno`.
    static func draw(into directory: FilePath) throws {
        try EstimatorFiles.makeDirectory(directory)
        for run in runs {
            let path = directory.appending(run.file)
            try EstimatorFiles.write(Array(figure(run, rows(run)).svg().utf8), to: path)
            print(path)
        }
    }

    /// Results of a run with the default sensor. The sensor's accelerometer is calibrated, because
    /// the estimator cannot distinguish an offset of the accelerometer from a tilt.
    private static func rows(_ run: Run) -> [Row] {
        var parameters = IMUModel.Parameters()
        parameters.accelBias = 0
        parameters.accelScaleError = 0
        parameters.accelMisalignment = 0
        let feedRate = parameters.sampleRate * Double(substeps)
        var sensor = IMUModel(parameters: parameters, feedRate: feedRate, seed: 7)
        let motion = BaseMotion(
            run.kind, seed: 3, stillDuration: run.stillSeconds,
            rampDuration: run.stillSeconds > 0 ? 2 : 0)
        var assumptions = AttitudeEstimator.Parameters()
        // The model's two first-order filters together delay the signal by less than 3 ms, the
        // reciprocal of their corner frequency.
        assumptions.sensorDelay = 1 / (2 * .pi * parameters.gyroBandwidthHz)
        var estimator = AttitudeEstimator(parameters: assumptions)
        let dt = 1 / parameters.sampleRate
        var rows: [Row] = []
        for index in 1...Int(seconds * parameters.sampleRate) {
            let end = Double(index) * dt
            var state = motion.state(at: end)
            for step in 1...substeps {
                state = motion.state(at: end - dt + dt * Double(step) / Double(substeps))
                sensor.feed(
                    rate: state.rate,
                    specificForce: state.attitude.inverseRotate(
                        state.acceleration - Vector3(0, 0, 9.80665)))
            }
            let sample = sensor.sample(time: Instant(nanoseconds: Int64(end * 1e9)))
            estimator.update(gyro: sample.gyro, accel: sample.accel, dt: dt)
            guard index % 10 == 0 else { continue }
            rows.append(row(estimator, end, state.attitude, sensor.gyroBias))
        }
        return rows
    }

    private static func row(
        _ estimator: AttitudeEstimator, _ time: Double, _ truth: Quaternion, _ bias: Vector3
    ) -> Row {
        let down = Vector3(0, 0, 1)
        let sine = estimator.attitude.inverseRotate(down).cross(truth.inverseRotate(down)).norm
        return Row(
            time: time, inclination: asin(min(1, sine)) * degrees,
            inclinationSigma: estimator.inclinationSigma * degrees,
            bias: (estimator.bias - bias) * degrees, biasSigma: estimator.biasSigma * degrees,
            innovation: estimator.innovation, isAtRest: estimator.isAtRest)
    }

    private static func figure(_ run: Run, _ rows: [Row]) -> Figure {
        let rest = Chart.Shade("at rest", color: "#e4eef6", holds: rows.map(\.isAtRest))
        func bias(_ axis: String, _ color: String, _ value: (Vector3) -> Double) -> Chart {
            Chart(
                title: "Gyroscope bias about \(axis): error, and ± 3 sigma around zero",
                label: "error, °/s",
                lines: [
                    Chart.Line(
                        "3 sigma", color: "#999999", values: rows.map { _ in 0 },
                        band: rows.map { 3 * value($0.biasSigma) }),
                    Chart.Line("error", color: color, values: rows.map { value($0.bias) }),
                ], shades: [rest])
        }
        return Figure(
            title: "Consistency of the estimator, \(run.name)",
            subtitle: "simulated BMI088 at 1 kHz, accelerometer calibrated; default parameters",
            label: "time, s", abscissa: rows.map(\.time),
            charts: [
                Chart(
                    title: "Inclination: error, and 3 sigma", label: "error, °",
                    lines: [
                        Chart.Line(
                            "3 sigma", color: "#999999",
                            values: rows.map { 3 * $0.inclinationSigma }, setsRange: false),
                        Chart.Line("error", color: "#d55e00", values: rows.map(\.inclination)),
                    ], shades: [rest], least: 0...0.5),
                bias("x", "#0072b2", \.x), bias("y", "#d55e00", \.y), bias("z", "#009e73", \.z),
                Chart(
                    title: "Normalised velocity innovation, RMS of one second",
                    label: "sigmas",
                    lines: [
                        Chart.Line(
                            "innovation", color: "#0072b2", values: rows.map(\.innovation))
                    ], shades: [rest], least: 0...1),
            ])
    }
}
