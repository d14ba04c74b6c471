internal import CMathShim

/// Measurement of the motor noise due to the gyroscope's noise. If the motor noise exceeds its
/// bound, the stiffness of the loop is reduced.
///
/// The feedback torque is a commanded acceleration times the inertia. The gyroscope's noise in the
/// commanded acceleration is the same for every camera, so the noise torque is proportional to the
/// inertia. With a heavy camera, the motors would therefore be audible, become warm and drain the
/// battery. A heavy camera does not need the full stiffness, because friction and cables move a
/// heavy camera less. `softening` is the stiffness reduction of each axis, 0...1. If `softening` is
/// 0, the loop is as stiff as tuned. If `softening` is 1, the loop has no `LagCompensator`: the
/// motor noise is reduced to a quarter, and the response to a push is 1.8 times as large. If the
/// motor noise is reduced to half, the response to a push is 1.35 times as large. The loop has
/// margins of 6 dB and 45° (`LoopMargins`) at every stiffness reduction. In a loop that is too slow
/// for the compensator, the reduction is therefore always 1; otherwise the margins would be 3.5 dB
/// and 41°.
///
/// Runs on the loop thread only, in constant time and without allocation.
struct MotorNoise: Sendable, BitwiseCopyable {
    /// Stiffness reduction of each camera axis, 0...1, in steps of 1/32.
    private(set) var softening = AxisVector.zero
    /// RMS of the feedback torque about each camera axis, high-passed at 50 Hz, over about 1 s,
    /// N·m.
    var rms: AxisVector {
        @_noLocks get {
            AxisVector(
                yaw: cm_sqrt(square.yaw), roll: cm_sqrt(square.roll), pitch: cm_sqrt(square.pitch))
        }
    }

    private var low = AxisVector.zero
    private var square = AxisVector.zero
    /// Camera's rate, low-passed at 50 Hz, rad/s.
    private var lowRate = AxisVector.zero
    /// Mean square of the camera's rate, low-passed at 50 Hz, (rad/s)².
    private var slowRateSquare = AxisVector.zero
    /// Mean square of the camera's rate, high-passed at 50 Hz, (rad/s)².
    private var fastRateSquare = AxisVector.zero
    /// Stiffness reduction of each axis before rounding to steps of 1/32.
    private var exact = AxisVector.zero
    /// Time since the beginning or the last interruption of the noise measurement, s.
    private var measured = 0.0

    /// Scale factors for the gains and for the derivative's corner frequency, for one level of
    /// stiffness reduction.
    struct Share: Sendable {
        var attitude: Double
        var rate: Double
        var integral: Double
        var derivative: Double
        var cutoff: Double

        /// Natural logarithms of the scale factors at the full stiffness reduction. With these
        /// factors, the loop keeps margins of 6 dB and 45° at every reduction.
        private static var exponents: Share {
            @_noLocks get {
                Share(
                    attitude: -0.32, rate: -0.343, integral: -0.257, derivative: -0.08,
                    cutoff: -0.575)
            }
        }

        @_noLocks
        private init(
            attitude: Double, rate: Double, integral: Double, derivative: Double, cutoff: Double
        ) {
            self.attitude = attitude
            self.rate = rate
            self.integral = integral
            self.derivative = derivative
            self.cutoff = cutoff
        }

        /// Creates the scale factors for a level of stiffness reduction.
        ///
        /// - Parameter softening: Stiffness reduction, 0...1.
        @_noLocks
        init(softening: Double) {
            attitude = cm_exp(Self.exponents.attitude * softening)
            rate = cm_exp(Self.exponents.rate * softening)
            integral = cm_exp(Self.exponents.integral * softening)
            derivative = cm_exp(Self.exponents.derivative * softening)
            cutoff = cm_exp(Self.exponents.cutoff * softening)
        }
    }

    /// Frequency above which torque counts as noise, rad/s.
    private static var corner: Double { @_noLocks get { 2 * .pi * 50 } }
    /// Time constant of the noise measurement, s.
    private static var memory: Double { @_noLocks get { 1 } }
    /// Rate at which the stiffness reduction rises and falls, 1/s.
    private static var pace: Double { @_noLocks get { 0.2 } }
    /// Hysteresis threshold, as a fraction of the noise limit; below this threshold, an axis
    /// becomes stiffer again. One step of the stiffness reduction changes the noise by less than a
    /// quarter of the limit, so the reduction does not alternate between two steps.
    private static var enough: Double { @_noLocks get { 0.75 } }
    /// Largest ratio of the rate's mean squares below and above 50 Hz in a still camera.
    private static var stillness: Double { @_noLocks get { 4 } }
    private static var steps: Double { @_noLocks get { 32 } }

    /// Creates the state of a loop without stiffness reduction.
    @_noLocks
    init() {}

    /// Measures the noise in one control period, and adapts the stiffness reduction. The motors
    /// must receive the full output, and no probe may be active.
    ///
    /// - Parameters:
    ///   - feedback: Feedback torque about the camera's axes, N·m.
    ///   - rate: Camera's rate relative to the set-point's rate, camera frame, rad/s.
    ///   - bound: Bound of each axis's noise, N·m RMS, above which the stiffness is reduced; 0
    ///     means no bound.
    ///   - isCompensated: False if the loop is too slow for a `LagCompensator`.
    ///   - dt: Seconds since the previous call, more than 0.
    /// - Returns: True if the stiffness reduction has changed on any axis.
    @_noLocks
    mutating func step(
        feedback: Vector3, rate: Vector3, bound: AxisVector, isCompensated: Bool, dt: Double
    ) -> Bool {
        let moment = feedback.perAxis
        let turn = rate.perAxis
        let share = Self.corner * dt / (1 + Self.corner * dt)
        low = low + (moment - low) * share
        lowRate = lowRate + (turn - lowRate) * share
        let fresh = dt / (Self.memory + dt)
        Self.mean(&square, moment - low, fresh)
        Self.mean(&slowRateSquare, lowRate, fresh)
        Self.mean(&fastRateSquare, turn - lowRate, fresh)
        measured += dt
        if !isCompensated {
            exact = AxisVector(repeating: 1)
        } else if measured > Self.memory {
            adapt(.yaw, bound, dt: dt)
            adapt(.roll, bound, dt: dt)
            adapt(.pitch, bound, dt: dt)
        }
        let before = softening
        Self.round(&softening.yaw, exact.yaw)
        Self.round(&softening.roll, exact.roll)
        Self.round(&softening.pitch, exact.pitch)
        return !(softening == before)
    }

    /// Interrupts the noise measurement during a start-up, a probe or an oscillation.
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
            // If the camera moves more than the gyroscope's noise can explain, the torque is a
            // response to this motion, and the full stiffness is needed.
            let isStill = slowRateSquare[axis] < Self.stillness * fastRateSquare[axis]
            if isStill { exact[axis] = min(1, exact[axis] + Self.pace * dt) }
        } else if square < Self.enough * Self.enough * bound * bound {
            exact[axis] = max(0, exact[axis] - Self.pace * dt)
        }
    }

    private static func round(_ softening: inout Double, _ exact: Double) {
        // A hysteresis prevents alternation between two steps.
        if abs(exact - softening) * steps >= 1 || exact == 0 || exact == 1 {
            softening = cm_floor(exact * steps + 0.5) / steps
        }
    }
}
