import Glibc
import People
import SystemPackage

/// Directory of the people-detection models and their library.
enum ModelFiles {
    /// The directory for the setting `people.models`.
    ///
    /// - Parameter setting: A path, or `auto`. The value `auto` selects the installed directory,
    ///   from the package or from `make install-eyes`. Without an installed directory, `auto`
    ///   selects the directory of `make deps-eyes`.
    /// - Returns: Path of the directory; the directory can be missing.
    static func directory(_ setting: String) -> String {
        guard setting == "auto" else { return setting }
        var path = [CChar](repeating: 0, count: Int(PATH_MAX))
        let length = max(0, readlink("/proc/self/exe", &path, path.count - 1))
        let program = FilePath(
            String(decoding: path[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        ).removingLastComponent()
        let candidates = ["../lib/airframe-eyes", "../../eyes-models"].map {
            program.appending($0).lexicallyNormalized().string
        }
        return candidates.first { access("\($0)/\(PersonFinder.Files.detector)", R_OK) == 0 }
            ?? candidates[0]
    }
}
