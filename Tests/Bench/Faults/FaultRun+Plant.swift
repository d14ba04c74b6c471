import GimbalCore
import Glibc
import Simulation

extension FaultRun {
    /// Outcome of a run with a gimbal that differs from the controller's model of the gimbal.
    struct PlantOutcome {
        /// Largest angle between the camera's attitudes in this run and in the healthy run,
        /// degrees, from the start of the motors until the onset of the fault. The healthy run is
        /// the same simulation without the fault.
        var start = 0.0
        /// True if the outputs of the run have been switched off, or have never been switched on.
        var isShutOff = false
        /// True if the outputs of the healthy run have been switched off, or have never been
        /// switched on.
        var isTwinShutOff = false
        /// True if the camera trembles in the last half second: its tremor exceeds the largest
        /// half-second tremor of the camera in the healthy run, and of the handle.
        var isTrembling = false
        /// Total time after the onset for which the camera trembled with the outputs on, s.
        var trembling = 0.0
        /// Longest continuous tremor during which the controller reports neither an oscillation nor
        /// an identification of the inertia, s.
        var unnamed = 0.0
        /// Time from the onset until the controller reports an oscillation, s; NaN without a
        /// report.
        var named = Double.nan
        /// Ratio of the assumed to the true inertia at the end of the run, on the axis with the
        /// largest error; NaN for servos.
        var inertiaRatio = Double.nan
        /// RMS of the camera's rate above 15 Hz over the last half second, deg/s.
        var lastTremor = 0.0

        /// True if the camera trembled for longer than 0.1 s. A single knock causes a tremor of
        /// less than 0.1 s.
        var hasOscillated: Bool { trembling > 0.1 }
    }

    /// Computes the outcome of a run whose gimbal differs from the model. The caller computes the
    /// unintended motion after the onset.
    func plantOutcome(_ trace: FaultTrace, beside twin: FaultTrace) -> Outcome {
        var plant = PlantOutcome()
        plant.isShutOff = Self.isShutOff(trace)
        plant.isTwinShutOff = Self.isShutOff(twin)
        let pairs = zip(trace.points, twin.points)
        for (point, healthy) in pairs.prefix(trace.onset - 1)
        where point.isEnabled && healthy.isEnabled {
            let angle = healthy.attitude.error(to: point.attitude).norm * 180 / .pi
            plant.start = max(plant.start, angle)
        }
        judgeTremor(trace, twin, &plant)
        plant.inertiaRatio = gimbal.simulated.motor == .servo ? .nan : trace.inertiaRatio
        var outcome = Outcome()
        outcome.plant = plant
        return outcome
    }

    private static func isShutOff(_ trace: FaultTrace) -> Bool {
        let on = trace.points.firstIndex { $0.isEnabled } ?? trace.onset
        return on >= trace.onset || trace.points[on...].contains { !$0.isEnabled }
    }

    /// Criterion for an oscillation. `window` is the length of each window, s. The camera's tremor
    /// must exceed the tremor of the healthy run by the factor `beyondTwin`.
    private static let window = 0.05
    private static let beyondTwin = 1.5

