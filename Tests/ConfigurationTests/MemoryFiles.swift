import Configuration
import SystemPackage

extension ConfigurationFiles {
    /// A file system in memory with these files, which returns an errno for some paths.
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

/// Path of the main file that `load` reads.
let mainPath = "/etc/airframe/airframed.toml"

/// Loads this text as the main file.
func load(_ text: String, set: [String] = []) throws(ConfigurationFailure) -> LoadedConfiguration {
    try ConfigurationLoader.load(
        ConfigurationSource(overrides: set), files: .memory([mainPath: text]))
}

/// Problems of this text as the main file; empty if the text is valid.
func problems(_ text: String, set: [String] = []) -> [ConfigurationProblem] {
    do throws(ConfigurationFailure) {
        _ = try load(text, set: set)
        return []
    } catch {
        return error.problems
    }
}
