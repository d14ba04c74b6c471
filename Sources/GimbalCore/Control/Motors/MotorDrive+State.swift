/// State of the motors as their controller knows it. Getters are inlined: to call it, the
/// compiler would copy all of this, some 12 kB, in every tick.
extension MotorDrive {
    /// The motors whose torque is limited because they are hot.
    var hot: AxisSet { @_noLocks @inline(__always) get { thermal.lowered } }

    /// The motors that were asked for more than they can give in the last step.
    var saturated: AxisSet {
        @_noLocks @inline(__always) get {
            switch type {
            case .torque: torque.saturated
            case .servo: servo.saturated
            case .field: field.saturated
            }
        }
    }

    /// The camera's axes whose gains are down because their motors have made it oscillate.
    var oscillating: AxisSet {
        @_noLocks @inline(__always) get {
            switch type {
            case .torque: torque.oscillating
            case .field: field.oscillating
            case .servo: servo.oscillating
            }
        }
    }

    /// The camera's axes whose inertia could not be found, and is looked for again later.
    var abandoned: AxisSet {
        @_noLocks @inline(__always) get {
            if case .torque = type { torque.abandoned } else { .none }
        }
    }

    /// The camera's axes whose given inertia belongs to another camera.
    var stale: AxisSet {
        @_noLocks @inline(__always) get { if case .torque = type { torque.stale } else { .none } }
    }

    /// The joints that answered the wrong way round in the last step: a motor or the sensor has the
    /// wrong sign.
    var reversed: AxisSet {
        @_noLocks @inline(__always) get {
            switch type {
            case .torque:
                var both = watch.reversed
                both.insert(torque.reversed)
                return both
            case .servo: return watch.reversed
            case .field: return .none
            }
        }
    }

    /// The motors without encoder that turn the other way than their field, or a handle that turns
    /// twice as fast as the camera looks like that.
    var mirrored: AxisSet {
        @_noLocks @inline(__always) get { if case .field = type { field.mirrored } else { .none } }
    }

    /// The joints that cannot be at these angles, rad. A servo's horn cannot be far beyond its
    /// range: started from there, it would jump.
    @_noLocks @inline(__always)
    func outOfReach(_ joints: AxisVector) -> AxisSet {
        guard case .servo = type else { return .none }
        let slack = AxisVector(repeating: 0.2)
        return JointRange(
            minimum: servo.parameters.minimum - slack, maximum: servo.parameters.maximum + slack
        ).outside(joints)
    }

    /// The rotors that have left their field, now or within a second.
    var slipping: AxisSet {
        @_noLocks @inline(__always) get { if case .field = type { field.slipping } else { .none } }
    }

    /// Source of `modelledJoints`.
    var modelSource: JointSource {
        @_noLocks @inline(__always) get {
            if case .field = type { .fieldAngle } else { .servoCommand }
        }
    }

    /// From a command of motors that exert a torque to the sample that shows it, as configured or
    /// found, s.
    var loopDelay: Double {
        @_noLocks @inline(__always) get {
            if case .field = type { field.parameters.loopDelay } else { torque.loopDelay }
        }
    }

    /// Whether a set-point can be followed: false while the inertia is being looked for.
    var isReady: Bool {
        @_noLocks @inline(__always) get {
            switch type {
            case .torque: torque.isReady
            case .servo: true
            case .field: field.isReady
            }
        }
    }

    /// Sliding friction of each joint as learned, N·m: of motors that exert torques.
    var friction: AxisVector {
        @_noLocks get { if case .torque = type { torque.learnedFriction } else { .zero } }
    }

    /// Moment of the feedback above 50 Hz about the camera's axes, N·m RMS, and how far each axis has become less stiff because of
    /// it, 0...1: of motors that exert torques.
    var hum: (rms: AxisVector, calm: AxisVector) {
        @_noLocks get {
            if case .torque = type { (torque.hum, torque.calm) } else { (.zero, .zero) }
        }
    }

    /// Mass times offset of the camera's centre of mass as learned, camera frame, kg·m.
    var imbalance: Vector3 {
        @_noLocks get { if case .torque = type { torque.learnedImbalance } else { .zero } }
    }

    /// The inertia about the camera's axes as found or configured, kg·m², and its standard
    /// deviation, natural logarithm; zero where the kind of motor does not need it.
    var inertia: (values: AxisVector, sigmas: AxisVector) {
        @_noLocks @inline(__always) get {
            switch type {
            case .torque: (torque.learnedInertia, torque.inertiaSigma)
            case .servo: (.zero, .zero)
            case .field: (field.inertia, field.inertiaSigma)
            }
        }
    }

    /// Torque that motors without encoders exerted when the gyroscope saw the camera as it is now, N·m;
    /// zero for others.
    var exerted: AxisVector {
        @_noLocks @inline(__always) get {
            if case .field = type { field.exerted } else { .zero }
        }
    }

    /// Joint rates of the servos' model, rad/s; zero for others.
    var servoRates: AxisVector {
        @_noLocks @inline(__always) get {
            if case .servo = type { servo.modelledRates } else { .zero }
        }
    }

    /// The torques whose mirror image in the camera's motion shows a wrong sign.
    var push: MotorEffect.Push {
        @_noLocks @inline(__always) get {
            switch type {
            case .torque: .told(torque.answer, planned: torque.planned)
            case .field: field.isPlaced ? .exerted(field.exerted) : .unknown
            case .servo: .unknown
            }
        }
    }

    /// The torques that motors without encoder are asked for, N·m, as far as their fields can give
    /// them; zero for others.
    var asked: AxisVector {
        @_noLocks @inline(__always) get {
            if case .field = type { field.asked } else { .zero }
        }
    }

    /// Joint angles of the motors' own model, rad; nil where the kind of motor has
    /// none.
    var modelledJoints: AxisVector? {
        @_noLocks @inline(__always) get {
            switch type {
            case .torque: nil
            case .servo: servo.modelledJoints
            case .field: field.modelledJoints
            }
        }
    }
}
