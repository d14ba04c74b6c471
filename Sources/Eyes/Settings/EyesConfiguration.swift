public import Configuration
public import SystemPackage

/// Loader of airframe-eyes' settings, from the configuration file and then from `--set`.
public struct EyesConfiguration: Sendable {
    /// Default configuration file. A missing default file is not an error.
    public static let defaultFile = FilePath("/etc/airframe/airframe-eyes.toml")

    private let sources: CompanionConfiguration<EyesSettings>
    private let file: String?
    private let overrides: [String]

    /// Creates a loader for the file and the overrides of a command line.
    ///
    /// - Parameters:
    ///   - file: Argument of `--config`; nil means the default file.
    ///   - overrides: Arguments of `--set`. If two arguments name the same key, the later one
    ///     applies.
    public init(file: String? = nil, overrides: [String] = []) {
        self.file = file
        self.overrides = overrides
        sources = CompanionConfiguration(
            EyesSchema.table, file: file, overrides: overrides, example: "video.rate_hz=15")
    }

    /// Copy of this loader with additional overrides `KEY=VALUE`, which are applied last.
    func adding(_ more: [String]) -> EyesConfiguration {
        EyesConfiguration(file: file, overrides: overrides + more)
    }

    /// Reads the configuration file and the overrides.
    ///
    /// - Parameter files: Access to the file system.
    /// - Returns: Valid settings.
    /// - Throws: An error that lists all problems.
    public func load(files: ConfigurationFiles = .system) throws(ConfigurationFailure)
        -> EyesSettings
    {
        var settings = try sources.load(files: files)
        // Width and height must be even, because the encoders process pairs of pixels.
        settings.video.width &= ~1
        settings.video.height &= ~1
        return settings
    }
}
