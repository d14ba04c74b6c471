internal import Glibc
public import SystemPackage

/// The directory in which recordings are kept, and what may be in it.
public struct FlightShelf: Sendable {
    /// What is kept.
    public struct Limits: Sendable, Equatable {
        /// A continuous recording goes on in a new file from here on, bytes.
        public var fileBytes = 64_000_000
        /// All recordings together, bytes; the oldest go first.
        public var totalBytes = 1_000_000_000
        /// Recordings older than this go, s; 0: none does.
        public var ageSeconds = 30.0 * 86400

        /// The defaults.
        public init() {}
    }

    /// One recording.
    public struct Entry: Sendable, Equatable {
        /// Its name; the time is part of it, so that names sort by age.
        public var name: String
        /// Its length, bytes.
        public var bytes: Int
        /// When it was changed last, seconds since 1970.
        public var date: Double
    }

    /// Where the recordings are.
    public let directory: FilePath
    /// What may be there.
    public let limits: Limits
    /// Names of recordings begin so; nothing else in the directory is touched.
    private static let prefix = "airframe-"
    private static let suffix = ".mcap"

    /// A shelf; the directory need not be there yet.
    public init(directory: FilePath, limits: Limits) {
        self.directory = directory
        self.limits = limits
    }

    /// The name of a recording.
    ///
    /// - Parameters:
    ///   - reason: Why it is written: letters, digits, `_`, `-`.
    ///   - date: Seconds since 1970.
    ///   - attempt: Above 0 where the name before was taken.
    /// - Returns: `airframe-20261122T021530Z-reason.mcap`.
    public static func name(_ reason: String, date: Double, attempt: Int = 0) -> String {
        var seconds = time_t(date)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        func digits(_ value: Int32, _ count: Int) -> String {
            let text = String(value)
            return String(repeating: "0", count: max(0, count - text.count)) + text
        }
        let day =
            digits(parts.tm_year + 1900, 4) + digits(parts.tm_mon + 1, 2) + digits(parts.tm_mday, 2)
        let time = digits(parts.tm_hour, 2) + digits(parts.tm_min, 2) + digits(parts.tm_sec, 2)
        let rest = attempt > 0 ? "-\(attempt)" : ""
        return "\(prefix)\(day)T\(time)Z-\(reason)\(rest)\(suffix)"
    }

    /// Makes the directory.
    ///
    /// - Throws: What the system says.
    public func prepare() throws(Errno) {
        guard mkdir(directory.string, 0o750) != 0, errno != EEXIST else { return }
        guard errno == ENOENT else { throw Errno(rawValue: errno) }
        // One parent: the state directory, on a machine that has never saved anything.
        _ = mkdir(directory.removingLastComponent().string, 0o750)
        guard mkdir(directory.string, 0o750) == 0 else { throw Errno(rawValue: errno) }
    }

    /// Everything on the shelf, oldest first.
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

    /// Ends the recordings whose writer died; one that cannot be mended stays as it is, and is
    /// readable up to its last chunk.
    ///
    /// - Returns: The names of those that were mended.
    public func mend() -> [String] {
        entries.map(\.name).filter { name in
            (try? MCAPMender.mend(directory.appending(name))) ?? false
        }
    }

    /// Removes what is too old, and the oldest of what is too much.
    ///
    /// - Parameters:
    ///   - date: Seconds since 1970.
    ///   - reserve: Bytes that are about to be written.
    ///   - kept: The name of a file that stays, because it is being written.
    /// - Returns: The names of what was removed.
    @discardableResult
    public func prune(date: Double, reserve: Int, keeping kept: String?) -> [String] {
        var total = reserve
        let all = entries
        for entry in all { total += entry.bytes }
        var removed: [String] = []
        for entry in all where entry.name != kept {
            let isOld = limits.ageSeconds > 0 && date - entry.date > limits.ageSeconds
            guard isOld || total > limits.totalBytes else { continue }
            guard unlink(directory.appending(entry.name).string) == 0 else { continue }
            total -= entry.bytes
            removed.append(entry.name)
        }
        return removed
    }

    /// Bytes that may still be written to the disk without starving whoever else lives from it: a
    /// twentieth of it stays free, at most 64 MB. Nil when the system does not say.
    public var room: Int? {
        var status = statvfs()
        guard statvfs(directory.string, &status) == 0 else { return nil }
        let size = Int(status.f_blocks) * Int(status.f_frsize)
        let free = Int(status.f_bavail) * Int(status.f_frsize)
        return free - min(size / 20, 64_000_000)
    }
}
