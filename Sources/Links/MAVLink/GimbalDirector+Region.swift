import GimbalCore
import Port
import Wire

// Regions of interest: MAV_CMD_DO_SET_ROI_LOCATION, _SYSID and _NONE.
extension GimbalDirector {
    /// Direction change after which the camera is pointed again, rad.
    private static let step = Angle.degrees(0.05).radians

    /// Points the camera at a target, and keeps it pointed at the target. If no peer is in control,
    /// the sender takes control.
    ///
    /// - Throws: `Refusal` if the sender is not in control, or if north, the vehicle's position or
    ///   the target's position is not known.
    mutating func look(
        at target: RegionOfInterest.Target, from sender: MAVLinkAddress, now: Instant
    ) throws(Refusal) {
        if let snapshot, !snapshot.showsJoints {
            throw Refusal(
                .sensorMissing,
                "The joint angles are unknown, so the gimbal does not know its heading: encoders or a handle IMU are necessary."
            )
        }
        guard vehicle.north != nil else {
            throw Refusal(
                .noValue,
                "North is not known: the autopilot must send AUTOPILOT_STATE_FOR_GIMBAL_DEVICE.")
        }
        guard region.isLocated(now: now) else {
            throw Refusal(
                .noValue,
                "The vehicle's position is not known: the autopilot must send GLOBAL_POSITION_INT.")
        }
        if case .system(let system) = target, !region.knows(system, now: now) {
            throw Refusal(
                .noValue,
                "The position of system \(system) is not known, because it has not sent GLOBAL_POSITION_INT."
            )
        }
        var wanted = region
        wanted.target = target
        guard let direction = wanted.direction(now: now) else {
            throw Refusal(.noValue, "The target is at the position of the vehicle.")
        }
        try steerUnmanaged(GimbalRequest(direction), from: sender, now: now)
        region.target = target
        lookedAt = direction
    }

    /// Stops pointing at a region of interest; the camera looks ahead again.
    mutating func lookAhead(from sender: MAVLinkAddress, now: Instant) throws(Refusal) {
        try steerUnmanaged(GimbalRequest(flags: .neutral), from: sender, now: now)
    }

    /// Points the camera again after the direction of the region of interest has changed.
    mutating func watchRegion(now: Instant) {
        forgetAfterChangeOfMode()
        guard region.target != nil, let direction = region.direction(now: now) else { return }
        if let lookedAt, abs(direction.pitch - lookedAt.pitch) < Self.step,
            abs((direction.yaw - lookedAt.yaw).remainder(dividingBy: 2 * .pi)) < Self.step
        {
            return
        }
        do throws(Refusal) {
            try point(direction, now: now)
            lookedAt = direction
        } catch {
            // After a stop or a change of mode, the region of interest no longer applies.
            region.target = nil
        }
    }

    /// Repeats the request for the direction, because the motors are on again.
    mutating func lookAgain() { lookedAt = nil }
}

extension GimbalRequest {
    /// Creates the request to hold a direction relative to north, with a level horizon.
    init(_ direction: RegionOfInterest.Direction) {
        self.init(
            flags: [.rollLock, .pitchLock, .yawLock, .yawInEarthFrame],
            angles: AxisVector(yaw: direction.yaw, roll: 0, pitch: direction.pitch))
    }
}
