public import Port

/// Actions, other than motion requests, that input controls can trigger.
public struct ControlEffects: Sendable {
    /// Starts or stops a recording of the flight recorder. The closure receives a message for the
    /// user, or a refusal.
    public var record: @Sendable (@escaping Later<String>) -> Void
    /// Selects a profile by its name, or the next profile if the name is nil.
    public var profile: @Sendable (String?, @escaping Later<String>) -> Void

    /// Creates the effects.
    public init(
        record: @escaping @Sendable (@escaping Later<String>) -> Void,
        profile: @escaping @Sendable (String?, @escaping Later<String>) -> Void
    ) {
        self.record = record
        self.profile = profile
    }
}
