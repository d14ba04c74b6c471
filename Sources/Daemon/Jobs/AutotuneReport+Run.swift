import Configuration
import GimbalCore
import Glibc
import Identification
import PlainText
import Port
import Wire

extension AutotuneReport {
    /// Adds the results of an autotune to the report.
    mutating func fill(from run: AutotuneRun, _ changes: [SettingUpdate]) {
        state = State.done.rawValue
        progress = 1
        axes = run.results.map(AutotuneAxis.init)
        proposals = changes.map { SettingProposal(key: $0.key, value: $0.valueText) }
        sentence = "The proposed gains are not applied."
    }
}

extension AutotuneAxis {
    init(_ found: AutotuneRun.AxisResult) {
        self.init(axis: found.axis.name)
        switch found.finding {
        case .motor(let motor):
            inertiaKgM2 = Number(motor.model.inertia)
            delayMs = Number(motor.model.delay * 1e3)
            coulombNm = Number(motor.coulomb)
            viscous = Number(motor.viscous)
            stiffness = Number(motor.model.stiffness)
            if let delay = motor.gyroDelay {
                gyroDelayMs = Number(delay.seconds * 1e3)
                gyroDelaySigmaMs = Number(delay.sigma * 1e3)
            }
        case .servo(let servo):
            delayMs = Number(servo.design.parameters.delay * 1e3)
            lagMs = Number(servo.model.lag * 1e3)
            gain = Number(servo.model.gain)
        }
        residual = Number(found.residual)
        let margins = found.margins
        gainMarginDb = Number(margins.increaseDecibels)
        gainMarginDownDb = Number(margins.decreaseDecibels)
        phaseMarginDeg = Number(margins.phaseDegrees)
        crossoverHz = Number(margins.crossover / (2 * .pi))
        let grid = (0...120).map { 2 * Double.pi * exp(log(1.5) + Double($0) / 120 * log(100)) }
        model = BodePoint.curve(grid.map { ($0, found.plant(omega: $0), nil) })
        measured = BodePoint.curve(
            found.points.map { ($0.omega, $0.response, $0.coherence) }, beside: model)
        loop = BodePoint.curve(grid.map { ($0, found.loop(omega: $0), nil) })
    }
}

extension BodePoint {
    /// Sorts the points of a frequency response by frequency, and makes their phases continuous. If
    /// a model is given, each phase is shifted by a multiple of 360° to the value nearest to the
    /// model's phase. Without a model, the phase at the first point is ambiguous by multiples of
    /// 360°.
    static func curve(
        _ points: [(omega: Double, response: Complex, coherence: Double?)],
        beside model: [BodePoint] = []
    ) -> [BodePoint] {
        var last: Double?
        return points.map { point in
            let hz = point.omega / (2 * .pi)
            let reference = model.last { $0.hz.value <= hz }?.deg.value ?? last
            var degrees = point.response.phase * 180 / .pi
            if let reference { degrees -= 360 * ((degrees - reference) / 360).rounded() }
            last = degrees
            return BodePoint(
                hz: Number(hz.rounded(4)),
                db: Number((20 * log10(point.response.magnitude) * 100).rounded() / 100),
                deg: Number((degrees * 10).rounded() / 10),
                coherence: point.coherence.map { Number(($0 * 1e4).rounded() / 1e4) })
        }
    }
}

extension Double {
    /// Rounds the number to the given number of significant digits.
    func rounded(_ digits: Int) -> Double {
        guard self != 0, isFinite else { return self }
        // A conversion to text and back avoids results such as 0.0025000000000000001.
        let scale = pow(10, Double(digits - 1) - floor(log10(magnitude)))
        let value = (self * scale).rounded() / scale
        return Double(Format.fixed(value, max(0, min(9, Int(log10(scale).rounded()))))) ?? value
    }
}
