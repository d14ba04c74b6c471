public import SystemPackage

/// Sources of the configuration: files and arguments of the command line.
public struct ConfigurationSource: Sendable {
    /// Default configuration file. A missing default file is not an error.
    public static let defaultFile = FilePath("/etc/airframe/airframed.toml")

    /// The main configuration file, which the administrator writes.
    public var mainFile: FilePath
    /// True if a missing main file is an error, because the command line names the file.
    public var isMainFileRequired: Bool
    /// Arguments `KEY=VALUE` of `--set`, in the order of the command line.
    public var overrides: [String]

    /// Creates the source that a command line describes.
    ///
    /// - Parameters:
    ///   - config: Argument of `--config`, or nil for the default file.
    ///   - overrides: Arguments of `--set`, in order; a later argument replaces an earlier one for
    ///     the same key.
    public init(config: String? = nil, overrides: [String] = []) {
        mainFile = config.map { FilePath($0) } ?? Self.defaultFile
        isMainFileRequired = config != nil
        self.overrides = overrides
    }

    /// Directory `conf.d` next to the main file. The directory's files `*.toml` are read after the
    /// main file, in alphabetical order.
    public var dropInDirectory: FilePath { mainFile.removingLastComponent().appending("conf.d") }
}

/// Loader of configuration files and command line. The loader reports all problems together.
public enum ConfigurationLoader {
    /// Loads a configuration.
    ///
    /// - Parameters:
    ///   - source: Files and overrides.
    ///   - files: The file system.
    ///   - checksRules: True if the rules about combinations of settings are checked.
    /// - Returns: Valid settings with their origins.
    /// - Throws: An error that lists all problems. For a file with a syntax error, only the first
    ///   problem is reported.
    public static func load(
        _ source: ConfigurationSource, files: ConfigurationFiles = .system,
        checksRules: Bool = true
    ) throws(ConfigurationFailure) -> LoadedConfiguration {
        let (loaded, found) = values(source, files: files, salvages: false)
        var problems = found
        // The rules are checked only if all values are valid. With invalid values, the rules would
        // compare defaults and report false conflicts.
        if checksRules, problems.isEmpty {
            let settings = loaded.settings
            problems = ConfigurationRule.all.compactMap {
                $0.problem(in: settings, origin: loaded.origin(of:))
            }
        }
        guard problems.isEmpty else { throw ConfigurationFailure(problems) }
        return loaded
    }

    /// Loads every valid value of a configuration, for example to switch the motors off although
    /// another value is invalid or another line is not TOML. The rules about combinations of
    /// settings are not checked.
    ///
    /// - Parameters:
    ///   - source: Files and overrides.
    ///   - files: The file system.
    /// - Returns: The valid values with their origins, and the problems of all others.
    public static func readable(
        _ source: ConfigurationSource, files: ConfigurationFiles = .system
    ) -> (loaded: LoadedConfiguration, problems: [ConfigurationProblem]) {
        values(source, files: files, salvages: true)
    }

    /// Loads every valid value. If `salvages` is true, lines that are not TOML are left out;
    /// otherwise such a line makes its whole file unreadable.
    private static func values(
        _ source: ConfigurationSource, files: ConfigurationFiles, salvages: Bool
    ) -> (loaded: LoadedConfiguration, problems: [ConfigurationProblem]) {
        var loaded = LoadedConfiguration()
        var problems: [ConfigurationProblem] = []
        let mainFile = source.mainFile
        read(
            mainFile,
            ifMissing: source.isMainFileRequired ? "Check the path given to --config." : nil,
            files: files, salvages: salvages, into: &loaded, problems: &problems)
        for path in dropIns(in: source.dropInDirectory, files: files, problems: &problems) {
            read(
                path,
                ifMissing:
                    "The file is a symbolic link without a target: remove or repair the link.",
                files: files, salvages: salvages,
                into: &loaded, problems: &problems)
        }
        for text in source.overrides {
            do throws(ConfigurationProblem) {
                let (setting, value) = try override(text)
                loaded.fromCommandLine[setting.key] = .init(value: value, origin: .commandLine)
            } catch {
                problems.append(error)
            }
        }
        return (loaded, problems)
    }

