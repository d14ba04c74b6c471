/// Setting with its value, unit, range and meaning.
public struct Setting: Hashable, Sendable, Codable {
    /// Dotted key as in the TOML file.
    public var key: String
    /// Effective value.
    public var value: JSONValue
    /// Default value.
    public var defaultValue: JSONValue
    /// Origin of the value: `default`, `FILE:LINE`, `--set`, `saved` or `live`.
    public var origin: String
    /// Type of the value: `bool`, `integer`, `number`, `choice` (one of the words in `range`),
    /// `text`, `path`, `endpoint`, or an array: `triple` (yaw, roll, pitch), `signs`, `ranges`,
    /// `notches`, `bindings`, `pid`.
    public var type: String
    /// Unit of the setting for display; empty without a unit.
    public var unit: String
    /// Permitted values of the setting as text, such as "50...4000" or "locked, inactive".
    public var range: String
    /// Meaning of the setting, in one sentence.
    public var summary: String
    /// True if a change takes effect immediately; false if it takes effect at the next start.
    public var isLive: Bool
    /// Time until a live change reverts, s; absent unless a temporary change is active.
    public var rollbackS: Number?
    /// Warning about the effect of a change, as text for the user; absent if there is none.
    public var warning: String?
    /// Temporary change that an assistant can make: `any` (every value in the range), `lower` or
    /// `raise` (a lower or a higher value than people have chosen); absent if an assistant cannot
    /// change the setting.
    public var assistant: String?

    enum CodingKeys: String, CodingKey {
        case key, value, origin, type, unit, range, summary, warning, assistant,
            defaultValue = "default",
            isLive = "live", rollbackS
    }

    /// Creates a setting.
    public init(
        key: String, value: JSONValue, defaultValue: JSONValue, origin: String, type: String = "",
        unit: String = "", range: String = "", summary: String = "", isLive: Bool = true,
        rollbackS: Number? = nil, assistant: String? = nil
    ) {
        self.assistant = assistant
        self.key = key
        self.value = value
        self.defaultValue = defaultValue
        self.origin = origin
        self.type = type
        self.unit = unit
        self.range = range
        self.summary = summary
        self.isLive = isLive
        self.rollbackS = rollbackS
    }
}

/// A setting with a temporary change, or with a value that differs from its default or from its saved
/// value.
public struct SettingChange: Hashable, Sendable, Codable {
    /// Dotted key of the setting, as in the TOML file.
    public var key: String
    /// Default value of the setting.
    public var defaultValue: JSONValue
    /// Saved value: takes effect at the next start, unless the effective value is saved first.
    public var savedValue: JSONValue
    /// Effective value of the setting.
    public var value: JSONValue
    /// Origin of the effective value.
    public var origin: String
    /// True if the effective value is not saved. An unsaved value is lost at the next start. Also
    /// true for a temporary change to the saved value, which reverts to another value.
    public var isUnsaved: Bool
    /// Time until the change reverts, s; absent unless a temporary change is active.
    public var rollbackS: Number?

    enum CodingKeys: String, CodingKey {
        case key, value, origin, defaultValue = "default", savedValue = "saved",
            isUnsaved = "unsaved", rollbackS
    }

    /// Creates a change.
    public init(
        key: String, defaultValue: JSONValue, savedValue: JSONValue, value: JSONValue,
        origin: String, isUnsaved: Bool, rollbackS: Number? = nil
    ) {
        self.key = key
        self.defaultValue = defaultValue
        self.savedValue = savedValue
        self.value = value
        self.origin = origin
        self.isUnsaved = isUnsaved
        self.rollbackS = rollbackS
    }
}

/// Result of a reload of the configuration files.
public struct ReloadReport: Hashable, Sendable, Codable {
    /// Keys whose new value is already active.
    public var applied: [String]
    /// Keys whose new value takes effect after a restart.
    public var needsRestart: [String]
    /// Result of the reload as a sentence.
    public var sentence: String

    /// Creates a report.
    public init(applied: [String], needsRestart: [String], sentence: String) {
        self.applied = applied
        self.needsRestart = needsRestart
        self.sentence = sentence
    }
}

/// List of the stored baselines (named sets of settings): the answer to `baseline`.
public struct BaselineReport: Hashable, Sendable, Codable {
    /// Names of baselines that can be restored, oldest first.
    public var names: [String]
    /// Name of the last restored baseline; absent if none was restored since the start.
    public var active: String?
    /// Summary, as a sentence.
    public var sentence: String

    /// Creates a report.
    public init(names: [String], active: String? = nil, sentence: String) {
        self.names = names
        self.active = active
        self.sentence = sentence
    }
}

/// One change of the tuning: an element of the answer to `history`.
public struct HistoryEntry: Hashable, Sendable, Codable {
    /// Time of the change, seconds since 1970.
    public var time: Number
    /// Author of the change, such as "client 3 (pid 812)", "phone C0:1A:B0:00:00:02 (connection
    /// 3)", "airframed", "autotune" or "calibration".
    public var who: String
    /// Description of the change, such as "set control.attitude_gain = [50, 50, 50]; reverts after
    /// 30 s unless saved".
    public var what: String

    /// Creates a change.
    public init(time: Number, who: String, what: String) {
        self.time = time
        self.who = who
        self.what = what
    }
}
