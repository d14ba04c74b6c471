import Configuration
import GimbalCore
import Glibc
import Identification
import PlainText
import Wire

extension AutotuneReport {
    /// Takes over what a run has found.
    ///
    /// The run knows the gains as they act. A setting is what acts before the app's PID triple scales it: axes that were
    /// not tuned keep their settings, those that were go back to the app's default triple, which changes nothing.
    mutating func fill(from run: AutotuneRun, present: Settings) {
        state = State.done.rawValue
        progress = 1
        axes = run.results.map(AutotuneAxis.init)
        let tuned = run.proposal
        let own = present.control
        func propose(_ key: String, _ value: SettingValue) {
            proposals.append(SettingProposal(key: key, value: value.tomlText))
        }
        propose("control.inertia_kg_m2", .triple(tuned.inertia.rounded(4)))
        propose("control.find_inertia", .bool(false))
        func gains(_ key: String, _ found: AxisVector, _ kept: AxisVector) {
            var values = kept
            for result in run.results { values[result.axis] = found[result.axis].rounded(3) }
            propose(key, .triple(values))
        }
        gains("control.attitude_gain", tuned.attitudeGain, own.attitudeGain)
        gains("control.rate_gain", tuned.rateGain, own.rateGain)
        gains("control.rate_integral_gain", tuned.rateIntegralGain, own.rateIntegralGain)
        gains("control.rate_derivative_gain", tuned.rateDerivativeGain, own.rateDerivativeGain)
        for result in run.results {
            let (app, plain) = present.airos.pid.ofAxis(result.axis)
            if app != plain { propose("airos.pid.\(result.axis.name)", .pid(plain)) }
        }
        propose("control.derivative_cutoff_hz", .number(tuned.derivativeCutoffHz.rounded(3)))
        propose("control.loop_delay_ms", .number((tuned.loopDelay * 1e3).rounded(3)))
        if tuned.frictionLimit > own.frictionLimitNm {
            propose("control.friction_limit_nm", .number(tuned.frictionLimit.rounded(2)))
        }
        sentence = "Not applied. With --apply it is, for a while."
    }
}

extension Settings.AirOS.PID {
    /// The triple of an axis, and the app's default of it.
    func ofAxis(_ axis: GimbalAxis) -> (present: PIDTriple, plain: PIDTriple) {
        switch axis {
        case .yaw: (yaw, .pan)
        case .roll: (roll, .tilt)
        case .pitch: (pitch, .tilt)
        }
    }
}

extension AutotuneAxis {
    init(_ found: AutotuneRun.AxisResult) {
        self.init(axis: found.axis.name)
        inertiaKgM2 = Number(found.model.inertia)
        delayMs = Number(found.model.delay * 1e3)
        coulombNm = Number(found.coulomb)
        viscous = Number(found.viscous)
        stiffness = Number(found.model.stiffness)
        residual = Number(found.residual)
        let margins = found.design.margins
        gainMarginDb = Number(margins.increaseDecibels)
        gainMarginDownDb = Number(margins.decreaseDecibels)
        phaseMarginDeg = Number(margins.phaseDegrees)
        crossoverHz = Number(margins.crossover / (2 * .pi))
        let grid = (0...120).map { 2 * Double.pi * exp(log(1.5) + Double($0) / 120 * log(100)) }
        model = BodePoint.curve(grid.map { ($0, found.model.response(omega: $0), nil) })
        measured = BodePoint.curve(
            found.points.map { ($0.omega, $0.response, $0.coherence) }, beside: model)
        loop = BodePoint.curve(
            grid.map { omega in
                let controller = found.design.response(omega: omega)
                return (omega, controller * found.model.response(omega: omega), nil)
            })
    }
}

extension BodePoint {
    /// Points in order of frequency, their phases without jumps. Beside a model they are those that are nearest to its
    /// phases: few points cannot show which way theirs went.
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
    /// The number with so many significant digits.
    func rounded(_ digits: Int) -> Double {
        guard self != 0, isFinite else { return self }
        // By way of text, so that 0.0025 does not become 0.0025000000000000001.
        let scale = pow(10, Double(digits - 1) - floor(log10(magnitude)))
        let value = (self * scale).rounded() / scale
        return Double(Format.fixed(value, max(0, min(9, Int(log10(scale).rounded()))))) ?? value
    }
}

extension AxisVector {
    /// Every axis with so many significant digits.
    fileprivate func rounded(_ digits: Int) -> AxisVector {
        AxisVector(
            yaw: yaw.rounded(digits), roll: roll.rounded(digits), pitch: pitch.rounded(digits))
    }
}