    /// Parses one argument `KEY=VALUE` of `--set`.
    static func override(
        _ text: String
    ) throws(ConfigurationProblem) -> (Setting, SettingValue) {
        guard let equals = text.firstIndex(of: "=") else {
            throw .withoutValue(text, at: .commandLine, example: "loop.rate_hz=500")
        }
        let key = String(decoding: Array(text[..<equals].utf8).trimmingBlanks(), as: UTF8.self)
        return try value(
            of: key, text: String(text[text.index(after: equals)...]), at: .commandLine)
    }

    /// Parses the value of one setting.
    ///
    /// - Parameters:
    ///   - key: Dotted path.
    ///   - text: TOML, or an unquoted word, which counts as a string.
    ///   - place: Location of the text, for the message.
    /// - Returns: The setting and its value.
    /// - Throws: The problem, if the key is unknown or the value is not allowed.
    static func value(
        of key: String, text: String, at place: Place?
    ) throws(ConfigurationProblem) -> (Setting, SettingValue) {
        try value(of: key, RawValue(text: text), written: text, at: place)
    }

    /// Checks a parsed value of one setting; nil means that the text `written` is not a value.
    static func value(
        of key: String, _ raw: RawValue?, written: String, at place: Place?
    ) throws(ConfigurationProblem) -> (Setting, SettingValue) {
        guard let setting = Schema.setting(key) else {
            throw .unknownKey(key, value: written, at: place)
        }
        return (setting, try setting.value(raw, written: written, at: place))
    }

    /// Reads a file. `ifMissing` is the remedy in the message about a missing file; nil if a
    /// missing file is permitted.
    private static func read(
        _ path: FilePath, ifMissing: String?, files: ConfigurationFiles, salvages: Bool,
        into loaded: inout LoadedConfiguration, problems: inout [ConfigurationProblem]
    ) {
        let name = path.string
        do throws(Errno) {
            let bytes = try files.read(path)
            guard bytes.count <= ConfigurationFiles.sizeLimit else {
                return problems.append(.tooLarge(name))
            }
            let document =
                salvages
                ? TOMLDocument.salvaging(bytes: bytes, path: name)
                : TOMLDocument(bytes: bytes, path: name)
            problems += document.problems
            loaded.files.append(name)
            for (setting, value, line) in document.values {
                loaded.fromFiles[setting.key] = .init(value: value, origin: .file(name, line: line))
            }
        } catch {
            if error == .noSuchFileOrDirectory, ifMissing == nil { return }
            problems.append(problem(of: error, path: name, ifMissing: ifMissing))
        }
    }

    private static func dropIns(
        in directory: FilePath, files: ConfigurationFiles, problems: inout [ConfigurationProblem]
    ) -> [FilePath] {
        do throws(Errno) {
            let names = try files.list(directory)
            return
                names
                .filter { $0.hasSuffix(".toml") && !$0.hasPrefix(".") }
                .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
                .map { directory.appending($0) }
        } catch {
            if error != .noSuchFileOrDirectory {
                problems.append(problem(of: error, path: directory.string))
            }
            return []
        }
    }

    static func problem(
        of error: Errno, path: String, ifMissing: String? = nil
    ) -> ConfigurationProblem {
        let (complaint, hint): (String, String?) =
            switch error {
            case .noSuchFileOrDirectory:
                ("there is no such file (ENOENT)", ifMissing)
            case .isDirectory:
                (
                    "is a directory, not a file (EISDIR)",
                    "Give the path of a file, such as /etc/airframe/airframed.toml."
                )
            case .notDirectory:
                ("part of the path is not a directory (ENOTDIR)", nil)
            case .permissionDenied:
                (
                    "permission denied (EACCES)",
                    "Let the user that runs airframed read the file, for example with chmod a+r."
                )
            case .notSupported:
                (
                    "is a pipe or a device, not a file",
                    "Give the path of a regular file, because airframed reads it again on a reload."
                )
            default: ("cannot be read: \(error)", nil)
            }
        return ConfigurationProblem(
            .unreadable, at: .file(path, line: nil, column: nil), complaint, hint: hint)
    }
}

extension ConfigurationProblem {
    /// Creates the problem for a file that is too large.
    static func tooLarge(_ path: String) -> ConfigurationProblem {
        ConfigurationProblem(
            .unreadable, at: .file(path, line: nil, column: nil),
            "is larger than \(ConfigurationFiles.sizeLimit) bytes, the limit for a configuration file"
        )
    }
}
