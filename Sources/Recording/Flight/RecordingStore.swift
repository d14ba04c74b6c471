internal import Glibc
public import SystemPackage

/// Writer of the recordings' files: copies of the ring buffer, and continuous recordings, which can
/// consist of several files. The store waits for the disk and therefore runs on a separate thread.
/// If the disk is full or not writable, the store reports the problem. A continuous recording then
/// resumes after 10 s.
public struct RecordingStore {
    /// Description of the machine, included in every file.
    public struct Description: Sendable {
        /// Name and version of the program that writes the file, such as `airframed 0.1.0`.
        public var library: String
        /// Metadata of the file: version, board, clocks.
        public var metadata: [String: String]
        /// Files to embed in the recording: settings, versions, board.
        public var attachments: [MCAPAttachment]

        /// Creates a description.
        public init(library: String, metadata: [String: String], attachments: [MCAPAttachment]) {
            self.library = library
            self.metadata = metadata
            self.attachments = attachments
        }
    }

    /// State of the recordings, and the last error.
    public struct Report: Sendable, Equatable {
        /// The newest complete file; nil before the first file.
        public var lastFile: String?
        /// Current file of the continuous recording; nil without a continuous recording.
        public var openFile: String?
        /// Size of the continuous recording's current file, bytes.
        public var openBytes = 0
        /// Number of files completed since the start of the program.
        public var files = 0
        /// Number of recordings in the directory.
        public var stored = 0
        /// Size of all recordings in the directory, bytes.
        public var storedBytes = 0
        /// Number of chunks that a continuous recording has lost.
        public var lostChunks = 0
        /// Reason why the last write failed, with a remedy; nil after a success.
        public var problem: String?
    }

    /// The directory of the recordings.
    public let recordings: RecordingDirectory
    /// Current state of the recordings.
    public private(set) var report = Report()
    private var open: FlightWriter?
    /// Names of the attachments in the open file.
    private var embedded: Set<String> = []
    /// Number of the next chunk that must be written to the continuous recording.
    public private(set) var next: UInt64 = 0
    /// Number of the first chunk that can be written after a failure.
    private var retry: UInt64 = 0
    /// Number of chunks that are not written after a failure: at most 10 s. The number does not
    /// depend on the date, which the network can set back.
    private static let pause = UInt64(10 / FlightEncoder.chunkSeconds)
    /// Time of the newest chunk, ns. The chunks' clock does not depend on the date.
    private var newest: Int64 = 0
    /// Time of the newest chunk at the last change of each file that this store has written, by the
    /// file's name, ns.
    private var changes: [String: Int64] = [:]
    /// Minimum free space for the start of a continuous recording, bytes.
    private static let smallest = 1_000_000

    /// Creates a store that has not written anything yet.
    public init(recordings: RecordingDirectory) { self.recordings = recordings }

    /// Ages of the files that this store has written, s, by name. The dates of these files can be
    /// wrong: on a computer without a battery for its clock, the network corrects the date later.
    private var ages: [String: Double] {
        changes.mapValues { Double(newest - $0) * 1e-9 }
    }

    /// True if a continuous recording has an open file.
    public var isOpen: Bool { open != nil }

    /// Writes chunks to a separate file. After a failure, there is no file.
    ///
    /// - Parameters:
    ///   - chunks: Chunks with the messages of the file.
    ///   - reason: Reason for writing the file, which becomes part of the file name.
    ///   - description: Description of the machine.
    ///   - date: Current date, seconds since 1970.
    /// - Returns: Path of the written file; nil after a failure, which `report.problem` describes.
    @discardableResult
    public mutating func dump(
        _ chunks: [MCAPChunk], reason: String, _ description: Description, date: Double
    ) -> FilePath? {
        let bytes = chunks.reduce(100_000) { $0 + $1.fileBytes + 200 }
        newest = max(newest, chunks.last?.end ?? 0)
        do throws(Failure) {
            var writer = try begin(
                reason, description, date: date, reserve: bytes, makesRoom: true)
            do throws(Errno) {
                for chunk in chunks { try writer.append(chunk) }
                try writer.finish()
            } catch {
                writer.abandon()
                unlink(writer.path.string)
                throw Failure(error, "writing", writer.path)
            }
            changes[Self.name(writer.path.string)] = newest
            report.lastFile = writer.path.string
            report.files += 1
            report.problem = nil
            count()
            return writer.path
        } catch {
            report.problem = error.sentence
            return nil
        }
    }

    /// Writes chunks to the continuous recording, and starts a continuous recording if necessary.
    ///
    /// - Parameters:
    ///   - chunks: The new chunks. Chunks that are already written are skipped.
    ///   - description: Description of the machine, for the beginning of a file.
    ///   - date: Current date, seconds since 1970.
    public mutating func record(
        _ chunks: some Collection<MCAPChunk>, _ description: () -> Description, date: Double
    ) {
        let new = chunks.filter { $0.number >= next }
        guard let first = new.first, let last = new.last, last.number >= retry else { return }
        newest = max(newest, last.end)
        do throws(Failure) {
            if next > 0, open != nil, first.number > next {
                report.lostChunks += Int(first.number - next)
            }
            let description = description()
            for chunk in new { try keep(chunk, description, date: date) }
            try embed(description.attachments)
            report.problem = nil
        } catch {
            close()
            report.problem = error.sentence
            report.lostChunks += new.count
            retry = last.number + Self.pause
        }
        next = last.number + 1
        report.openFile = open?.path.string
        report.openBytes = open?.size ?? 0
    }

