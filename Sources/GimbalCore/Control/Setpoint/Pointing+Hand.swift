extension Pointing {
    /// Axes that a hand can turn: yaw and pitch in `locked`, only pitch in `panFollow`. A hand
    /// cannot turn an axis that a request is moving. Roll is excluded, because the horizon stays
    /// level.
    var pushable: AxisSet {
        @_noLocks get {
            let yaw = !guided.yaw.isNaN || !generator.yaw.isMoving
            let pitch = !guided.pitch.isNaN || !generator.pitch.isMoving
            return switch mode {
            case .locked: AxisSet(yaw: yaw, roll: false, pitch: pitch)
            case .panFollow: AxisSet(yaw: false, roll: false, pitch: pitch)
            case .inactive, .fpv, .tracking, .neutral, .retract: .none
            }
        }
    }

    /// Smoothing of a set-point that follows a push of the hand, s: short, because the camera must
    /// follow the hand at once.
    private static var handSmoothing: Double { @_noLocks get { 0.02 } }

    /// Turns the set-point in the direction in which a hand pushes the camera. When the push ends,
    /// the set-point stops, and its angle becomes the requested angle.
    ///
    /// - Parameters:
    ///   - rates: Rates of the earth-frame angles, rad/s.
    ///   - axes: Axes that the hand turns.
    ///   - dt: Duration of the control period, s.
    @_noLocks
    mutating func guide(_ rates: AxisVector, axes: AxisSet, dt: Double) {
        if axes.isEmpty, guided.yaw.isNaN, guided.pitch.isNaN { return }
        let (angles, before) = (generator.angles, guided)
        guided.yaw = axes.contains(.yaw) ? (before.yaw.isNaN ? angles.yaw : before.yaw) : .nan
        guided.pitch =
            axes.contains(.pitch) ? (before.pitch.isNaN ? angles.pitch : before.pitch) : .nan
        guided = (guided + rates * dt).clamped(from: parameters.minimum, to: parameters.maximum)
        let ends =
            guided.yaw.isNaN && !before.yaw.isNaN || guided.pitch.isNaN && !before.pitch.isNaN
        if ends { generator.stopFollowing() }
        generator.follow(
            AxisVector(yaw: guided.yaw, roll: .nan, pitch: guided.pitch), rates: rates,
            FollowTuning(
                maxRate: AxisVector(repeating: .pi),
                smoothing: AxisVector(repeating: Self.handSmoothing)))
        if !before.yaw.isNaN { target.yaw = angles.yaw }
        if !before.pitch.isNaN { target.pitch = angles.pitch }
    }
}
