internal import CMathShim

extension LoopMargins {
    /// Computes the stability margins of one axis whose motor has no encoder, with the controller's
    /// assumed inertia and delay.
    ///
    /// The loop is cut at the requested moment, so the margins apply to an error of the gains. The
    /// rotor observer does not affect these margins, because the requested moment is also the
    /// observer's input. With a cut at the motor, the margins are smaller: 7.4 dB and 27° with the
    /// defaults. A motor that is stronger than assumed would also cause an error of the observer.
    ///
    /// - Parameters:
    ///   - field: Parameters of the controller of motors without encoders.
    ///   - axis: Axis of the camera.
    ///   - lead: Look-ahead of the attitude relative to the rate, s.
    ///   - filter: Filter of the measured rate.
    public init(
        of field: FieldController.Parameters, axis: GimbalAxis, lead: Double,
        filter: RateFilter.Axis = RateFilter.Axis()
    ) {
        self.init { omega in
            LoopMargins.response(of: field, axis: axis, omega: omega, lead: lead, filter: filter)
        }
    }

    /// Open-loop gain and phase (rad, -π...π) of one axis whose motor has no encoder, with the
    /// assumed inertia and delay; the parameters are those of the initializer.
    public static func response(
        of field: FieldController.Parameters, axis: GimbalAxis, omega: Double, lead: Double,
        filter: RateFilter.Axis = RateFilter.Axis()
    ) -> (gain: Double, phase: Double) {
        var rate = PIDController.Parameters()
        rate.kp = field.rateGain[axis]
        rate.ki = 0
        rate.kd = 0
        var shape = Shape()
        shape.attitudeLead = lead
        shape.filter = filter
        return response(
            omega: omega, attitudeGain: field.attitudeGain[axis], rate: rate,
            delay: field.loopDelay, shape: shape)
    }

    /// Computes the stability margins of one servo axis. The servos are modelled without dead band,
    /// with the delay and lag that the controller assumes.
    ///
    /// The loop is cut at the servo's command. The look-ahead reduces the margins. The gain of a
    /// servo is fixed; only its delay can be longer than assumed.
    ///
    /// - Parameters:
    ///   - servo: Parameters of the servos' controller.
    ///   - axis: Axis of the camera.
    ///   - lead: Look-ahead of the attitude relative to the rate, s.
    public init(
        of servo: ServoController.Parameters, axis: GimbalAxis, lead: Double
    ) {
        self.init { omega in
            let loop = LoopMargins.response(of: servo, axis: axis, omega: omega, lead: lead)
            return (loop.magnitude, loop.phase)
        }
    }

    /// Open-loop frequency response of one servo axis at `omega`, rad/s; the attitude leads the rate
    /// by `lead`, s.
    public static func response(
        of servo: ServoController.Parameters, axis: GimbalAxis, omega: Double,
        lead: Double
    ) -> Complex {
        let s = Complex(0, omega)
        let model =
            Complex(phase: -omega * (servo.delay + servo.sensorDelay))
            / Complex(1, omega * servo.lag)
        // Frequency response of the tracker with look-ahead, from the handle's attitude to the
        // predicted attitude.
        let w = servo.trackerBandwidth * servo.bandwidth[axis]
        let horizon = servo.sensorDelay + servo.delay + servo.lag
        typealias Shape = HandleTracker.Shape
        let rate = s * w * w / (s * s + s * (2 * Shape.damping * w) + Complex(w * w))
        let follow = Shape.follow * w
        let ahead =
            rate * (horizon * Shape.trust.rate)
            + rate * s * (0.5 * horizon * horizon * Shape.trust.acceleration)
        let predicted =
            (Complex(follow) + rate) / (s + Complex(follow)) + ahead * servo.lookAhead[axis]
        // Additional term for a loop gain other than 1. The loop gain does not apply to the
        // low-passed attitude error; therefore the term contains the high-pass `passing`.
        let lasting = ServoController.lastingSeconds
        let passing = s * lasting / (s * lasting + Complex(1))
        let surplus =
            passing * Complex(1, omega * lead) * (servo.loopGain[axis] - 1)
        return (predicted + surplus) * model / (Complex(1) - predicted * model)
    }
}
