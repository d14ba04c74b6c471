import GimbalCore
import Wire

/// Heading of the vehicle in the loop's earth frame, and relative to north.
///
/// The camera's attitude and the joint angles give the vehicle's heading in the loop's own frame.
/// The loop's earth frame has an arbitrary heading zero, and without a compass the heading drifts.
/// The autopilot reports the heading relative to north. The property `north` is the difference of
/// the two headings; it converts headings between north and the loop's frame. The difference is
/// smoothed over seconds, because the two headings are measured at different times.
struct VehicleHeading {
    /// Largest age of a usable report of the autopilot, s.
    private static let staleSeconds = 2.0
    /// Time constant of the correction of `north`, s.
    private static let timeConstant = 2.0

    /// Heading relative to north minus heading in the loop's frame, rad; nil before the first
    /// report. The heading in the loop's frame is the heading relative to north minus `north`.
    private(set) var north: Double?
    /// Turn rate that the autopilot has announced for the vehicle, rad/s; 0 if unknown.
    private(set) var feedForward = 0.0
    /// Measured turn rate of the vehicle about the vertical, rad/s; nil if unknown.
    private(set) var rate: Double?
    private var heard: Instant?

    /// Corrects `north` with a report of the autopilot.
    ///
    /// - Parameters:
    ///   - state: The autopilot's message.
    ///   - snapshot: The loop's snapshot at the time of the message.
    ///   - now: Time at which the message was received.
    mutating func learn(
        _ state: AutopilotStateForGimbalDevice, _ snapshot: StabilizerSnapshot, now: Instant
    ) {
        let q = state.q.map(Double.init)
        let vehicle = Quaternion(w: q[0], x: q[1], y: q[2], z: q[3])
        guard vehicle.isFinite, abs(vehicle.norm - 1) < 0.1,
            let estimated = Self.heading(in: snapshot)
        else { return }
        let rates = [state.feedForwardYawRate, state.yawRate].map(Double.init)
        feedForward = rates.first { $0.isFinite } ?? 0
        // The measured rate is an extension of the message: a message without it contains 0, such
        // as the messages of PX4 (AUTOPILOT_STATE_FOR_GIMBAL_DEVICE.hpp). A measured rate is hardly
        // ever exactly 0.
        rate = rates[1].isFinite && rates[1] != 0 ? rates[1] : nil
        // The reported heading is extrapolated by the vehicle's turn since the measurement.
        let age = min(Double(state.attitudeDelayUs) * 1e-6, 0.5)
        let turned = Double(state.yawRate).isFinite ? Double(state.yawRate) * age : 0
        let reported = EulerZXY.angles(vehicle.normalized).yaw + turned
        let difference = Angle(radians: 0).shortestArc(to: .radians(reported - estimated)).radians
        defer { heard = now }
        guard let north, let heard, now.seconds(since: heard) < Self.staleSeconds else {
            self.north = difference
            return
        }
        let dt = max(now.seconds(since: heard), 0)
        let turn = Angle(radians: north).shortestArc(to: .radians(difference)).radians
        self.north = north + turn * dt / (Self.timeConstant + dt)
    }

    /// Discards the reports of a silent autopilot; `north` does not change.
    mutating func advance(now: Instant) {
        guard let heard, now.seconds(since: heard) > Self.staleSeconds else { return }
        feedForward = 0
        rate = nil
    }

    /// Heading of the vehicle in the loop's frame, rad; nil if the joint angles are unknown.
    static func heading(in snapshot: StabilizerSnapshot) -> Double? {
        if case .assumed = snapshot.jointSource { return nil }
        let joints = EulerZXY.quaternion(snapshot.joints)
        return EulerZXY.angles(snapshot.attitude * joints.conjugate).yaw
    }
}
