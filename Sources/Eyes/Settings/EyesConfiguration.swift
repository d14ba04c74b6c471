public import Configuration
import PlainText
public import SystemPackage

/// Loader of the settings: the file, then `--set`.
public struct EyesConfiguration: Sendable {
    /// Default file; it can be missing.
    public static let defaultFile = FilePath("/etc/airframe/airframe-eyes.toml")

    /// The file.
    let file: FilePath
    /// Whether a missing file is an error, because the command line names it.
    let isFileRequired: Bool
    /// `KEY=VALUE` of each `--set`, in order.
    let overrides: [String]

    /// The sources that a command line describes.
    ///
    /// - Parameters:
    ///   - file: Argument of `--config`, or nil for the default file.
    ///   - overrides: Arguments of `--set`; a later one wins.
    public init(file: String? = nil, overrides: [String] = []) {
        self.file = file.map { FilePath($0) } ?? Self.defaultFile
        isFileRequired = file != nil
        self.overrides = overrides
    }

    /// Reads the sources.
    ///
    /// - Parameter files: The file system.
    /// - Returns: Valid settings.
    /// - Throws: Every problem found.
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
