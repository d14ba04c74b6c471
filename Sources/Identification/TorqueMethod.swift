import GimbalCore

/// Autotune of torque motors. The method identifies inertia, delay and friction from the moment and
/// the camera's rate, and designs the gains.
struct TorqueMethod: AutotuneMethod {
    let present: Stabilizer.Parameters
    let firstShare = 0.015
    let largestSwing = 0.04
    let doubtfulResidual = 0.5

    private var controller: AttitudeController.Parameters { present.controller }

    /// Tuning that limits the torque to 2 % of the motors' limit.
    var limp: Stabilizer.Parameters? {
        var limp = soft
        limp.controller.torqueLimit = controller.torqueLimit * 0.02
        return limp
    }

    var soft: Stabilizer.Parameters {
        var soft = present
        soft.controller.attitudeGain = AxisVector(repeating: 1.2)
        soft.controller.rateGain = AxisVector(repeating: 10)
        soft.controller.rateIntegralGain = AxisVector(repeating: 8)
        soft.controller.rateDerivativeGain = .zero
        // The motor's largest torque accelerates the assumed inertia by 100 rad/s², as in the
        // default plant.
        soft.controller.inertia = controller.torqueLimit * 0.01
        soft.controller.frictionLearningRate = 0
        // The probe of a fast loop replaces the assumed inertia, which is not a configured one.
        soft.controller.findsInertia = controller.checksInertia
        return soft
    }

    func fullScale(_ axis: GimbalAxis) -> Double { controller.torqueLimit[axis] }

    func record(_ snapshot: StabilizerSnapshot, in record: inout ExcitationRecord) {
        let kinematics = JointKinematics(joints: snapshot.joints)
        record.append(
            input: kinematics.moment(torques: snapshot.output.torque)[record.axis],
            rate: snapshot.rate[record.axis], joint: snapshot.joints[record.axis],
            turn: snapshot.jointSource == .encoders
                ? kinematics.jointRates(relativeRate: snapshot.rate)[record.axis] : nil)
        record.sampleWait = snapshot.sampleWait
    }

    func identify(
        _ record: ExcitationRecord, inForce: Stabilizer.Parameters, tickRate: Double
    ) -> AutotuneRun.AxisResult? {
        let points = record.response(tickRate: tickRate)
        guard let (model, residual) = PlantModel.fit(points) else { return nil }
        let friction = record.friction(model: model, tickRate: tickRate)
        let finding = AutotuneRun.MotorFinding(
            model: model, coulomb: friction.coulomb, viscous: friction.viscous,
            design: design(model.inertia, model.delay, record.axis),
            loopDelay: max(model.delay - record.sampleWait, Self.shortestDelay),
            gyroDelay: record.gyroDelay(tickRate: tickRate))
        return AutotuneRun.AxisResult(
            axis: record.axis, points: points, finding: .motor(finding), residual: residual)
    }

    func trial(
        after tuning: Stabilizer.Parameters, with rough: AutotuneRun.AxisResult
    ) -> Stabilizer.Parameters {
        guard let found = rough.motor else { return tuning }
        var trial = tuning
        trial.controller.findsInertia = false
        design(found.model.inertia, found.loopDelay, rough.axis, speed: 0.7)
            .apply(to: &trial.controller, rough.axis)
        trial.controller.loopDelay = found.loopDelay
        // The measured delay contains the true wait of the samples.
        trial.controller.assumedWait = 0
        return trial
    }

    /// Proposes the tuning. The delay and the corner frequency of the derivative are common to all
    /// axes. If all axes are tuned, the slowest axis determines both. Otherwise both remain, and
    /// the gains are those for the remaining delay: if the probe then measures a longer delay, the
    /// controller reduces the gains of all axes. Without a probe (loops below 200 Hz), nothing would
    /// reduce them later, so a longer measured delay applies to all axes, and the gains of the axes
    /// that were not tuned are scaled to this delay (see `GainDesign`).
    func proposal(_ results: [AutotuneRun.AxisResult]) -> Stabilizer.Parameters {
        var proposal = present
        let slowest = results.compactMap(\.motor?.loopDelay).max() ?? controller.loopDelay
        let isLater =
            !controller.checksInertia
            && slowest > controller.loopDelay - controller.assumedWait
        let isCommon = results.count == GimbalAxis.allCases.count || isLater
        let delay = isCommon ? slowest : controller.loopDelay
        let designs = results.compactMap { found in
            found.motor.map { (found.axis, design($0.model.inertia, delay, found.axis)) }
        }
        // The axis with the strongest rate filter has the lowest corner frequency. The gains of the
        // other axes must suit this frequency.
        let cutoff = isCommon ? designs.map { $0.1.derivativeCutoffHz }.min() : nil
        for (axis, own) in designs {
            let isSuitable = cutoff == nil || own.derivativeCutoffHz == cutoff
            let suitable =
                isSuitable ? own : design(own.inertia, delay, axis, cutoffHz: cutoff)
            suitable.apply(to: &proposal.controller, axis)
        }
        let stretch = min(1, controller.loopDelay / delay)
        for axis in GimbalAxis.allCases where !designs.contains(where: { $0.0 == axis }) {
            proposal.controller.attitudeGain[axis] *= stretch
            proposal.controller.rateGain[axis] *= stretch
            proposal.controller.rateIntegralGain[axis] *= stretch * stretch
        }
        proposal.controller.findsInertia = false
        proposal.controller.loopDelay = delay
        if isCommon { proposal.controller.assumedWait = 0 }
        if !isCommon { proposal.controller.derivativeCutoffHz = controller.derivativeCutoffHz }
        let friction = results.compactMap(\.motor?.coulomb).filter(\.isFinite).max() ?? 0
        // The controller compensates at most half of the smallest torque limit.
        let limits = controller.torqueLimit
        let largest = min(limits.yaw, limits.roll, limits.pitch) / 2
        proposal.controller.frictionLimit = max(
            controller.frictionLimit, min((friction * 2e3).rounded() / 1e3, largest))
        return proposal
    }

    /// Shortest loop delay of a proposal, s: half a period of a loop at 1 kHz.
    private static let shortestDelay = 0.0005

    private func design(
        _ inertia: Double, _ delay: Double, _ axis: GimbalAxis, speed: Double = 1,
        cutoffHz: Double? = nil
    ) -> GainDesign {
        GainDesign(
            inertia: inertia, delay: delay, lead: present.estimator.sensorDelay,
            filter: present.rateFilter[axis], speed: speed, cutoffHz: cutoffHz)
    }
}
