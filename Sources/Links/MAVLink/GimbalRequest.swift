import GimbalCore
import Port
import Wire

/// Requested motion of the gimbal; the form is the same for all kinds of MAVLink messages. Angles
/// are in rad and rates in rad/s; pitch up, roll right and yaw right are positive. An axis without
/// a request is NaN.
struct GimbalRequest: Equatable {
    /// Rate that a fully deflected stick requests, rad/s.
    private static let fullRate = Angle.degrees(60).radians

    var flags: GimbalFlags
    var angles = AxisVector.unknown
    var rates = AxisVector.unknown

    init(flags: GimbalFlags, angles: AxisVector = .unknown, rates: AxisVector = .unknown) {
        self.flags = flags
        self.angles = angles
        self.rates = rates
    }

    init(_ message: GimbalManagerSetPitchYaw) {
        flags = GimbalFlags(rawValue: message.flags)
        angles.pitch = Double(message.pitch)
        angles.yaw = Double(message.yaw)
        rates.pitch = Double(message.pitchRate)
        rates.yaw = Double(message.yawRate)
    }

    /// Creates the request from the position of a remote control's stick. A fully deflected stick
    /// requests the angle at the end of the range, or a rate of 60 °/s.
    init(_ message: GimbalManagerSetManualControl, lower: AxisVector, upper: AxisVector) {
        func angle(_ share: Float, _ lower: Double, _ upper: Double) -> Double {
            let share = min(max(Double(share), -1), 1)
            return share < 0 ? -share * max(lower, -.pi) : share * min(upper, .pi)
        }
        func rate(_ share: Float) -> Double { min(max(Double(share), -1), 1) * Self.fullRate }
        flags = GimbalFlags(rawValue: message.flags)
        if !message.pitch.isNaN { angles.pitch = angle(message.pitch, lower.pitch, upper.pitch) }
        if !message.yaw.isNaN { angles.yaw = angle(message.yaw, lower.yaw, upper.yaw) }
        if !message.pitchRate.isNaN { rates.pitch = rate(message.pitchRate) }
        if !message.yawRate.isNaN { rates.yaw = rate(message.yawRate) }
    }

    init(_ message: GimbalManagerSetAttitude) {
        self.init(
            flags: GimbalFlags(rawValue: message.flags), q: message.q, rates: message.rates)
    }

    init(_ message: GimbalDeviceSetAttitude) {
        self.init(
            flags: GimbalFlags(rawValue: UInt32(message.flags)), q: message.q,
            rates: message.rates)
    }

    private init(flags: GimbalFlags, q: [Float], rates: [Float]) {
        self.flags = flags
        let q = q.map(Double.init)
        let attitude = Quaternion(w: q[0], x: q[1], y: q[2], z: q[3])
        // A quaternion whose length is not 1 is ignored.
        if attitude.isFinite, abs(attitude.norm - 1) < 0.1 {
            angles = EulerZXY.angles(attitude.normalized)
        }
        self.rates = AxisVector(
            yaw: Double(rates[2]), roll: Double(rates[0]), pitch: Double(rates[1]))
    }

    /// Creates the request from a command's parameters: pitch and yaw in degrees, and their rates
    /// in degrees per second.
    init(pitchYaw params: [Float]) {
        func radians(_ degrees: Float) -> Double { Angle.degrees(Double(degrees)).radians }
        let bits = params[4]
        flags = GimbalFlags(rawValue: bits >= 0 && bits < 65536 ? UInt32(bits) : 0)
        angles = AxisVector(yaw: radians(params[1]), roll: .nan, pitch: radians(params[0]))
        rates = AxisVector(yaw: radians(params[3]), roll: .nan, pitch: radians(params[2]))
    }

    /// True if the flags of a request contradict each other.
    var isContradictory: Bool { flags.isSuperset(of: [.yawInVehicleFrame, .yawInEarthFrame]) }

    /// True if the request contains an angle for one axis, and only a rate for another axis. The
    /// gimbal turns either to angles or at rates.
    var isMixed: Bool {
        let axes = [
            (angles.yaw, rates.yaw), (angles.roll, rates.roll), (angles.pitch, rates.pitch),
        ]
        return angles.isRequested && axes.contains { $0.isNaN && !$1.isNaN && $1 != 0 }
    }

    /// True if the given yaw is relative to the vehicle's heading.
    var isYawFromVehicle: Bool {
        if flags.contains(.yawInVehicleFrame) { return true }
        if flags.contains(.yawInEarthFrame) { return false }
        return !flags.contains(.yawLock)
    }
}

extension AxisVector {
    /// Largest requested rate of an axis, rad/s; 0 if no rate is requested.
    var fastest: Double { [yaw, roll, pitch].filter { !$0.isNaN }.map(abs).max() ?? 0 }
    /// Requested values of the axes; NaN is replaced by zero.
    var orZero: AxisVector { filled(from: .zero) }
}
