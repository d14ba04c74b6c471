public import Configuration
import PlainText
public import SystemPackage

/// Loader of the settings of airframe-eyes: from the configuration file, then from `--set`.
public struct EyesConfiguration: Sendable {
    /// Default configuration file. A missing default file is not an error.
    public static let defaultFile = FilePath("/etc/airframe/airframe-eyes.toml")

    /// Path of the configuration file.
    let file: FilePath
    /// Whether a missing file is an error; true if the command line names the file.
    let isFileRequired: Bool
    /// Arguments `KEY=VALUE` of `--set`, in the order of the command line.
    let overrides: [String]

    /// Creates a loader for the file and the settings that a command line names.
    ///
    /// - Parameters:
    ///   - file: Argument of `--config`; nil means the default file.
    ///   - overrides: Arguments of `--set`. If two arguments name the same key, the later one
    ///     applies.
    public init(file: String? = nil, overrides: [String] = []) {
        self.file = file.map { FilePath($0) } ?? Self.defaultFile
        isFileRequired = file != nil
        self.overrides = overrides
    }

    /// Reads the configuration file and the overrides.
    ///
    /// - Parameter files: Access to the file system.
    /// - Returns: Valid settings.
    /// - Throws: A failure that lists every problem.
    public func load(files: ConfigurationFiles = .system) throws(ConfigurationFailure)
        -> EyesSettings
    {
        var settings = EyesSettings()
        var problems: [ConfigurationProblem] = []
        for pair in try pairs(files) {
            apply(
                pair.key, pair.value, at: .file(file.string, line: pair.line, column: nil),
                to: &settings, &problems)
        }
        for text in overrides {
            guard let equals = text.firstIndex(of: "=") else {
                problems.append(.withoutValue(text, example: "video.rate_hz=15"))
                continue
            }
            apply(
                String(text[..<equals]), String(text[text.index(after: equals)...]),
                at: .commandLine, to: &settings, &problems)
        }
        guard problems.isEmpty else { throw ConfigurationFailure(problems) }
        // Width and height must be even, because the encoders need pairs of pixels.
        settings.video.width &= ~1
        settings.video.height &= ~1
        return settings
    }

    private func pairs(_ files: ConfigurationFiles) throws(ConfigurationFailure)
        -> [SettingsFile.Pair]
    {
        if !isFileRequired {
            do throws(Errno) {
                _ = try files.read(file)
            } catch {
                if error == .noSuchFileOrDirectory { return [] }
            }
        }
        return try SettingsFile.pairs(in: file, files: files)
    }

    private func apply(
        _ key: String, _ text: String, at place: Place, to settings: inout EyesSettings,
        _ problems: inout [ConfigurationProblem]
    ) {
        guard let setting = EyesSchema.setting(key) else {
            let guess = Suggestion.nearest(to: key, in: EyesSchema.settings.map(\.rule.key))
            return problems.append(.unknown(key, value: text, at: place, guess: guess))
        }
        do throws(ConfigurationProblem) {
            setting.write(&settings, try setting.rule.value(of: text, at: place))
        } catch {
            problems.append(error)
        }
    }
}
