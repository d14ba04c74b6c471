import CLinuxShim
import Client
import FoundationEssentials
import Glibc
import Shots
import SystemPackage
import Wire

/// Saved state of a shot in a file, and the locks of its run.
///
/// Only the process of the run holds the first lock. The shutter's command also holds the second
/// lock, because the command can continue after the run was killed. The next run waits until the
/// command has ended, and then looks for the photo.
final class ShotStore {
    private let path: String
    private var lock: FileDescriptor?
    private var shutterLock: FileDescriptor?

    /// Default path of the state, for commands without the option `--state`.
    static var usualPath: String {
        func variable(_ name: String) -> String? {
            getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
        }
        let folder =
            variable("STATE_DIRECTORY") ?? variable("XDG_STATE_HOME").map { $0 + "/airframe" }
            ?? (variable("HOME") ?? ".") + "/.local/state/airframe"
        return folder + "/shot.json"
    }

    init(_ path: String) { self.path = path }

    deinit {
        // The run has waited for the shutter's command. A program that the command has left in the
        // background, such as a server, also has the descriptor of the second lock, and a process
        // that is just starting has both. These processes must not keep the locks.
        for lock in [shutterLock, lock] {
            guard let lock else { continue }
            flock(lock.rawValue, LOCK_UN)
            try? lock.close()
        }
    }

    /// Checks whether the state exists.
    ///
    /// - Throws: `ClientError.file` if the state cannot be read. The state of the unit
    ///   `airframe-shot@` is in a folder that only root can open, and must not count as missing.
    func exists() throws(ClientError) -> Bool {
        guard access(path, R_OK) != 0 else { return true }
        let cause = Errno(rawValue: errno)
        if cause == .noSuchFileOrDirectory { return false }
        throw unreadable("the state of the shot", cause)
    }

    /// Failure to read a file of the shot.
    private func unreadable(_ file: String, _ cause: Errno) -> ClientError {
        let remedy = cause == .permissionDenied ? ". Repeat the command with sudo" : ""
        return failure("\(file) cannot be read: \(cause)\(remedy)")
    }

    /// Reads the state; nil if the file is missing.
    func load() throws(ClientError) -> ShotRecord? {
        guard try exists() else { return nil }
        let remedy =
            "Move the photos that exist to another folder, and begin the shot again with --again"
        let record: ShotRecord?
        do {
            record = try JSONDecoder().decode(
                ShotRecord.self, from: try Data(contentsOf: URL(filePath: path)))
        } catch let problem as RecipeProblem {
            // Another version of airframectl can have accepted the description.
            throw failure(
                "this version of airframectl refuses the description of the saved shot: \(ShotFile.closed(problem)) \(remedy)"
            )
        } catch {
            record = nil
        }
        guard let record, let plan = try? ShotPlan(record.recipe),
            (0...plan.frames.count).contains(record.done), record.originYaw.isFinite
        else { throw failure("the state of the shot cannot be read. \(remedy)") }
        return record
    }

    /// Writes the state durably: after a power cut, the file contains the old or the new state.
    func save(_ record: ShotRecord) throws(ClientError) {
        do {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            let bytes = Array(try encoder.encode(record)) + [UInt8(ascii: "\n")]
            try DurableFile.replace(
                path, with: bytes, permissions: FilePermissions(rawValue: 0o640))
        } catch {
            throw failure("the state of the shot cannot be saved", error)
        }
    }

    /// Takes both locks, and waits until a shutter's command of an earlier run has ended.
    ///
    /// - Parameters:
    ///   - patience: Longest wait for the command, s.
    ///   - wait: Waits for the given time, s; false if a signal has arrived.
    /// - Throws: `ClientError.file` if another run is active, or the shutter's command does not
    ///   end.
    func take(patience: Double, _ wait: (Double) -> Bool) throws(ClientError) {
        let folder = FilePath(path).removingLastComponent().string
        var made = ""
        for part in folder.split(separator: "/", omittingEmptySubsequences: false) {
            made += (made.isEmpty && part.isEmpty ? "" : part) + "/"
            _ = mkdir(made, 0o750)
        }
        lock = try open(".lock", options: [.create, .closeOnExec])
        guard let lock, flock(lock.rawValue, LOCK_EX | LOCK_NB) == 0 else {
            throw failure("a run of this shot is active (pid \(Self.pid(in: path + ".lock") ?? 0))")
        }
        let text = Array("\(getpid())\n".utf8)
        _ = ftruncate(lock.rawValue, 0)
        _ = try? lock.writeAll(text)
        shutterLock = try open(".shutter", options: [.create])
        let end = DaemonClient.now() + patience
        while let shutterLock, flock(shutterLock.rawValue, LOCK_EX | LOCK_NB) != 0 {
            guard DaemonClient.now() < end, wait(0.1) else {
                throw failure("the shutter's command of an earlier run has not ended")
            }
        }
    }

    private func open(_ suffix: String, options: FileDescriptor.OpenOptions) throws(ClientError)
        -> FileDescriptor
    {
        do {
            return try FileDescriptor.open(
                FilePath(path + suffix), .readWrite, options: options,
                permissions: FilePermissions(rawValue: 0o640))
        } catch {
            throw failure("\(suffix) cannot be opened", error)
        }
    }

    /// Process of the active run; nil if there is none. Read access to the lock is sufficient: the
    /// run can belong to another user. Throws `ClientError.file` if the lock exists, but cannot be
    /// read.
    var activeRun: pid_t? {
        get throws(ClientError) {
            let file: FileDescriptor
            do {
                file = try FileDescriptor.open(
                    FilePath(path + ".lock"), .readOnly, options: .closeOnExec)
            } catch {
                guard let cause = error as? Errno, cause != .noSuchFileOrDirectory else {
                    return nil
                }
                throw unreadable("the lock of the shot", cause)
            }
            defer { try? file.close() }
            guard flock(file.rawValue, LOCK_SH | LOCK_NB) != 0 else { return nil }
            return Self.pid(in: path + ".lock")
        }
    }

    private static func pid(in path: String) -> pid_t? {
        guard let text = try? String(contentsOf: URL(filePath: path), encoding: .utf8) else {
            return nil
        }
        return pid_t(text.filter(\.isNumber))
    }

    /// Failure of a write. A full disk does not count as a file that cannot be used, because
    /// `airframe-shot@.service` starts a shot again only after other errors.
    private func failure(_ text: String, _ error: any Error) -> ClientError {
        guard let cause = error as? Errno, cause == .noSpace || cause == .diskQuotaExceeded else {
            return failure("\(text): \(error)")
        }
        return .refused(
            RequestError(
                "refused",
                "\(path): \(text): \(cause). Free disk space, and start the shot again.",
                field: "state"))
    }

    private func failure(_ text: String) -> ClientError {
        .file("\(path): \(text).", field: "state")
    }
}
