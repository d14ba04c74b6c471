public import SystemPackage

/// Reader of a settings file for a running daemon; it does not validate the values.
public enum SettingsFile {
    /// One setting of the file, without validation of key and value.
    public struct Pair: Sendable, Equatable {
        /// Dotted path, including the names of tables. An element of an array of tables is written
        /// as `a[0]`.
        public var key: String
        /// Value of the setting, as TOML in one line.
        public var value: String
        /// Line of the file that contains the setting; the first line is 1.
        public var line: Int

        /// Creates a setting.
        public init(key: String, value: String, line: Int) {
            self.key = key
            self.value = value
            self.line = line
        }

        /// Checks key, type and range as in a configuration file.
        ///
        /// - Parameter path: Name of the file in the message.
        /// - Returns: The problem; nil for a valid setting.
        public func problem(in path: String) -> ConfigurationProblem? {
            let place = Place.file(path, line: line, column: nil)
            guard let setting = Schema.setting(key) else {
                return .unknownKey(key, value: value, at: place)
            }
            guard let raw = RawValue(text: value) else { return setting.notTOML(value, at: place) }
            do throws(ConfigurationProblem) {
                _ = try setting.check(raw, written: value, at: place)
                return nil
            } catch {
                return error
            }
        }
    }

    /// Reads a file.
    ///
    /// - Parameters:
    ///   - path: Path of the file; `-` for standard input.
    ///   - files: The file system.
    /// - Returns: Keys and values, in the order of the file. The file can contain unknown keys.
    /// - Throws: `ConfigurationProblem` if the file cannot be read or is not TOML.
    public static func pairs(
        in path: FilePath, files: ConfigurationFiles = .system
    ) throws(ConfigurationFailure) -> [Pair] {
        let bytes: [UInt8]
        do throws(Errno) {
            bytes = try files.read(path == "-" ? "/dev/stdin" : path)
        } catch {
            throw ConfigurationFailure([ConfigurationLoader.problem(of: error, path: path.string)])
        }
        return try pairs(of: bytes, path: path.string)
    }

    /// Reads a text.
    ///
    /// - Parameters:
    ///   - bytes: The text.
    ///   - path: Name of the file in messages.
    /// - Returns: Keys and values, in the order of the file.
    /// - Throws: `ConfigurationProblem` if the text is not TOML.
    public static func pairs(
        of bytes: [UInt8], path: String
    ) throws(ConfigurationFailure) -> [Pair] {
        guard bytes.count <= ConfigurationFiles.sizeLimit else {
            throw ConfigurationFailure([.tooLarge(path)])
        }
        let document = TOMLDocument(bytes: bytes, path: path)
        let problems = document.problems.filter { [.unreadable, .syntax].contains($0.kind) }
        guard problems.isEmpty else { throw ConfigurationFailure(problems) }
        return TOMLKeyLocator(bytes).locations.compactMap { steps, location in
            // The pairs of an inline table have separate locations. An element of an array has the
            // location of the array.
            guard let value = location.value, !value.hasPrefix("{"), case .key = steps.last else {
                return nil
            }
            return Pair(key: name(steps), value: oneLine(value), line: location.line)
        }.sorted { ($0.line, $0.key) < ($1.line, $1.key) }
    }

    /// Value of several lines, such as an array with one element per line, as one line.
    private static func oneLine(_ value: String) -> String {
        guard value.contains(where: \.isNewline) else { return value }
        return TOMLDocument.raw("value = " + value)?.tomlText ?? value
    }

    private static func name(_ steps: [TOMLKeyLocator.Step]) -> String {
        steps.reduce(into: "") { name, step in
            switch step {
            case .key(let key): name += name.isEmpty ? key : ".\(key)"
            case .index(let index): name += "[\(index)]"
            }
        }
    }
}
