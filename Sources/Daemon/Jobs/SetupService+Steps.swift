import Configuration
import GimbalCore
import Identification
import Policy
import Port
import Realtime
import Wire

// The steps `chips`, `joints` and `balance` of the set-up.
extension SetupService {
    // MARK: Joints

    /// Refuses a step while new settings of the motors wait for a restart of airframed.
    func requireActiveWiring() throws(Refusal) {
        guard tuning.standing.store.hasWaitingWiring else { return }
        throw Refusal(
            .refused,
            "The new settings of the motors take effect after a restart: restart airframed first.")
    }

    /// Refuses a step while encoders do not measure the joints, if the motors need encoders.
    ///
    /// - Returns: True if encoders measure the joints.
    @discardableResult
    func requireEncoders() throws(Refusal) -> Bool {
        if case .encoders? = hub.view?.record.snapshot.jointSource { return true }
        guard tuning.settings.motors.type != .torque else {
            throw Refusal(
                .refused,
                "The encoders do not measure the joints; `airframectl doctor` shows the cause. Torque control of brushless motors needs encoders."
            )
        }
        return false
    }

    /// Creates the measurement of the joints that is possible with the configured motors and
    /// encoders.
    func jointRun() throws(Refusal) -> JointRangeRun {
        guard !calibration.status().isRunning else {
            throw Refusal(
                .busy, "A calibration is running; `airframectl calibrate cancel` ends it.")
        }
        let isMeasured = try requireEncoders()
        let settings = tuning.settings
        let axes = settings.motorisedAxes
        guard !axes.isEmpty else {
            throw Refusal(
                .refused,
                "No motors are configured; set hardware.linux.motors and restart airframed.")
        }
        return JointRangeRun(axes: axes, settings: settings, isByHand: isMeasured)
    }

    /// Saves the result of the step `joints`.
    func conclude(_ run: JointRangeRun, _ who: String) {
        let settings = tuning.settings
        let updates = settings.updates(for: run.findings)
        var result = Result()
        for axis in GimbalAxis.allCases {
            guard let finding = run.findings[axis] else { continue }
            let degrees = 180 / Double.pi
            if finding.isEndless {
                result.values.append(SetupValue("\(axis.name) without an end", 360, "°"))
            } else {
                result.values.append(SetupValue("\(axis.name) from", finding.lower * degrees, "°"))
                result.values.append(SetupValue("\(axis.name) to", finding.upper * degrees, "°"))
            }
            if run.isByHand {
                result.values.append(SetupValue("encoder \(axis.name)", finding.direction, ""))
            }
        }
        result.changes = changes(updates, settings)
        let isReversed = run.findings.values.contains { $0.direction < 0 }
        result.sentence =
            updates.isEmpty
            ? "The measured ranges of the joints agree with the settings."
            : isReversed
                ? "The new settings are saved. Restart airframed, then run the step again to check them: sudo systemctl restart airframed."
                : "The new ranges are saved. They take effect when airframed restarts: sudo systemctl restart airframed."
        finish(.joints, result, updates, isChecked: !isReversed, who: who)
    }

    /// The old and new values of the changed settings, for the report.
    func changes(_ updates: [SettingUpdate], _ settings: Settings) -> [SetupChange] {
        updates.map { update in
            let old = Schema.setting(update.key)?.value(in: settings).tomlText ?? ""
            return SetupChange(key: update.key, old: old, new: update.valueText)
        }
    }

    // MARK: Chips and balance

    func checkChips(_ who: String) throws(Refusal) {
        guard let record = hub.view?.record, record.snapshot.samples.accepted > 0 else {
            return fail(
                .chips, "no_samples",
                "The sensor has not delivered a sample. `airframectl doctor` names the problem, and `airframectl hardware` searches the buses and proposes the section hardware of the configuration file."
            )
        }
        let rate = hub.view?.sampleRate ?? .nan
        finish(
            .chips,
            Result(
                sentence: "The sensor delivers samples.",
                values: [SetupValue("samples", rate, "1/s")]), who: who)
    }

    func checkBalance(_ who: String) throws(Refusal) {
        let settings = tuning.settings
        guard let snapshot = hub.view?.record.snapshot, snapshot.output.enabled else {
            throw Refusal(
                .inactive,
                "The motors are off: run the step \"locked\" first. Without the motors, check by hand that the camera stays where you release it, then confirm the step: airframectl setup confirm balance."
            )
        }
        guard settings.motors.type != .servo, snapshot.imbalance != .zero else {
            throw Refusal(
                .refused,
                "These motors do not measure the imbalance. Check by hand that the camera stays where you release it, then confirm the step: airframectl setup confirm balance."
            )
        }
        let limit = settings.motors.torqueLimitNm
        let verdict = BalanceVerdict(
            imbalance: snapshot.imbalance, torque: min(limit.yaw, limit.roll, limit.pitch))
        guard verdict.sentences.isEmpty else {
            return fail(
                .balance, "unbalanced", verdict.sentences.joined(separator: " "), verdict.values)
        }
        finish(
            .balance, Result(sentence: BalanceVerdict.balanced, values: verdict.values), who: who)
    }
}
