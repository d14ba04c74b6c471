internal import SystemPackage

extension Settings {
    /// Settings of `[recording]`, the flight recorder.
    public struct Recording: Sendable, Equatable {
        /// True if the flight recorder runs.
        public var enabled = true
        /// Duration of the recording in memory, s.
        public var ringS = 60.0
        /// True if a continuous recording starts together with the process.
        public var continuous = false
        /// Largest size of one file of a continuous recording, MB.
        public var maxFileMb = 64
        /// Largest total size of all recordings, MB.
        public var maxTotalMb = 1000
        /// Largest age of a recording, days; older recordings are removed; 0 means no limit.
        public var maxAgeDays = 0.0
    }

    /// All settings as TOML lines `key = value`; parsing this text gives the same settings.
    public var listing: String {
        Schema.settings.map { "\($0.key) = \($0.value(in: self).tomlText)\n" }.joined()
    }

    /// Reads settings from a string in the format of `listing`.
    ///
    /// - Parameters:
    ///   - listing: Text from `listing`; unknown keys are ignored.
    ///   - overrides: Settings as `KEY=VALUE`, which override values of the listing.
    /// - Returns: The settings, and the ignored keys.
    /// - Throws: `ConfigurationProblem` if an override is invalid, or if a value is not allowed in
    ///   this version.
    public static func reading(
        _ listing: String, overrides: [String] = []
    ) throws(ConfigurationFailure) -> (settings: Settings, unknown: [String]) {
        var lines: [String] = []
        var unknown: [String] = []
        for line in listing.split(separator: "\n") {
            guard let end = line.firstIndex(of: "=") else { continue }
            let key = String(line[..<end].split(separator: " ").first ?? "")
            if Schema.setting(key) == nil {
                unknown.append(key)
            } else {
                lines.append(String(line))
            }
        }
        let nothing = ConfigurationFiles(
            read: { _ throws(Errno) in throw .noSuchFileOrDirectory },
            list: { _ throws(Errno) in [] })
        let source = ConfigurationSource(overrides: lines + overrides)
        // The listing contains all settings, also unused ones, and rules can be newer than the
        // recording.
        let loaded = try ConfigurationLoader.load(source, files: nothing, checksRules: false)
        return (loaded.settings, unknown)
    }
}
