import Configuration
import GimbalCore
import PlainText
import Policy
import Port
import Realtime
import Wire

/// Conversion of the machine's values to the message `status`. The conversion changes SI units and
/// radians to display units.
struct StatusReport {
    /// The newest record of the loop; nil before the first record.
    var view: TelemetryHub.View?
    /// State of control: the client in control, and the active mode.
    var control: ControlState
    /// Settings that are active at the time of the status.
    var settings: Settings
    /// Creation time of the status, on the loop's clock.
    var now: Instant

    /// Fills in the values of `status` from the loop and the Commander. `StatusReply` adds the
    /// other values.
    func fill(_ status: inout Status) {
        status.t = Number(now.seconds(since: Instant(nanoseconds: 0)))
        status.version = Version.text
        status.backend = settings.hardware.backend.rawValue
        status.mode = control.mode.name
        status.holder = control.holder?.description
        status.holderAgeS = control.age.map { Number($0) }
        status.driver = control.driver?.description
        status.stoppedBy = control.stoppedBy?.description
        status.refusals = Int(control.refusals)
        status.lastRefusal = control.lastRefusal.map { refused in
            let ago = Int(now.seconds(since: refused.time).rounded())
            return "\(refused.source), \(ago) s ago: \(refused.reason.message)"
        }
        status.controlLost = control.loss.map(Self.words)
        status.motors.type = settings.motors.type.name
        status.motors.torqueLimitNm = AxisNumbers(settings.motors.torqueLimitNm)
        status.motors.cutOff = settings.cutOff
        let range = settings.reachableJointsDeg
        status.joints.minimumDeg = AxisNumbers(range.lower)
        status.joints.maximumDeg = AxisNumbers(range.upper)
        status.loop.rateHz = Number(Double(settings.loop.rateHz))
        guard let view else {
            status.state = "starting"
            return
        }
        fillMotion(&status, view.record.snapshot)
        fillIMU(&status, view)
        fillRuntime(&status, view)
    }

    /// Sentence about the end of a client's stream of rate requests: the name of the client, the
    /// end of its connection or the time since its last request, and the reaction of the gimbal.
    static func words(_ loss: ControlState.Loss) -> String {
        let done =
            switch loss.stage {
            case .hold: "the camera keeps its attitude"
            case .fallback:
                "the mode is commander.fallback_mode until a client asks for another mode"
            case .off: "the motors are off until a client asks for a mode"
            }
        let cause =
            loss.hasDisconnected
            ? "has disconnected" : "has sent nothing for \(Format.fixed(loss.silence, 1)) s"
        return "\(loss.source) \(cause); \(done)"
    }

    private func fillMotion(_ status: inout Status, _ snapshot: StabilizerSnapshot) {
        status.mode = snapshot.mode.name
        status.isEnabled = snapshot.output.enabled
        status.state = snapshot.phase.words
        status.inhibitions = snapshot.conditions.words.reversed()
            .filter { Supervisor.inhibiting.intersects($0.condition) }
            .map { Inhibition(name: $0.name, sentence: $0.sentence) }
        status.notices = snapshot.conditions.words.reversed()
            .filter { !Supervisor.inhibiting.intersects($0.condition) }
            .map { Inhibition(name: $0.name, sentence: $0.sentence) }
        let remaining = snapshot.pointing.trackingSeconds
        status.pointing.trackingRemainingS = remaining.isNaN ? nil : Number(remaining)
        status.joints.source =
            switch snapshot.jointSource {
            case .assumed: JointStatus.estimated
            case .encoders: "encoders"
            case .servoCommand: "servo command"
            case .fieldAngle: "field angle"
            case .handleIMU: "handle IMU"
            }
        // Before the first sample, the attitude in the snapshot is the initial value.
        guard snapshot.samples.accepted > 0 else { return }
        let attitude = snapshot.attitude
        status.attitude.quaternion = [attitude.w, attitude.x, attitude.y, attitude.z]
            .map { Number($0) }
        let angles = AxisNumbers(EulerZXY.angles(attitude) * (180 / .pi))
        status.attitude.yawDeg = angles.yaw
        status.attitude.rollDeg = angles.roll
        status.attitude.pitchDeg = angles.pitch
    }

    private func fillIMU(_ status: inout Status, _ view: TelemetryHub.View) {
        let snapshot = view.record.snapshot
        status.estimator.isConverged = !snapshot.conditions.intersects(.estimateNotConverged)
        status.imu.samples = Int(snapshot.samples.accepted)
        status.imu.rateHz = Number(view.sampleRate ?? .nan)
        if snapshot.samples.accepted > 0 {
            status.imu.gyroDps = VectorNumbers((snapshot.rate + snapshot.bias) * (180 / .pi))
            status.imu.ageMs = Number(view.record.now.seconds(since: snapshot.sampleTime) * 1e3)
        }
    }

    private func fillRuntime(_ status: inout Status, _ view: TelemetryHub.View) {
        let counters = view.record.counters
        let samples = view.record.snapshot.samples
        status.loop.achievedHz = Number(view.tickRate ?? .nan)
        status.loop.ticks = Int(view.record.tick) + 1
        status.loop.overruns = Int(counters.loopOverruns + counters.busOverruns)
        status.loop.lateSamples = Int(counters.lateSamples)
        status.faults.sampleDrops = Int(counters.samplesDropped)
        status.faults.commandDrops = Int(counters.commandsDropped)
        status.faults.telemetryDrops = Int(counters.telemetryDropped)
        status.faults.busErrors = Int(counters.busErrors)
        let linux = settings.hardware.linux
        for error in [counters.lastBusError, counters.furtherBusError].compactMap(\.self) {
            let remedy = error.remedy(canInterface: linux.canInterface, canKbit: linux.canKbit)
            let faults = status.faults
            status.faults.lastError = faults.lastError.map { "\($0); \(error)" } ?? "\(error)"
            if let earlier = faults.remedy {
                if earlier != remedy { status.faults.remedy = "\(earlier) \(remedy)" }
            } else {
                status.faults.remedy = remedy
            }
        }
        status.faults.rejectedSamples = [
            "imu_implausible": Int(samples.implausible), "imu_frozen": Int(samples.frozen),
            "imu_time_reversed": Int(samples.timeReversed), "imu_gap": Int(samples.gaps),
            "imu_stale": Int(samples.stale),
        ]
    }
}

extension MotorType {
    /// Name of the motor type, as in the configuration file.
    var name: String {
        switch self {
        case .torque: "torque"
        case .servo: "servo"
        case .field: "field"
        }
    }
}
