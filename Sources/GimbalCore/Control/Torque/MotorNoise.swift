internal import CMathShim

/// Measures the motors' noise that comes from the gyroscope, and trades stiffness for silence where it exceeds its bound.
///
/// Torque is acceleration times inertia, and the sensor's noise is the same for every camera: a heavy camera hums, warms its motors
/// and empties its battery for a stiffness that it does not need, because friction and cables move it less. Each axis has a calm share
/// of its own, 0...1, along which `LoopMargins` keeps 6 dB and 45°: at 0 the loop is as stiff as it was tuned, at 1 it has no
/// `LagCompensator`, a quarter of the noise, and gives way to a push by 1.8 times as much. Half of the noise costs 1.35.
///
/// Loop thread only; constant time, no allocation.
struct MotorNoise: Sendable, BitwiseCopyable {
    /// Calm share of each of the camera's axes, 0...1, in steps of 1/32.
    private(set) var calm = AxisVector.zero
    /// Moment of the feedback above 50 Hz about each of the camera's axes, N·m RMS over about a second.
    var rms: AxisVector {
        @_noLocks get {
            AxisVector(
                yaw: cm_sqrt(square.yaw), roll: cm_sqrt(square.roll), pitch: cm_sqrt(square.pitch))
        }
    }

    private var low = AxisVector.zero
    private var square = AxisVector.zero
    /// The camera's rate below 50 Hz, rad/s, and the squares of that and of what is above.
    private var lowRate = AxisVector.zero
    private var slowRateSquare = AxisVector.zero
    private var fastRateSquare = AxisVector.zero
    /// Calm shares before they are rounded.
    private var exact = AxisVector.zero
    /// For how long the feedback has been measured without a break, s.
    private var measured = 0.0

    /// Factors of the gains and of the derivative's corner at a calm share.
    struct Share: Sendable {
        var attitude: Double
        var rate: Double
        var integral: Double
        var derivative: Double
        var cutoff: Double

        /// - Parameter calm: 0...1.
        @_noLocks
        init(calm: Double) {
            attitude = cm_exp(-0.32 * calm)
            rate = cm_exp(-0.343 * calm)
            integral = cm_exp(-0.257 * calm)
            derivative = cm_exp(-0.08 * calm)
            cutoff = cm_exp(-0.575 * calm)
        }
    }

    /// Above which torque is noise, rad/s.
    private static var corner: Double { @_noLocks get { 2 * .pi * 50 } }
    /// Over which it is measured, s.
    private static var memory: Double { @_noLocks get { 1 } }
    /// Rate at which calm grows and shrinks, 1/s.
    private static var pace: Double { @_noLocks get { 0.2 } }
    /// Share of the bound below which an axis may become stiffer again: less than a step of the calm share changes.
    private static var enough: Double { @_noLocks get { 0.75 } }
    /// Largest mean square of the rate below 50 Hz against that of the rate above.
    private static var stillness: Double { @_noLocks get { 4 } }
    private static var steps: Double { @_noLocks get { 32 } }

    /// A stiff loop.
    @_noLocks
    init() {}

    /// One period with full authority and no probe.
    ///
    /// - Parameters:
    ///   - feedback: About the camera's axes, N·m.
    ///   - rate: Camera's rate beside the set-point's, camera frame, rad/s.
    ///   - bound: RMS above which an axis becomes calmer, N·m; 0: no bound, as stiff as tuned.
    ///   - dt: Seconds since the previous call, more than 0.
    /// - Returns: Whether a calm share has changed.
    @_noLocks
    mutating func step(
        feedback: Vector3, rate: Vector3, bound: AxisVector, dt: Double
    ) -> Bool {
        let moment = AxisVector(yaw: feedback.z, roll: feedback.x, pitch: feedback.y)
        let turn = AxisVector(yaw: rate.z, roll: rate.x, pitch: rate.y)
        let share = Self.corner * dt / (1 + Self.corner * dt)
        low = low + (moment - low) * share
        lowRate = lowRate + (turn - lowRate) * share
        let fresh = dt / (Self.memory + dt)
        Self.mean(&square, moment - low, fresh)
        Self.mean(&slowRateSquare, lowRate, fresh)
        Self.mean(&fastRateSquare, turn - lowRate, fresh)
        measured += dt
        guard measured > Self.memory else { return false }
        adapt(.yaw, bound, dt: dt)
        adapt(.roll, bound, dt: dt)
        adapt(.pitch, bound, dt: dt)
        let before = calm
        Self.round(&calm.yaw, exact.yaw)
        Self.round(&calm.roll, exact.roll)
        Self.round(&calm.pitch, exact.pitch)
        return !(calm == before)
    }

    /// A probe, the start or an oscillation moves the motors: what they do now is not noise.
    @_noLocks
    mutating func pause() { measured = 0 }

    private static func mean(_ square: inout AxisVector, _ value: AxisVector, _ fresh: Double) {
        square.yaw += (value.yaw * value.yaw - square.yaw) * fresh
        square.roll += (value.roll * value.roll - square.roll) * fresh
        square.pitch += (value.pitch * value.pitch - square.pitch) * fresh
    }

    private mutating func adapt(_ axis: GimbalAxis, _ bounds: AxisVector, dt: Double) {
        let (bound, square) = (bounds[axis], square[axis])
        if bound <= 0 {
            exact[axis] = 0
        } else if square > bound * bound {
            // A camera that turns more than its gyroscope rustles needs its stiffness, and its torque has another cause.
            let isStill = slowRateSquare[axis] < Self.stillness * fastRateSquare[axis]
            if isStill { exact[axis] = min(1, exact[axis] + Self.pace * dt) }
        } else if square < Self.enough * Self.enough * bound * bound {
            exact[axis] = max(0, exact[axis] - Self.pace * dt)
        }
    }

    private static func round(_ calm: inout Double, _ exact: Double) {
        // A value at the edge of a step does not go back and forth.
        if abs(exact - calm) * steps >= 1 || exact == 0 || exact == 1 {
            calm = cm_floor(exact * steps + 0.5) / steps
        }
    }
}
