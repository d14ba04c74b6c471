import CVideo
import Client
import Dispatch
import Glibc
import PlainText
import Recording
import SystemPackage

/// Recording of a feed as an MP4 file. Time 0 of the file is the exposure of its first picture. Any
/// thread can read the counters. Only the supervisor's thread opens and closes a recording.
final class Recorder: @unchecked Sendable {
    /// Minimum free space on the disk for a recording, bytes.
    static let reserve = 200_000_000

    // The type is `@unchecked Sendable`, because the functions of the C library take a lock.
    let handle: OpaquePointer
    /// Path of the MP4 file.
    let path: FilePath

    /// Creates the MP4 file.
    ///
    /// - Parameter directory: Directory of the file, which must exist.
    /// - Throws: The reason why the file cannot be written.
    init(in directory: String) throws(VideoError) {
        let path = Self.unusedPath(in: directory, ending: "mp4")
        if let obstacle = Self.obstacle(in: directory) { throw VideoError(obstacle) }
        let (handle, text) = withErrorText { cv_recorder_open(path.string, $0) }
        guard let handle else { throw VideoError("\(path): \(text)") }
        self.handle = handle
        self.path = path
    }

    deinit {
        cv_recorder_close(handle)
        Self.sync(path)
    }

    /// Syncs a complete file to the disk. The call does not wait for the disk, because a disk that
    /// does not respond must not delay the stream.
    static func sync(_ path: FilePath) {
        DispatchQueue.global(qos: .utility).async {
            do {
                let file = try FileDescriptor.open(path, .readOnly, options: .closeOnExec)
                try file.closeAfter {
                    guard fsync(file.rawValue) == 0 else { throw Errno(rawValue: errno) }
                }
                try DurableFile.syncFolder(of: path.string)
            } catch {
                Log.write("The file \(path) cannot be synced to the disk: \(error).")
            }
        }
    }

    /// Time at which the first picture was exposed, ns on CLOCK_MONOTONIC; nil before the first
    /// picture.
    var start: Int64? {
        let start = cv_recorder_read(handle).start
        return start > 0 ? start : nil
    }

    /// Number of pictures that were lost because the disk was too slow.
    var lost: Int { Int(cv_recorder_read(handle).lost) }

    /// Reason why the recording cannot continue; nil if it can.
    var problem: String? {
        let (outcome, text) = withErrorText { cv_recorder_wait(handle, 0, $0) }
        if outcome == CV_FAILED { return text }
        let free = Self.freeSpace(in: path.removingLastComponent().string) ?? 0
        return free > Self.reserve ? nil : "the disk is full"
    }

    /// Reason why a file cannot be created in a directory; nil if it can.
    static func obstacle(in directory: String) -> String? {
        guard freeSpace(in: directory) ?? 0 > reserve else {
            return
                "there is no directory \(directory), or its disk has less than \(reserve / 1_000_000) MB left"
        }
        return access(directory, W_OK) == 0 ? nil : unwritable(directory, Errno(rawValue: errno))
    }

    /// Problem of a directory that cannot be written, with its remedy. The sandbox of the service
    /// makes every other directory than that of airframe-eyes read-only.
    static func unwritable(_ directory: String, _ error: Errno) -> String {
        let remedy =
            error == .readOnlyFileSystem
            ? "name it in ReadWritePaths= in a drop-in of the service, as eyes.md describes"
            : "let the user of airframe-eyes write to it"
        return "\(directory) cannot be written (\(error)): \(remedy)"
    }

    /// Free space on a directory's disk, bytes; nil if the directory does not exist.
    static func freeSpace(in directory: String) -> Int? { DiskSpace(of: directory)?.free }

    /// Finds an unused path, such as `gimbal-20261125T104500.250Z.mp4`, with the date in UTC.
    ///
    /// The order of the names is the order of the dates, also for several photos in one second, and
    /// at the end of daylight saving time, when the local time repeats an hour. If a file with this
    /// name exists, the next free millisecond is used.
    ///
    /// - Parameters:
    ///   - directory: Directory of the file.
    ///   - ending: Extension of the file.
    ///   - date: Date of the file, seconds since 1970.
    /// - Returns: The path.
    static func unusedPath(
        in directory: String, ending: String, date: Double = DaemonClient.wall()
    ) -> FilePath {
        var milliseconds = Int(max(0, date) * 1000)
        while true {
            let time = Format.date(
                Double(milliseconds / 1000), "gimbal-%Y%m%dT%H%M%S", isUTC: true)
            let fraction = String(1000 + milliseconds % 1000).dropFirst()
            let path = FilePath(directory).appending("\(time).\(fraction)Z.\(ending)")
            if access(path.string, F_OK) != 0 { return path }
            milliseconds += 1
        }
    }
}
