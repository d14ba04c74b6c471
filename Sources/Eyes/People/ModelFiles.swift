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

    /// Problem of missing files. The check is fast, because it reads no file.
    ///
    /// - Parameter directory: Directory of the models.
    /// - Returns: Problem with its remedy; nil if the library and all models can be read.
    static func problem(in directory: String) -> InferenceError? {
        let names = [
            PersonFinder.Files.library, PersonFinder.Files.detector, PersonFinder.Files.landmarks,
        ]
        let paths = names.map { "\(directory)/\($0)" }
        guard let path = paths.first(where: { access($0, R_OK) != 0 }) else { return nil }
        return InferenceError(
            "airframe-eyes cannot find people, because \(path) cannot be read.",
            remedy: InferenceError.reinstallation
                + " To use only the video, set people.enabled = false.")
    }
}
