import GimbalCore
public import SystemPackage

/// Recording of the flight recorder, read from a file; if the file is damaged, only the readable
/// part.
public struct FlightFile: Sendable {
    /// One record of the recording; the records are in the order in which the loop made them.
    enum Record {
        /// State of the whole stabilizer, as raw memory in the layout that the file describes.
        case state([UInt8])
        case parameters([UInt8])
        case command(CommandMessage)
        case sample(SampleMessage)
        case tick(TickMessage)
        case event(EventMessage)
    }

    /// Metadata of the file: version, board, reason for writing.
    public let metadata: [String: String]
    /// Files that are embedded in the recording, in the order of the recording.
    public let attachments: [MCAPAttachment]
    /// Converter for the raw memory contents in the file; nil if the file does not describe their
    /// layout.
    let memory: RecordedMemory?
    private let reader: MCAPReader
    private let path: FilePath

    /// Opens a recording.
    ///
    /// - Parameter path: Path of the file.
    /// - Throws: `FlightFileError`, which states the path and a remedy.
    public init(path: FilePath) throws(FlightFileError) {
        try self.init(bytes: Self.contents(of: path), path: path)
    }

    /// Reads a recording from bytes.
    ///
    /// - Parameters:
    ///   - bytes: Content of the whole file.
    ///   - path: Name of the file, for error messages.
    /// - Throws: `FlightFileError`.
    public init(bytes: [UInt8], path: FilePath) throws(FlightFileError) {
        let magic = MCAPOpcode.magic
        guard bytes.starts(with: magic.prefix(5)) else {
            throw .notMCAP(path: path, beginning: Array(bytes.prefix(8)))
        }
        guard bytes.starts(with: magic) else {
            throw .unknownVersion(path: path, version: bytes.count > 5 ? bytes[5] : 0)
        }
        reader = MCAPReader(bytes: bytes)
        self.path = path
        var metadata: [String: String]?
        var attachments: [MCAPAttachment] = []
        _ = reader.read { item in
            switch item {
            case .metadata(FlightChannels.metadataName, let values): metadata = metadata ?? values
            case .attachment(let attachment): attachments.append(attachment)
            case .metadata, .message: break
            }
            return true
        }
        guard let metadata else { throw .notOurs(path: path) }
        let format = metadata["format"].flatMap { Int($0) } ?? 0
        guard format <= FlightChannels.format else {
            throw .newerFormat(
                path: path, format: format, version: metadata["version"] ?? "unknown")
        }
        self.metadata = metadata
        self.attachments = attachments
        memory = RecordedMemory(attachments)
    }

    /// All settings that were in force during the recording, in chronological order, as TOML.
    public var settings: [String] {
        attachments.filter { $0.name.hasPrefix("settings") }
            .map { String(decoding: $0.data, as: UTF8.self) }
    }

    /// Compute the duration between two times of a file. If the times of a damaged file are
    /// invalid, the difference can overflow without a trap.
    ///
    /// - Parameters:
    ///   - start: Start of the interval, ns.
    ///   - end: End of the interval, ns.
    /// - Returns: The difference, s.
    public static func seconds(from start: Int64, to end: Int64) -> Double {
        Double(end &- start) * 1e-9
    }

    /// Visits every record.
    ///
    /// - Parameter visit: Function that receives each record and its time in the file, ns. If the
    ///   function returns false, no further records are passed to it.
    /// - Returns: The readable part of the file.
    @discardableResult
    func read(_ visit: (Record, Int64) -> Bool) -> MCAPReader.Outcome {
        var damaged = 0
        var outcome = reader.read { item in
            guard case .message(let topic, _, let time, let data) = item else { return true }
            let record: Record?
            switch topic {
            case TickMessage.topic: record = TickMessage(data).map(Record.tick)
            case SampleMessage.topic: record = SampleMessage(data).map(Record.sample)
            case CommandMessage.topic: record = CommandMessage(data).map(Record.command)
            case EventMessage.topic: record = EventMessage(data).map(Record.event)
            case StateMessage.topic: record = StateMessage(data).map { .state($0.memory) }
            case ParametersMessage.topic:
                record = ParametersMessage(data).map { .parameters($0.memory) }
            default: return true
            }
            guard let record else {
                damaged += 1
                return true
            }
            return visit(record, time)
        }
        if damaged > 0 { outcome.remarks.append("\(damaged) messages are damaged and left out") }
        return outcome
    }

    private static func contents(of path: FilePath) throws(FlightFileError) -> [UInt8] {
        do {
            return try FileDescriptor.bytes(of: path)
        } catch {
            throw .unreadable(path: path, cause: error)
        }
    }
}

/// Reason why a file cannot be read as a flight recording.
public enum FlightFileError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The file could not be opened or read.
    case unreadable(path: FilePath, cause: Errno)
    /// The file is not an MCAP file.
    case notMCAP(path: FilePath, beginning: [UInt8])
    /// The file is an MCAP file of another major version.
    case unknownVersion(path: FilePath, version: UInt8)
    /// The file is an MCAP file, but not a recording of airframe's flight recorder.
    case notOurs(path: FilePath)
    /// A newer version of airframe has written the file, in a format that this version would
    /// misread.
    case newerFormat(path: FilePath, format: Int, version: String)
    /// The file contains no state at which a replay could begin.
    case nothingToReplay(path: FilePath, reason: String)

    /// Error message with a remedy.
    public var description: String {
        switch self {
        case .unreadable(let path, let cause): "\(path): cannot be read: \(cause)."
        case .notMCAP(let path, let beginning):
            "\(path): this is not an MCAP file (it begins with \(Self.hex(beginning)), not 89 4d 43 41 50 30). "
                + "`airframectl record --last 30s` writes an MCAP file; to replay an `.imu` log, run `airframectl replay LOG.imu --output EST.csv`."
        case .unknownVersion(let path, let version):
            "\(path): this is MCAP version \(Character(Unicode.Scalar(version))); this airframectl reads version 0. A newer airframectl may be able to read this file."
        case .notOurs(let path):
            "\(path): this MCAP file is not from airframed's recorder (it has no metadata \"airframe\"). Open the file with Foxglove or PlotJuggler."
        case .newerFormat(let path, let format, let version):
            "\(path): airframe \(version) wrote this file in format \(format); this version reads format \(FlightChannels.format). "
                + "Use airframectl \(version); Foxglove and PlotJuggler can read the file."
        case .nothingToReplay(let path, let reason): "\(path): nothing to replay: \(reason)"
        }
    }

    private static func hex(_ bytes: [UInt8]) -> String {
        bytes.isEmpty
            ? "nothing"
            : bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(separator: " ")
    }
}
