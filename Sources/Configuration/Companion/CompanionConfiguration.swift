import SystemPackage

/// Loader of a companion program's settings. The loader reads the configuration file, then the
/// arguments of `--set`.
public struct CompanionConfiguration<Settings: Sendable>: Sendable {
    /// All settings of the program.
    private let schema: CompanionSchema<Settings>
    /// Path of the configuration file.
    private let file: FilePath
    /// True if a missing file is an error, because the command line names the file.
    private let isFileRequired: Bool
    /// Arguments `KEY=VALUE` of `--set`, in the order of the command line.
    private let overrides: [String]
    /// Example of a valid `KEY=VALUE`, for the message about a wrong `--set`.
    private let example: String

    /// Creates a loader for the sources that a command line describes.
    ///
    /// - Parameters:
    ///   - schema: All settings of the program.
    ///   - file: Argument of `--config`, or nil for /etc/airframe/PROGRAM.toml.
    ///   - overrides: Arguments of `--set`; a later argument replaces an earlier one for the same
    ///     key.
    ///   - example: Correct `KEY=VALUE`, for messages.
    public init(
        _ schema: CompanionSchema<Settings>, file: String?, overrides: [String], example: String
    ) {
        self.schema = schema
        self.file = FilePath(file ?? "/etc/airframe/\(schema.program).toml")
        isFileRequired = file != nil
        self.overrides = overrides
        self.example = example
    }

    /// Reads the file and the arguments of `--set`.
    ///
    /// - Parameter files: The file system.
    /// - Returns: Valid settings.
    /// - Throws: An error that lists all problems.
    public func load(files: ConfigurationFiles = .system) throws(ConfigurationFailure) -> Settings {
        var settings = schema.defaults
        var problems: [ConfigurationProblem] = []
        for pair in try pairs(files) {
            apply(
                pair.key, pair.value, at: .file(file.string, line: pair.line, column: nil),
                to: &settings, &problems)
        }
        apply(overrides, at: .commandLine, to: &settings, &problems)
        return try checked(settings, problems)
    }

    /// Changes settings without reading the file.
    ///
    /// - Parameters:
    ///   - texts: Changes `KEY=VALUE` from a request, in the format of `--set`.
    ///   - settings: Settings from an earlier `load`.
    /// - Returns: Valid settings.
    /// - Throws: An error that lists all problems.
    public func applying(_ texts: [String], to settings: Settings) throws(ConfigurationFailure)
        -> Settings
    {
        var settings = settings
        var problems: [ConfigurationProblem] = []
        apply(texts, at: nil, to: &settings, &problems)
        return try checked(settings, problems)
    }

    private func checked(
        _ settings: Settings, _ found: [ConfigurationProblem]
    ) throws(ConfigurationFailure) -> Settings {
        let problems = found.isEmpty ? [schema.conflict(in: settings)].compactMap(\.self) : found
        guard problems.isEmpty else { throw ConfigurationFailure(problems) }
        return settings
    }

    private func apply(
        _ texts: [String], at place: Place?, to settings: inout Settings,
        _ problems: inout [ConfigurationProblem]
    ) {
        for text in texts {
            guard let equals = text.firstIndex(of: "=") else {
                problems.append(.withoutValue(text, at: place, example: example))
                continue
            }
            apply(
                String(text[..<equals]), String(text[text.index(after: equals)...]),
                at: place, to: &settings, &problems)
        }
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
        _ key: String, _ text: String, at place: Place?, to settings: inout Settings,
        _ problems: inout [ConfigurationProblem]
    ) {
        guard let setting = schema.setting(key) else {
            let guess = KeySuggestion.nearest(to: key, in: schema.settings.map(\.rule.key))
            return problems.append(.unknown(key, value: text, at: place, guess: guess))
        }
        do throws(ConfigurationProblem) {
            setting.write(&settings, try setting.rule.value(of: text, at: place))
        } catch {
            problems.append(error)
        }
    }
}
