import GimbalCore

/// Autotune of position servos. The method identifies delay and lag from the commanded angles and
/// the camera's rate.
///
/// The excitation signal is a commanded angle. The excitation's amplitude is much larger than the
/// dead band, and the excitation's rate is below the servos' largest rate.
struct ServoMethod: AutotuneMethod {
    let present: Stabilizer.Parameters
    let firstShare = 0.06
    let largestSwing = 0.07
    let doubtfulResidual = 0.1

    /// Tuning that strongly limits the servos' rate. With this limit, an oscillation decays, and
    /// the estimate of the handle's motion settles.
    var limp: Stabilizer.Parameters? {
        var limp = present
        limp.servo.maxRate = AxisVector(repeating: 0.3)
        limp.servo.lookAhead = .zero
        return limp
    }

    /// Tuning with very low gains, which is stable for every delay.
    var soft: Stabilizer.Parameters {
        var soft = present
        soft.servo.trackerBandwidth = 5
        soft.servo.bandwidth = AxisVector(repeating: 1)
        soft.servo.loopGain = AxisVector(repeating: 1)
        soft.servo.lookAhead = .zero
        return soft
    }

    /// Largest possible excitation: 5°, in rad. An autotune run uses only a fraction of this angle.
    func fullScale(_ axis: GimbalAxis) -> Double { 5 * .pi / 180 }

    /// Records the rate about the joint's axis. If the handle is upright, this rate equals the
    /// camera's rate about the camera's axis.
    func record(_ snapshot: StabilizerSnapshot, in record: inout ExcitationRecord) {
        let kinematics = JointKinematics(joints: snapshot.joints)
        record.append(
            input: snapshot.output.angle[record.axis],
            rate: kinematics.jointRates(relativeRate: snapshot.rate)[record.axis],
            joint: snapshot.joints[record.axis])
    }

    func identify(
        _ record: ExcitationRecord, inForce: Stabilizer.Parameters, tickRate: Double
    ) -> AutotuneRun.AxisResult? {
        // Each point of the frequency response is integrated from rate to angle.
        let points = record.response(tickRate: tickRate).map { point in
            var point = point
            point.response = point.response / Complex(0, point.omega)
            return point
        }
        guard let (model, residual) = ServoResponse.fit(points) else { return nil }
        let finding = AutotuneRun.ServoFinding(
            model: model,
            design: ServoDesign(
                present: present.servo, model: model, axis: record.axis, lead: lead))
        return AutotuneRun.AxisResult(
            axis: record.axis, points: points, finding: .servo(finding), residual: residual)
    }

    func trial(
        after tuning: Stabilizer.Parameters, with rough: AutotuneRun.AxisResult
    ) -> Stabilizer.Parameters {
        guard let found = rough.servo?.model else { return tuning }
        var trial = present
        for axis in GimbalAxis.allCases {
            trial.servo =
                ServoDesign(
                    present: trial.servo, model: found, axis: axis, lead: lead, speed: 0.6
                ).parameters
        }
        return trial
    }

    /// Proposes the tuning. All servos have one common model; the slowest axis determines the
    /// model.
    func proposal(_ results: [AutotuneRun.AxisResult]) -> Stabilizer.Parameters {
        var proposal = present
        let models = results.compactMap(\.servo?.model)
        guard let slowest = models.max(by: { $0.delay + $0.lag < $1.delay + $1.lag }) else {
            return proposal
        }
        for found in results {
            proposal.servo =
                ServoDesign(
                    present: proposal.servo, model: slowest, axis: found.axis, lead: lead
                ).parameters
        }
        return proposal
    }

    /// Look-ahead of the attitude relative to the rate, s.
    private var lead: Double { present.estimator.sensorDelay }
}
