public import Configuration
public import SystemPackage

/// Loader of airframe-eyes' settings, from the configuration file and then from `--set`.
public struct EyesConfiguration: Sendable {
    /// Default configuration file. A missing default file is not an error.
    public static let defaultFile = FilePath("/etc/airframe/airframe-eyes.toml")

    private let sources: CompanionConfiguration<EyesSettings>

    /// Creates a loader for the file and the overrides of a command line.
    ///
    /// - Parameters:
    ///   - file: Argument of `--config`; nil means the default file.
    ///   - overrides: Arguments of `--set`. If two arguments name the same key, the later one
    ///     applies.
    public init(file: String? = nil, overrides: [String] = []) {
        sources = CompanionConfiguration(
            EyesSchema.table, file: file, overrides: overrides, example: "video.rate_hz=15")
    }

    /// Reads the configuration file and the overrides.
    ///
    /// - Parameter files: Access to the file system.
    /// - Returns: Valid settings.
    /// - Throws: An error that lists all problems.
    public func load(files: ConfigurationFiles = .system) throws(ConfigurationFailure)
        -> EyesSettings
    {
        Self.even(try sources.load(files: files))
    }

    /// Changes settings without reading the file.
    ///
    /// - Parameters:
    ///   - texts: Changes `KEY=VALUE`.
    ///   - settings: Settings from an earlier `load`.
    /// - Returns: Valid settings.
    /// - Throws: An error that lists all problems.
    func applying(_ texts: [String], to settings: EyesSettings) throws(ConfigurationFailure)
        -> EyesSettings
    {
        Self.even(try sources.applying(texts, to: settings))
    }

    /// Width and height must be even, because the encoders process pairs of pixels.
    private static func even(_ settings: EyesSettings) -> EyesSettings {
        var settings = settings
        settings.video.width &= ~1
        settings.video.height &= ~1
        return settings
    }
}
