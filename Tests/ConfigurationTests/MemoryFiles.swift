import Configuration
import SystemPackage

extension ConfigurationFiles {
    /// A file system that holds these files, and answers some paths with an errno.
    static func memory(_ texts: [String: String], errors: [String: Errno] = [:]) -> Self {
        memory(bytes: texts.mapValues { Array($0.utf8) }, errors: errors)
    }

    static func memory(bytes files: [String: [UInt8]], errors: [String: Errno] = [:]) -> Self {
        ConfigurationFiles(
            read: { path throws(Errno) in
                if let error = errors[path.string] { throw error }
                guard let bytes = files[path.string] else { throw Errno.noSuchFileOrDirectory }
                return bytes
            },
            list: { directory throws(Errno) in
                if let error = errors[directory.string] { throw error }
                let names = files.keys.map { FilePath($0) }
                    .filter { $0.removingLastComponent() == directory }
                    .compactMap { $0.lastComponent?.string }
                if names.isEmpty { throw Errno.noSuchFileOrDirectory }
                return names
            })
    }
}

/// The main file that `load` reads.
let mainPath = "/etc/airframe/airframed.toml"

/// Loads one text as the main file.
func load(_ text: String, set: [String] = []) throws(ConfigurationFailure) -> LoadedConfiguration {
    try ConfigurationLoader.load(
        ConfigurationSource(overrides: set), files: .memory([mainPath: text]))
}

/// The problems of one text as the main file; empty when it is valid.
func problems(_ text: String, set: [String] = []) -> [ConfigurationProblem] {
    do throws(ConfigurationFailure) {
        _ = try load(text, set: set)
        return []
    } catch {
        return error.problems
    }
}
