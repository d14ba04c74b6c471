/// Steps of the set-up and their results: the answer to `setup`.
public struct SetupReport: Hashable, Sendable, Codable {
    /// The steps, in the order in which a person executes them.
    public var steps: [SetupStep] = []
    /// True if saved settings take effect only after a restart of airframed.
    public var needsRestart = false

    /// Creates a report without steps.
    public init() {}

    /// The first step that is neither done nor skipped; nil if the set-up is complete.
    public var next: SetupStep? { steps.first { !$0.isFinished } }
}

/// One step of the set-up.
public struct SetupStep: Hashable, Sendable, Codable {
    /// State of a step.
    public enum State: String, Sendable, Codable, CaseIterable {
        /// The step has not been executed.
        case open
        /// The step is in progress.
        case running
        /// The step has found settings that take effect after a restart of airframed.
        case restart
        /// The step is complete.
        case done
        /// A person has skipped the step.
        case skipped
        /// The step has failed. `sentence` states the reason and the remedy.
        case failed
    }

    /// Name of the step in requests, such as `motors`.
    public var name: String
    /// Title of the step, for a heading.
    public var title: String
    /// State of the step, a case of `State`. The property is a string. Therefore an older client
    /// accepts new values from a newer daemon.
    public var state = State.open.rawValue
    /// Next action of the person, as text; empty if there is none.
    public var instruction = ""
    /// Progress of a running step, 0...1.
    public var progress: Number = 0
    /// Result of the step, as text; empty before the end.
    public var sentence = ""
    /// Code of a failure, such as `no_motion`; empty if the step has not failed.
    public var code = ""
    /// Measured values.
    public var values: [SetupValue] = []
    /// Settings that the step has changed.
    public var changes: [SetupChange] = []
    /// True if `undo` restores the settings or the calibration from before the step.
    public var canUndo = false

    /// Creates a step that has not been executed.
    public init(name: String, title: String) {
        self.name = name
        self.title = title
    }

    /// True if the step is done or skipped.
    public var isFinished: Bool {
        state == State.done.rawValue || state == State.skipped.rawValue
    }

    /// True if the step is in progress.
    public var isRunning: Bool { state == State.running.rawValue }
}

/// One value that a set-up step has measured.
public struct SetupValue: Hashable, Sendable, Codable {
    /// Name of the value, as text.
    public var name: String
    /// The value, in `unit`.
    public var value: Number
    /// Unit of the value; empty for a ratio.
    public var unit: String

    /// Creates a value.
    public init(_ name: String, _ value: Double, _ unit: String) {
        self.name = name
        self.value = Number(value)
        self.unit = unit
    }
}

/// One setting that a set-up step has changed.
public struct SetupChange: Hashable, Sendable, Codable {
    /// Dotted key.
    public var key: String
    /// Value before the step, as TOML.
    public var old: String
    /// Value after the step, as TOML.
    public var new: String

    /// Creates a change.
    public init(key: String, old: String, new: String) {
        self.key = key
        self.old = old
        self.new = new
    }
}
