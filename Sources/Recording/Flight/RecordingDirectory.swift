internal import Glibc
internal import PlainText
public import SystemPackage

/// Directory of the recordings, with limits of their size and age.
public struct RecordingDirectory: Sendable {
    /// Limits of the stored recordings.
    public struct Limits: Sendable, Equatable {
        /// File size after which a continuous recording continues in a new file, bytes.
        public var fileBytes = 64_000_000
        /// Largest total size of all recordings, bytes; the oldest recordings are removed first.
        public var totalBytes = 1_000_000_000
        /// Largest age of a recording, s; older recordings are removed. 0 means no limit.
        public var ageSeconds = 30.0 * 86400

        /// Creates the default limits.
        public init() {}
    }

    /// A recording in the directory.
    public struct Entry: Sendable, Equatable {
        /// Name of the file. The name contains the date at the beginning of the file, which can be
        /// wrong.
        public var name: String
        /// Length of the recording's file, bytes.
        public var bytes: Int
        /// Date of the last change, seconds since 1970.
        public var date: Double
    }

    /// Directory of the recordings.
    public let directory: FilePath
    /// Limits of the recordings in the directory.
    public let limits: Limits
    private let measureRoom: @Sendable (FilePath) -> Int?
    /// Beginning (`prefix`) and end (`suffix`) of the recordings' names. Other files in the
    /// directory are neither counted nor removed.
    private static let prefix = "airframe-"
    private static let suffix = ".mcap"

    /// Creates the description of a directory; the directory need not exist yet.
    ///
    /// - Parameters:
    ///   - directory: Path of the directory.
    ///   - limits: Limits of the recordings in the directory.
    ///   - room: Function that measures the room on the disk of a directory, bytes.
    public init(
        directory: FilePath, limits: Limits,
        room: @escaping @Sendable (FilePath) -> Int? = Self.room
    ) {
        self.directory = directory
        self.limits = limits
        measureRoom = room
    }

    /// Makes the file name of a recording.
    ///
    /// - Parameters:
    ///   - reason: Reason for writing; it contains only letters, digits, `_` and `-`.
    ///   - date: Date of the recording, seconds since 1970.
    ///   - attempt: Number of the attempt; above 0 if files with the previous names exist.
    /// - Returns: A name such as `airframe-20261122T021530Z-reason.mcap`.
    public static func name(_ reason: String, date: Double, attempt: Int = 0) -> String {
        let time = Format.date(date, "%Y%m%dT%H%M%SZ", isUTC: true)
        let rest = attempt > 0 ? "-\(attempt)" : ""
        return "\(prefix)\(time)-\(reason)\(rest)\(suffix)"
    }

    /// Creates the directory.
    ///
    /// - Throws: The system's error.
    public func prepare() throws(Errno) {
        guard mkdir(directory.string, 0o750) != 0, errno != EEXIST else { return }
        guard errno == ENOENT else { throw Errno(rawValue: errno) }
        // The parent directory is also created, because it does not exist before airframed saves
        // its state for the first time.
        _ = mkdir(directory.removingLastComponent().string, 0o750)
        guard mkdir(directory.string, 0o750) == 0 else { throw Errno(rawValue: errno) }
    }

    /// All recordings, in the order of their names.
    public var entries: [Entry] {
        guard let opened = opendir(directory.string) else { return [] }
        defer { closedir(opened) }
        var found: [Entry] = []
        while let entry = readdir(opened) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard name.hasPrefix(Self.prefix), name.hasSuffix(Self.suffix) else { continue }
            var status = stat()
            guard lstat(directory.appending(name).string, &status) == 0,
                status.st_mode & S_IFMT == S_IFREG
            else { continue }
            found.append(
                Entry(name: name, bytes: Int(status.st_size), date: Double(status.st_mtim.tv_sec)))
        }
        return found.sorted { $0.name < $1.name }
    }

    /// Completes recordings whose writer ended unexpectedly. A recording that cannot be completed
    /// remains unchanged; it can be read up to its last chunk.
    ///
    /// - Returns: The names of the completed recordings.
    public func recover() -> [String] {
        entries.map(\.name).filter { name in
            (try? MCAPRecovery.recover(directory.appending(name))) ?? false
        }
    }

    /// Removes recordings that are too old, and then the oldest recordings until the total size is
    /// within the limit. For a single file, removes further recordings, except the newest, if the
    /// disk then has enough room.
    ///
    /// - Parameters:
    ///   - date: Current date, seconds since 1970.
    ///   - reserve: Number of bytes that will be written next.
    ///   - kept: Name of the file that is being written; this file is not removed.
    ///   - ages: Known ages of recordings, s, by name. The age of every other recording is the time
    ///     since the date of its last change.
    ///   - makesRoom: True for a single file, such as that of a fault. A continuous recording would
    ///     replace all other recordings on a full disk.
    /// - Returns: The names of the removed recordings.
    @discardableResult
    public func prune(
        date: Double, reserve: Int, keeping kept: String?, ages: [String: Double] = [:],
        makesRoom: Bool
    ) -> [String] {
        let all = entries.sorted { Self.isOlder($0, than: $1, ages) }
        var total = all.reduce(reserve) { $0 + $1.bytes }
        var removed: [String] = []
        func remove(_ entry: Entry) {
            guard unlink(directory.appending(entry.name).string) == 0 else { return }
            total -= entry.bytes
            removed.append(entry.name)
        }
        for entry in all where entry.name != kept {
            let age = ages[entry.name] ?? date - entry.date
            let isOld = limits.ageSeconds > 0 && age > limits.ageSeconds
            if isOld || total > limits.totalBytes { remove(entry) }
        }
        guard makesRoom, var missing = room.map({ reserve - $0 }), missing > 0 else {
            return removed
        }
        let rest = all.filter { $0.name != kept && !removed.contains($0.name) }.dropLast()
        guard missing <= rest.reduce(0, { $0 + $1.bytes }) else { return removed }
        for entry in rest where missing > 0 {
            remove(entry)
            missing -= entry.bytes
        }
        return removed
    }

    /// Compares the ages of two recordings. A recording with a known age is from this process, and
    /// therefore newer than all others, although their dates can be later: the clock of a computer
    /// without a battery can be behind. Recordings of the same age have the order of their names.
    private static func isOlder(_ a: Entry, than b: Entry, _ ages: [String: Double]) -> Bool {
        switch (ages[a.name], ages[b.name]) {
        case (let age?, let other?): age == other ? a.name < b.name : age > other
        case (nil, _?): true
        case (_?, nil): false
        case (nil, nil): a.date == b.date ? a.name < b.name : a.date < b.date
        }
    }

    /// Number of bytes that can still be written to the disk. Nil if the system does not report the
    /// free space.
    public var room: Int? { measureRoom(directory) }

    /// Measures the room on the disk of a directory, bytes. A twentieth of the disk, but at most
    /// 64 MB, remains free for other programs. Nil if the system does not report the free space.
    public static func room(_ directory: FilePath) -> Int? {
        guard let space = DiskSpace(of: directory.string) else { return nil }
        return space.free - min(space.size / 20, 64_000_000)
    }
}