    private func judgeTremor(
        _ trace: FaultTrace, _ twin: FaultTrace, _ plant: inout PlantOutcome
    ) {
        let degrees = 180 / Double.pi
        var softening = (short: 0.0, long: 0.0)
        func watch(_ rates: [Vector3], from onset: Int, length: Double) -> Double {
            var tremor = Tremor(length: length)
            for (index, rate) in rates.enumerated() {
                tremor.note(rate * degrees, counts: index >= onset, dt: trace.dt)
            }
            return tremor.largest.angle
        }
        let (healthy, handle) = (twin.points.map(\.rate), twin.points.map(\.handleRate))
        softening.short = max(
            Self.beyondTwin * watch(healthy, from: twin.onset, length: Self.window),
            watch(handle, from: twin.onset, length: Self.window))
        softening.long = max(
            Self.beyondTwin * watch(healthy, from: twin.onset, length: 0.5),
            watch(handle, from: twin.onset, length: 0.5))
        var (brief, long) = (Tremor(length: Self.window), Tremor())
        var unnamed = 0.0
        for (index, point) in trace.points.enumerated() {
            let isOscillating = point.conditions.intersects(.loopOscillating)
            // The identification of the inertia shakes the camera deliberately, and the controller
            // reports the identification. This tremor does not count as an oscillation.
            let isTold = isOscillating || point.conditions.intersects(.inertiaUnknown)
            let since = Double(index + 1 - trace.onset) * trace.dt
            if isOscillating, since >= 0, plant.named.isNaN { plant.named = since }
            long.note(point.rate * degrees, counts: since >= 0, dt: trace.dt)
            let ended = brief.note(point.rate * degrees, counts: since >= 0, dt: trace.dt)
            guard since >= 0, let ended else { continue }
            let trembles = ended.isTrembling(beside: softening.short) && point.isEnabled
            if trembles { plant.trembling += Self.window }
            unnamed = trembles && !isTold ? unnamed + Self.window : 0
            plant.unnamed = max(plant.unnamed, unnamed)
        }
        plant.isTrembling = long.present.isTrembling(beside: softening.long)
        plant.lastTremor = long.present.rate
    }
}

extension FaultRun.Fault {
    /// Time after the onset for which the run is observed, s.
    var after: Double {
        switch self {
        case .accelSideways: 6
        case .gyroBurst: 3
        default: kind == .plant ? 6 : 1.6
        }
    }

    /// True if the fault already exists when the motors are switched on.
    var isFromBeginning: Bool {
        switch self {
        case .plantLater, .plantSooner, .plantSlow, .plantStaleHeavy, .plantStaleLight: true
        default: false
        }
    }

    /// True if the gimbal of the run, and the gimbal of the healthy run, have 1000 ticks per
    /// second.
    var isAtFullRate: Bool { self == .plantSlow }

    /// True if the fault applies to this kind of motor. A wrong inertia in the configuration
    /// affects only torque motors. Servos do not use the inertia, and motors without encoders
    /// measure the inertia at each start.
    func concerns(_ motor: MotorType) -> Bool {
        switch self {
        case .plantStaleHeavy, .plantStaleLight: motor == .torque
        default: true
        }
    }

    /// Changes the gimbal or the controller's model of the gimbal, before the start of the run.
    func change(_ gimbal: inout FaultGimbal) {
        switch self {
        case .plantLater:
            gimbal.simulated.transportDelay += 5e-3
            gimbal.simulated.servo.totalDelay += 5e-3
        case .plantSooner:
            gimbal.stabilizer.controller.loopDelay += 5e-3
            let field = gimbal.stabilizer.field
            gimbal.stabilizer.field = field.stretched(to: field.loopDelay + 5e-3)
            // Servos have a longer delay than other motors. The delay in the servo model is
            // therefore increased by 9 ms instead of 5 ms.
            gimbal.stabilizer.servo.delay += 9e-3
        case .plantSlow: gimbal.simulated.imu.sampleRate = 250
        case .plantStaleHeavy: save(4, &gimbal)
        case .plantStaleLight: save(1 / 3.0, &gimbal)
        default: break
        }
    }

    /// Configures the controller's model with `factor` times the true inertia.
    private func save(_ factor: Double, _ gimbal: inout FaultGimbal) {
        let (truth, constant) = (
            gimbal.simulated.plant.inertia, gimbal.simulated.motorConstant
        )
        for axis in GimbalAxis.allCases {
            gimbal.stabilizer.controller.inertia[axis] = min(
                max(truth[axis] / constant[axis] * factor, 1e-5), 1)
        }
        gimbal.stabilizer.controller.findsInertia = false
    }
}
