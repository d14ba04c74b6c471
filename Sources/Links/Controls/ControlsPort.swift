import GimbalCore
import Port

// Requests to the gimbal on behalf of the input controls.
extension GimbalPort {
    /// The mode after the present mode in the sequence `locked`, `pan_follow`, `fpv`. Modes that
    /// need the joint angles are skipped while the joint angles are unknown.
    var nextMode: Mode {
        let showsJoints = newest?.showsJoints ?? false
        let modes = [Mode.locked, .panFollow, .fpv].filter { showsJoints || !$0.needsJoints }
        guard let place = modes.firstIndex(of: control.mode) else { return .locked }
        return modes[(place + 1) % modes.count]
    }

    /// Levels the camera, and points it in the direction of the handle.
    func recentre(from source: CommandSource, now: Instant) throws(Refusal) {
        let heading = snapshot.flatMap { VehicleHeading.heading(in: $0) } ?? .nan
        if control.mode == .panFollow {
            try request(.lookAside(yaw: 0, rate: 0), from: source, now: now)
            return try request(
                .point(AxisVector(yaw: .nan, roll: 0, pitch: 0), duration: 0), from: source,
                now: now)
        }
        try request(
            .point(AxisVector(yaw: heading, roll: 0, pitch: 0), duration: 0), from: source,
            now: now)
    }
}

extension StabilizerSnapshot {
    /// Angles from which a step starts, rad, earth frame: the target of the set-point. On an axis
    /// whose joint is at the end of its range, the camera cannot reach the target, and the steps
    /// start from the set-point. Otherwise the steps beyond the end would add up.
    var stepStart: AxisVector {
        let (limited, target) = (conditionAxes.atLimit, pointing.target)
        let reached = EulerZXY.angles(setpoint)
        return AxisVector(
            yaw: limited.contains(.yaw) ? reached.yaw : target.yaw,
            roll: limited.contains(.roll) ? reached.roll : target.roll,
            pitch: limited.contains(.pitch) ? reached.pitch : target.pitch)
    }
}
