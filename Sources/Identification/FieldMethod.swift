import GimbalCore

/// Autotune of motors without encoders. The method identifies inertia and delay from the exerted
/// torque and the camera's rate.
///
/// The exerted torque is computed from the angle of the magnetic field and the rotor's position;
/// the joint's motion gives the rotor's position. The commanded torque cannot be the input of the
/// identification. If the assumed inertia is wrong, the exerted torque contains corrections by the
/// rotor observer. The observer's corrections would distort the response below the observer's
/// bandwidth.
struct FieldMethod: AutotuneMethod {
    let present: Stabilizer.Parameters
    let firstShare = 0.03
    let largestSwing = 0.04
    let doubtfulResidual = 0.25

    private var controller: FieldController.Parameters { present.field }

    /// Always nil, because the controller has no integrals that must be reset.
    var limp: Stabilizer.Parameters? { nil }

    /// Gains and observer bandwidth for which the loop is stable with any inertia. With the tuning
    /// `soft`, a short excitation first identifies the inertia, unless the inertia is already
    /// identified.
    var soft: Stabilizer.Parameters {
        var soft = present
        soft.field.attitudeGain = AxisVector(repeating: 3)
        soft.field.rateGain = AxisVector(repeating: 15)
        soft.field.observerBandwidth = AxisVector(repeating: 15)
        soft.field.probesInertia = true
        return soft
    }

    /// Full scale of the excitation: the torque at the configured holding power. More power would
    /// change the properties of the motor during the measurement.
    func fullScale(_ axis: GimbalAxis) -> Double {
        controller.peakTorque[axis] * controller.power
    }

    func record(_ snapshot: StabilizerSnapshot, in record: inout ExcitationRecord) {
        let kinematics = JointKinematics(joints: snapshot.joints)
        record.append(
            input: kinematics.moment(torques: snapshot.exerted)[record.axis],
            rate: snapshot.rate[record.axis], joint: snapshot.joints[record.axis])
    }

    func identify(
        _ record: ExcitationRecord, inForce: Stabilizer.Parameters, tickRate: Double
    ) -> AutotuneRun.AxisResult? {
        // The recorded moment is delayed by the loop delay that the controller assumes. Therefore
        // the response is corrected for this delay.
        let configured = inForce.field.loopDelay
        let points = record.response(tickRate: tickRate).map { point in
            var point = point
            point.response = point.response * Complex(phase: -point.omega * configured)
            return point
        }
        guard let (model, residual) = PlantModel.fit(points) else { return nil }
        var late = model
        late.delay -= configured
        let friction = record.friction(model: late, tickRate: tickRate)
        let finding = AutotuneRun.MotorFinding(
            model: model, coulomb: friction.coulomb, viscous: friction.viscous,
            design: GainDesign(
                field: model.inertia, delay: model.delay,
                lead: present.estimator.sensorDelay, filter: present.rateFilter[record.axis]),
            loopDelay: model.delay)
        return AutotuneRun.AxisResult(
            axis: record.axis, points: points, finding: .motor(finding), residual: residual)
    }

    func trial(
        after tuning: Stabilizer.Parameters, with rough: AutotuneRun.AxisResult
    ) -> Stabilizer.Parameters {
        guard let found = rough.motor?.model else { return tuning }
        var trial = tuning
        put(found, into: &trial.field, rough.axis, delay: found.delay, speed: 0.7)
        return trial
    }

    /// Proposes the tuning. All axes use the same delay, and therefore the same speed of the loop.
    /// If the run tunes all axes, the delay of the slowest axis applies to every axis.
    func proposal(_ results: [AutotuneRun.AxisResult]) -> Stabilizer.Parameters {
        var proposal = present
        let slowest = results.compactMap(\.motor?.model.delay).max() ?? controller.loopDelay
        let isWhole = results.count == GimbalAxis.allCases.count
        let delay = isWhole ? slowest : max(slowest, controller.loopDelay)
        for found in results {
            guard let model = found.motor?.model else { continue }
            put(model, into: &proposal.field, found.axis, delay: delay)
        }
        return proposal
    }

    private func put(
        _ model: PlantModel, into field: inout FieldController.Parameters, _ axis: GimbalAxis,
        delay: Double, speed: Double = 1
    ) {
        let tuned = FieldController.Parameters().stretched(to: delay)
        field.probesInertia = false
        field.inertia[axis] = model.inertia
        field.attitudeGain[axis] = tuned.attitudeGain[axis] * speed
        field.rateGain[axis] = tuned.rateGain[axis] * speed
        field.observerBandwidth[axis] = tuned.observerBandwidth[axis] * speed
        field.loopDelay = delay
    }
}
