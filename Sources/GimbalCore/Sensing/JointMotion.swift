/// Joint angles from any source, and the joint rates computed from the angles.
///
/// The rate is the derivative of the low-passed angle (first order). The integral of this rate
/// equals the change of the angle, so an encoder's quantization steps (0.022° with 14 bits) average
/// out and do not look like motion. Runs on the loop thread, in constant time.
struct JointMotion: Sendable, BitwiseCopyable {
    /// Time constant of the low-pass, s.
    static var smoothing: Double { @_noLocks @_noAllocation get { 0.1 } }

    /// Newest angles, rad.
    private(set) var angles = AxisVector.zero
    /// Kinematics of the joints at the newest angles.
    private(set) var kinematics = JointKinematics(joints: .zero)
    /// Smoothed rates, rad/s.
    private(set) var rates = AxisVector.zero
    /// The camera's rate relative to the handle, camera frame, rad/s, smoothed as a vector in this
    /// frame, like the gyroscope's rate with which it is compared.
    private(set) var relativeRate = Vector3.zero

    private var smooth = AxisVector.zero
    private var hasAngles = false

    /// Creates the state before the first joint angles: all angles and rates are zero.
    @_noLocks
    init() {}

    /// Updates angles and rates with the joint angles of one tick.
    ///
    /// - Parameters:
    ///   - new: Joint angles, rad.
    ///   - dt: Seconds since the previous call, not negative.
    @_noLocks
    mutating func update(_ new: AxisVector, dt: Double) {
        let turn = (new - angles).wrapped
        angles = new
        kinematics = JointKinematics(joints: new)
        guard hasAngles else {
            smooth = new
            hasAngles = true
            return
        }
        // A joint without end stops can turn beyond ±180°, where an encoder's angle jumps.
        let share = dt / (Self.smoothing + dt)
        let step = (new - smooth).wrapped * share
        smooth = smooth + step
        guard dt > 0 else { return }
        rates = step * (1 / dt)
        let rate = kinematics.relativeRate(jointRates: turn * (1 / dt))
        relativeRate += (rate - relativeRate) * share
    }

    /// Clears the whole state, because the source of the joint angles has changed.
    @_noLocks
    mutating func reset() { self = JointMotion() }
}
