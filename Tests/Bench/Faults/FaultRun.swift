import GimbalCore
import Glibc
import Policy
import Port
import Realtime
import Simulation

/// One simulation run of the fault campaign: the fault, the gimbal, the mode, and the link in
/// control.
///
/// Commands pass through the real `Commander` and the real loop. Sensor faults pass through the
/// simulated sensor. The unintended motion is the angle between the camera's true attitude in the
/// run and the true attitude in a reference run with the same seed. Until the outputs are off, the
/// reference run is the run without the fault. For half a second afterwards, the reference run has
/// no fault, but has an emergency stop at the time at which the outputs were switched off.
/// Therefore the unintended motion includes the coasting that the fault has caused, but not the
/// fall of a camera whose motors are off.
///
/// If the gimbal differs from the model from the beginning, the camera's motion at the start also
/// differs. If the gimbal differs from the model, the reference is the camera in the run without
/// the fault. The bench compares the cameras separately before and after the onset. After the
/// onset, the bench subtracts the difference in heading at the onset, because no sensor of the
/// gimbal measures the heading.
struct FaultRun {
    /// Fault that occurs at the gimbal's `onset`.
    enum Fault: String, CaseIterable {
        case dropOut = "IMU: no sample"
        case frozen = "IMU: frozen"
        case notANumber = "IMU: not a number"
        case infinite = "IMU: infinite"
        case timeBack = "IMU: time runs backwards"
        case busError = "bus: transfers fail"
        case emergencyStop = "emergency stop"
        case shutdown = "airframed stops"
        case silence = "commands: client sends nothing"
        case disconnection = "commands: disconnection"
        case garbage = "commands: invalid values"
        case flood = "commands: flood by another client"
        case yawReversed = "yaw motor reversed"
        case rollReversed = "roll motor reversed"
        case pitchReversed = "pitch motor reversed"
        case gyroBurst = "gyroscope: 500 °/s for 100 ms"
        case gyroStuck = "gyroscope: stuck at 50 °/s"
        case gyroZero = "gyroscope: stuck at zero"
        case gyroFrozen = "gyroscope: stuck at its last value"
        case gyroSpike = "gyroscope: one sample of 30 rad/s"
        case gyroSpikes = "gyroscope: 10 x 30 rad/s, 20 ms apart"
        case gyroReversed = "gyroscope: reversed sign"
        case accelFrozen = "accelerometer: stuck at its last value"
        case accelSideways = "accelerometer: sideways for 5 s"
        case plantLighter = "plant: inertia falls to 1/3"
        case plantHeavier = "plant: inertia rises to 3 x"
        case plantLater = "plant: 5 ms more delay"
        case plantSooner = "plant: 5 ms less delay"
        case plantSlow = "plant: 250 samples/s, 1000 ticks/s"
        case plantStaleHeavy = "plant: saved inertia 4 x true"
        case plantStaleLight = "plant: saved inertia 1/3 x true"

        /// Faults in which a sensor delivers plausible but wrong values.
        static let sensorLies: [Fault] = [
            .gyroBurst, .gyroStuck, .gyroZero, .gyroFrozen, .gyroSpike, .gyroSpikes,
            .gyroReversed, .accelFrozen, .accelSideways,
        ]

        /// Faults that are differences between the gimbal and the controller's model of the gimbal.
        static let plantFaults: [Fault] = [
            .plantLighter, .plantHeavier, .plantLater, .plantSooner, .plantSlow, .plantStaleHeavy,
            .plantStaleLight,
        ]

        /// Kind of the fault, which determines the limits that apply.
        var kind: Kind {
            switch self {
            case .dropOut, .frozen, .notANumber, .infinite, .timeBack, .busError, .gyroStuck,
                .gyroZero, .gyroFrozen, .accelFrozen:
                .sensor
            case .gyroBurst, .gyroSpike, .gyroSpikes, .gyroReversed, .accelSideways: .lie
            case .emergencyStop, .shutdown: .order
            case .silence, .disconnection, .garbage, .flood: .command
            case .yawReversed, .rollReversed, .pitchReversed: .response
            case .plantLighter, .plantHeavier, .plantLater, .plantSooner, .plantSlow,
                .plantStaleHeavy, .plantStaleLight:
                .plant
            }
        }
    }

    /// Kinds of faults.
    enum Kind {
        /// A sensor fails. The outputs must be switched off.
        case sensor
        /// A client requests that the outputs are switched off. The request must be executed.
        case order
        /// The commands end. The camera must stop, and the controller must hold it.
        case command
        /// A motor responds wrongly. The outputs must be switched off, and must remain off.
        case response
        /// A sensor delivers wrong values for a short time, or values with a reversed sign. The run
        /// passes whether or not the outputs are switched off.
        case lie
        /// The gimbal differs from the controller's model of the gimbal. The outputs must remain
        /// on.
        case plant
    }