    /// Ends the continuous recording.
    public mutating func stop() {
        guard open != nil else { return }
        close()
        retry = 0
        count()
    }

    /// Sets the first chunk of the continuous recording; chunks with smaller numbers are skipped.
    public mutating func begin(at number: UInt64) {
        next = max(next, number)
        retry = 0
    }

    /// Embeds attachments that are not in the open file yet, such as changed settings.
    private mutating func embed(_ attachments: [MCAPAttachment]) throws(Failure) {
        guard let path = open?.path else { return }
        for attachment in attachments where embedded.insert(attachment.name).inserted {
            do throws(Errno) {
                try open?.append(attachment)
            } catch {
                throw Failure(error, "writing", path)
            }
        }
    }

    private mutating func keep(
        _ chunk: MCAPChunk, _ description: Description, date: Double
    ) throws(Failure) {
        if let writer = open, writer.size + chunk.fileBytes > recordings.limits.fileBytes {
            close()
        }
        if open == nil {
            open = try begin(
                "recording", description, date: date, reserve: Self.smallest, makesRoom: false)
            embedded = Set(description.attachments.map(\.name))
        }
        guard let path = open?.path else { return }
        // The limits of the directory are checked only once every 20 chunks, because reading the
        // directory is slow. This method is called twice a second.
        if chunk.number % 20 == 0 {
            recordings.prune(
                date: date, reserve: chunk.fileBytes, keeping: path.lastComponent?.string,
                ages: ages, makesRoom: false)
            count()
            try requireRoom(chunk.fileBytes)
        }
        do throws(Errno) {
            try open?.append(chunk)
        } catch {
            throw Failure(error, "writing", path)
        }
        changes[Self.name(path.string)] = newest
    }

    private mutating func close() {
        guard var writer = open else { return }
        open = nil
        do throws(Errno) {
            try writer.finish()
        } catch {
            report.problem = Failure(error, "ending", writer.path).sentence
        }
        report.lastFile = writer.path.string
        report.openFile = nil
        report.openBytes = 0
        report.files += 1
    }

    private func begin(
        _ reason: String, _ description: Description, date: Double, reserve: Int, makesRoom: Bool
    ) throws(Failure) -> FlightWriter {
        do throws(Errno) {
            try recordings.prepare()
        } catch {
            throw Failure(error, "making the directory", recordings.directory)
        }
        recordings.prune(
            date: date, reserve: reserve, keeping: report.openFile.map(Self.name), ages: ages,
            makesRoom: makesRoom)
        try requireRoom(reserve)
        var metadata = description.metadata
        metadata["reason"] = reason
        // If a file written in the same second already has this name, the next attempt uses another
        // name.
        for attempt in 0..<100 {
            let path = recordings.directory.appending(
                RecordingDirectory.name(reason, date: date, attempt: attempt))
            do throws(Errno) {
                return try FlightWriter(
                    path: path, library: description.library, metadata: metadata,
                    attachments: description.attachments)
            } catch {
                if error != .fileExists { throw Failure(error, "creating", path) }
            }
        }
        throw Failure(.fileExists, "creating", recordings.directory)
    }

    private func requireRoom(_ bytes: Int) throws(Failure) {
        if let room = recordings.room, room < bytes {
            throw Failure(.noSpace, "writing", recordings.directory)
        }
    }

    /// Counts the recordings in the directory, for `report`, and forgets removed ones.
    public mutating func look() { count() }

    private mutating func count() {
        let entries = recordings.entries
        report.stored = entries.count
        report.storedBytes = entries.reduce(0) { $0 + $1.bytes }
        let names = Set(entries.map(\.name))
        changes = changes.filter { names.contains($0.key) }
    }

    private static func name(_ path: String) -> String {
        FilePath(path).lastComponent?.string ?? path
    }

    /// Message about a failed write.
    private struct Failure: Error {
        let sentence: String

        init(_ error: Errno, _ what: String, _ path: FilePath) {
            let help =
                switch error {
                case .noSpace, .diskQuotaExceeded, .fileTooLarge:
                    "Free disk space, lower recording.max_total_mb, or move persistence.directory to another disk."
                case .readOnlyFileSystem:
                    "Name this directory in ReadWritePaths= in a drop-in of the service, as recorder.md describes, or mount the disk for writing."
                case .permissionDenied, .notPermitted:
                    "Let the user of airframed write to this directory, or set persistence.directory."
                default: "Check `dmesg`, or move persistence.directory to another disk."
                }
            sentence =
                "\(path): \(error) while \(what) a recording; nothing else is affected. \(help)"
        }
    }
}
