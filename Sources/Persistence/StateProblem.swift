public import SystemPackage

/// Reason why saved state could not be read or written, with a message that states the remedy.
public struct StateProblem: Error, Sendable, Equatable, CustomStringConvertible {
    /// Kind of the problem with saved state.
    public enum Reason: Sendable, Equatable {
        /// A system call failed.
        case failed(Errno)
        /// The latest state's file is missing, but the previous state's file exists.
        case missing
        /// Another process uses the state directory.
        case inUse
        /// The file does not begin with the header line of a state file.
        case notAStateFile
        /// The file is from a later release.
        case futureVersion(Int)
        /// The file is truncated, or longer than its header states.
        case truncated(expected: Int, found: Int)
        /// The contents do not match the checksum: the disk is damaged, or the file was edited.
        case checksumMismatch
        /// The checksum is correct, but the contents are not a valid state.
        case malformed(String)
        /// The state cannot be encoded as JSON.
        case unencodable(String)
        /// The state is larger than `StateStore.sizeLimit`.
        case tooLarge(Int)
    }

    /// Attempted operation, such as `reading` or `writing`.
    public let action: String
    /// Path of the file or directory with the problem.
    public let path: FilePath
    /// Kind of the problem with saved state.
    public let reason: Reason
    /// New path of an unreadable file, for inspection; nil if the file was not moved.
    public var keptAs: FilePath?

    /// Path, problem and remedy in one line.
    public var description: String {
        let directory = path.removingLastComponent()
        var line = "\(path): "
        // The file could be renamed, so its directory has the right owner, and only the file has not.
        let isForeign = reason == .failed(.permissionDenied) && keptAs != nil
        switch reason {
        case .failed where isForeign:
            line +=
                "permission denied (EACCES) while \(action): another user owns the file, for example after a start of airframed with sudo."
        case .failed(let errno): line += Self.sentence(errno, action: action, directory: directory)
        case .missing:
            line +=
                "is missing, although airframed has saved it before. Restore the file, or save the settings again with `airframectl save`."
        case .inUse:
            line =
                "\(directory) is the state directory of another running airframed. Stop the other airframed (sudo systemctl stop airframed), or set persistence.directory to another path."
        case .notAStateFile: line += "is not a state file of airframed."
        case .futureVersion(let version):
            line += "has format \(version); this release reads formats up to \(StateFile.version)."
            if keptAs == nil {
                line +=
                    " Install the newer release again, or overwrite the file with `airframectl save`."
            }
        case .truncated(let expected, let found):
            line +=
                "has \(found) bytes of contents; expected \(expected): the file was cut short or edited."
        case .checksumMismatch:
            line += "does not match its checksum: the file was damaged or edited by hand."
        case .malformed(let detail): line += "cannot be read (\(detail))."
        case .unencodable(let detail): line += "cannot be written: \(detail)."
        case .tooLarge(let size):
            line +=
                "would have \(size) bytes; at most \(StateStore.sizeLimit) are allowed. Delete baselines: airframectl baseline delete NAME."
        }
        if let keptAs {
            line += " The file is kept as \(keptAs)."
            if isForeign {
                line +=
                    " To use the file again, stop airframed and run: sudo chown airframe: \(keptAs) && sudo mv \(keptAs) \(path)"
            }
            // The newer release does not read the file under its new name.
            if case .futureVersion = reason {
                line +=
                    " To use the file again, install the newer release, stop airframed and run: sudo mv \(keptAs) \(path)"
            }
        }
        return line
    }

    private static func sentence(_ errno: Errno, action: String, directory: FilePath) -> String {
        let advice =
            switch errno {
            case .noSuchFileOrDirectory:
                "the directory does not exist (ENOENT) while \(action). Create the directory with install -d -o airframe -g airframe \(directory), or set persistence.directory."
            case .permissionDenied:
                "permission denied (EACCES) while \(action). Make the user that runs airframed the owner of \(directory): chown airframe: \(directory)."
            case .notPermitted:
                "not permitted (EPERM) while \(action). Make the user that runs airframed the owner of \(directory): chown airframe: \(directory)."
            case .readOnlyFileSystem:
                "the file system is read-only (EROFS) while \(action). Add ReadWritePaths=\(directory) to the systemd unit, or set persistence.directory."
            case .noSpace:
                "the disk is full (ENOSPC) while \(action). Free disk space, then save again."
            case .notDirectory:
                "a part of the path is not a directory (ENOTDIR) while \(action). Set persistence.directory to another path."
            case .isDirectory:
                "is a directory (EISDIR), not a file. Remove this directory."
            default: "\(errno) while \(action)."
            }
        return advice
    }
}