    /// Result of a run.
    struct Outcome {
        /// Time from the fault until the outputs are off, s; NaN if this never happens. For a fault
        /// that ends the commands, the time is measured until the set-point is still.
        var secondsToSafe = Double.nan
        /// Largest unintended motion of the camera, including coasting, degrees.
        var unintended = 0.0
        /// Largest unintended motion until the outputs are off, degrees. For a fault that ends the
        /// commands, the motion is measured until the set-point is still.
        var untilSafe = 0.0
        /// True if the outputs are on at the end of the run.
        var isOn = false
        /// All conditions that were active at any time after the fault.
        var conditions: Conditions = .none
        /// Outcome for a gimbal that differs from the model; nil for other faults.
        var plant: PlantOutcome?
    }

    var fault: Fault
    var mode = Mode.locked
    var source = CommandSource.Link.diagnostics
    var seed: UInt64 = 1
    var gimbal = FaultGimbal.standard
    var motion = HandleMotion.walking

    /// Time after the onset for which the run is observed, s.
    var after: Double { fault.after }
    /// Time after the outputs are switched off in which the camera's coasting counts as unintended
    /// motion, s.
    static let coast = 0.5

    func run() -> Outcome {
        var twins = Twins(seconds: after)
        return run(beside: &twins)
    }

    /// Executes the run.
    ///
    /// - Parameter twins: Healthy runs by gimbal, motion, mode, link and seed. If the healthy run
    ///   is missing, the call adds it.
    /// - Returns: The results of the run.
    func run(beside twins: inout Twins) -> Outcome {
        let twin = twins.twin(of: self)
        let trace = trace(isFaulty: true, seconds: after)
        var outcome = fault.kind == .plant ? plantOutcome(trace, beside: twin) : Outcome()
        let turn = fault.isFromBeginning ? trace.turn(from: twin) : .identity
        let (faulty, intended) = (trace.sinceOnset, twin.sinceOnset)
        for (index, point) in faulty.enumerated() {
            outcome.conditions.insert(point.conditions)
            outcome.isOn = point.isEnabled
            if outcome.secondsToSafe.isNaN, isSafe(point) {
                outcome.secondsToSafe = Double(index) * trace.dt + silenceBefore
            }
        }
        let off = faulty.firstIndex { !$0.isEnabled }.map { $0 - faulty.startIndex } ?? faulty.count
        let safe =
            fault.kind == .command
            ? Int(
                (outcome.secondsToSafe.isNaN ? after : outcome.secondsToSafe) / trace.dt + 1e-6)
            : off
        if let plant = outcome.plant, off == 0 {
            // The motors' outputs have never been switched on in this run. Gravity therefore moves
            // the camera after the onset of the fault.
            outcome.unintended = plant.start
            outcome.untilSafe = plant.start
            return outcome
        }
        for (point, healthy) in zip(faulty, intended).prefix(safe + 1) {
            outcome.unintended = max(outcome.unintended, deviation(point, healthy, turn))
        }
        outcome.untilSafe = outcome.unintended
        guard fault.kind != .command, off < faulty.count else { return outcome }
        let released = self.trace(isFaulty: false, seconds: after, stop: trace.onset + off)
        let coasting = Int(Self.coast / trace.dt)
        for (point, healthy) in zip(faulty, released.sinceOnset).dropFirst(off).prefix(coasting) {
            outcome.unintended = max(outcome.unintended, deviation(point, healthy, turn))
        }
        // After the outputs are on again, the vertical must be the same as before the fault. The
        // heading can differ, and the modes `fpv` and `neutral` do not hold the horizon.
        guard mode != .fpv, mode != .neutral,
            let on = faulty.dropFirst(off).firstIndex(where: { $0.isEnabled })
        else {
            return outcome
        }
        let settled = on - faulty.startIndex + Int(1 / trace.dt)
        for (point, healthy) in zip(faulty, intended).dropFirst(settled) where point.isEnabled {
            outcome.unintended = max(outcome.unintended, point.tilt(from: healthy))
        }
        return outcome
    }

    /// Effect of the fault on the camera, degrees. For a fault that ends the commands, the result
    /// is the angle from the estimated attitude to the set-point. The gimbal holds the camera after
    /// the end of the commands. The angle between the camera and the camera of the reference run is
    /// not suitable, because the commands continue in the reference run.
    private func deviation(
        _ point: FaultTrace.Point, _ intended: FaultTrace.Point, _ turn: Quaternion
    ) -> Double {
        if fault.kind == .command { return point.error }
        return (turn * intended.attitude).error(to: point.attitude).norm * 180 / .pi
    }

    private func isSafe(_ point: FaultTrace.Point) -> Bool {
        switch fault.kind {
        case .sensor, .order, .response, .lie, .plant: !point.isEnabled
        // In the modes `fpv` and `neutral`, commands do not turn the camera. No stop is therefore
        // expected.
        case .command:
            fault == .garbage || fault == .flood || mode == .fpv || mode == .neutral
                || point.isStill
        }
    }

    /// Longest time from the operator's last request to the onset of the fault, s. The dead-man
    /// timeout begins at the last request.
    private var silenceBefore: Double { fault == .silence ? 0.05 : 0 }
}
