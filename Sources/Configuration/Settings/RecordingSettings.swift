internal import SystemPackage

extension Settings {
    /// `[recording]`
    public struct Recording: Sendable, Equatable {
        /// Whether there is a flight recorder.
        public var enabled = true
        /// Duration of the recording in memory, s.
        public var ringS = 60.0
        /// Whether a continuous recording begins with the process.
        public var continuous = false
        /// A continuous recording goes on in a new file from this length on, MB.
        public var maxFileMb = 64
        /// All recordings together, MB.
        public var maxTotalMb = 1000
        /// Recordings older than this are removed, days; 0: none is.
        public var maxAgeDays = 30.0
    }

    /// Every setting as a line `key = value`: TOML that reads back to the same settings.
    public var listing: String {
        Schema.settings.map { "\($0.key) = \($0.value(in: self).tomlText)\n" }.joined()
    }

    /// Reads a listing.
    ///
    /// - Parameters:
    ///   - listing: Text from `listing`; unknown keys are left out.
    ///   - overrides: `KEY=VALUE`, which override the listing.
    /// - Returns: The settings, and the keys that were left out.
    /// - Throws: A problem of the overrides, or of values that this version does not allow.
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
        return (try ConfigurationLoader.load(source, files: nothing).settings, unknown)
    }
}
