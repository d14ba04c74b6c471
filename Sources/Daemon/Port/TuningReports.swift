import Configuration
import Persistence
import Policy
import Port
import Wire

// Methods of `Tuning` for clients of the diagnostics socket: arguments are JSON values, results are
// messages of the module `Wire`.
extension Tuning {
    /// Effective gains and stability margins of the controllers.
    var controlStatus: ControlStatus {
        let report = report
        var status = ControlStatus()
        status.gains = report.gains.map {
            GainStatus($0.name, unit: $0.unit, AxisNumbers($0.values))
        }
        status.gainMarginDb = AxisNumbers(report.increaseDecibels)
        status.gainMarginDownDb = AxisNumbers(report.decreaseDecibels)
        status.phaseMarginDeg = AxisNumbers(report.phaseDegrees)
        status.warnings = report.warnings
        return status
    }

    /// Configuration files, unsaved changes, and changes that wait for a restart.
    var configurationStatus: ConfigurationStatus {
        let standing = standing
        var status = ConfigurationStatus()
        status.files = standing.store.files
        status.unsaved = standing.store.unsavedKeys
        status.needsRestart = standing.needsRestart
        status.ignored = standing.store.ignoredKeys
        status.overridden = standing.store.overriddenWiring
        return status
    }

    /// Every setting with its value and origin.
    func list() -> [Wire.Setting] {
        let standing = standing
        return Schema.settings.map {
            Wire.Setting($0, in: standing.store, rollback: standing.rollbackS(of: $0.key))
        }
    }

    /// Changes one setting that can take effect while the process runs.
    ///
    /// - Parameters:
    ///   - key: Dotted path of the setting, such as `imu.mounting_deg`.
    ///   - value: A JSON value, or a string with TOML.
    ///   - rollback: Seconds after which the change reverts, unless it has been saved.
    ///   - owner: Owner of the change.
    ///   - who: Author of the change, for the log.
    /// - Returns: The changed setting.
    /// - Throws: `Refusal` that names the invalid key or value; no setting has changed.
    func set(
        key: String, value: JSONValue, rollback: Double?, owner: ChangeOwner = .people,
        by who: String
    ) throws(Refusal) -> Wire.Setting {
        try set(
            key, to: RawValue(value), written: value.written, rollback: rollback, owner: owner,
            by: who)
        guard let setting = Schema.setting(key) else {
            throw Refusal(.unknownKey, "there is no setting \(key)", field: "key")
        }
        let standing = standing
        var reading = Wire.Setting(
            setting, in: standing.store, rollback: standing.rollbackS(of: key))
        if setting.affectsMargins { reading.warning = report.warning }
        return reading
    }

    /// Lists the settings that differ from their default or from their saved value, and those with a
    /// temporary change.
    ///
    /// - Parameter lasting: True to exclude an assistant's temporary change.
    /// - Returns: The settings, in the order of the schema.
    func diff(lasting: Bool = false) -> [SettingChange] {
        let standing = standing
        let store = lasting ? standing.lasting : standing.store
        // The value of a temporary change can be equal to the saved value. Then it also reverts.
        let reverting = standing.reverting(in: store.settings)
        return store.changes(with: reverting).map { change in
            let isUnsaved = change.value != change.saved || reverting.contains(change.key)
            return SettingChange(
                key: change.key, defaultValue: JSONValue(change.defaultValue),
                savedValue: JSONValue(change.saved), value: JSONValue(change.value),
                origin: change.origin.description, isUnsaved: isUnsaved,
                rollbackS: isUnsaved
                    ? standing.rollbackS(of: change.key).map { Number($0) } : nil)
        }
    }

    /// Lists, stores, restores or deletes named baselines. An assistant cannot overwrite a
    /// baseline.
    func baseline(
        _ request: BaselineRequest, owner: ChangeOwner = .people, by who: String,
        _ done: @escaping Later<BaselineReport>
    ) {
        switch request {
        case .list: done(.success(baselines("")))
        case .store(let name):
            storeBaseline(name, owner: owner, by: who) { result in
                done(
                    result.map { self.baselines("The present tuning is stored as \(name).") })
            }
        case .next: done(used(nil, owner: owner, by: who))
        case .delete(let name):
            deleteBaseline(name, by: who) { result in
                done(result.map { self.baselines("The tuning \(name) is deleted.") })
            }
        case .restore(let name): done(used(name, owner: owner, by: who))
        }
    }

    /// Applies the values of a baseline; nil selects the next one.
    private func used(
        _ name: String?, owner: ChangeOwner, by who: String
    ) -> Result<BaselineReport, Refusal> {
        Result { () throws(Refusal) in baselines(try useProfile(name, owner: owner, by: who)) }
    }

    private func baselines(_ sentence: String) -> BaselineReport {
        BaselineReport(
            names: stateOwner.saved.baselineNames, active: profile, sentence: sentence)
    }
}

extension ChangeHistory {
    /// The history of changes for a client, oldest first.
    var entries: [HistoryEntry] {
        saved.map { HistoryEntry(time: Number($0.time), who: $0.who, what: $0.what) }
    }
}

extension Wire.ReloadReport {
    /// Creates the report of a reload. A sentence in the report describes the outcome.
    init(_ report: Configuration.ReloadReport) {
        self.init(
            applied: report.applied, needsRestart: report.needsRestart, sentence: report.sentence)
    }
}
