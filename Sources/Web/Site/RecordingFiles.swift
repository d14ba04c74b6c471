import Dispatch
import FoundationEssentials
import GimbalCore
import Glibc
import Recording
import Synchronization
import SystemPackage
import WebServing
import Wire

/// Access to the flight recorder's files: list, download, table and plot. The class is thread-safe.
final class RecordingFiles: Sendable {
    /// Largest size of a file for a plot or a table, bytes.
    static let plotLimit = 100_000_000
    /// Largest number of points of a plot.
    static let mostPoints = 10_000
    /// Largest number of events of a plot.
    static let mostEvents = 200
    /// Largest number of conversions (tables and plots) that wait or run.
    static let mostConversions = 2
    /// Queue for the list of the files and for downloads.
    private let disk = DispatchQueue(label: "web-recordings")
    /// Queue for tables and plots, which take seconds.
    private let converter: DispatchQueue
    private let conversions = Mutex(0)
    private let directory = Mutex("")
    /// Directory of the temporary files for tables.
    private let scratch: String

    /// - Parameters:
    ///   - scratch: Directory of the temporary files for tables. The directory must be on a disk:
    ///     files in `/tmp` can count as memory of the program.
    ///   - converter: Serial queue for tables and plots; no other work uses this queue.
    init(
        scratch: String, converter: DispatchQueue = DispatchQueue(label: "web-conversions")
    ) {
        self.scratch = scratch
        self.converter = converter
    }

    /// Stores the path of the recorder's directory, as reported by airframed.
    func note(directory: String) { self.directory.withLock { $0 = directory } }

    /// Answers a request for `/recordings`: the list of the files.
    func respondWithList(_ answer: @escaping @Sendable (WebResponse) -> Void) {
        let directory = directory.withLock { $0 }
        disk.async { answer(Self.list(directory)) }
    }

    /// Answers a request below `/recordings/` for a file, for a table of a file, or for a plot of a
    /// file.
    ///
    /// HTTP status 503 if `mostConversions` conversions wait or run. No answer is sent if the
    /// client disconnects before the conversion begins.
    func respond(to request: WebRequest, _ answer: @escaping @Sendable (WebResponse) -> Void) {
        let name = String(request.path.dropFirst("/recordings/".count))
        guard Self.isName(name) else {
            return answer(.refusal(404, "There is no such recording."))
        }
        let path = directory.withLock { $0 } + "/" + name
        if request.query["plot"] != nil {
            convert(request, answer) { Self.plot(path, request) }
        } else if let table = request.query["table"] {
            convert(request, answer) { [scratch] in Self.table(path, table, scratch) }
        } else {
            disk.async { answer(Self.download(path, type: "application/octet-stream")) }
        }
    }

    private func convert(
        _ request: WebRequest, _ answer: @escaping @Sendable (WebResponse) -> Void,
        _ work: @escaping @Sendable () -> WebResponse
    ) {
        let isAccepted = conversions.withLock { count in
            guard count < Self.mostConversions else { return false }
            count += 1
            return true
        }
        guard isAccepted else {
            return answer(
                .refusal(
                    503,
                    "airframe-web is already converting \(Self.mostConversions) recordings. Try again when these conversions are finished."
                ))
        }
        converter.async { [self] in
            let response = request.isConnected() ? work() : nil
            conversions.withLock { $0 -= 1 }
            if let response { answer(response) }
        }
    }

    /// True if the name is valid for a recording in the directory; false for a path to another
    /// directory.
    private static func isName(_ name: String) -> Bool {
        name.hasSuffix(".mcap") && !name.hasPrefix(".")
            && name.utf8.allSatisfy { $0 != UInt8(ascii: "/") && $0 > 0x20 && $0 < 0x7F }
    }

    private static func list(_ directory: String) -> WebResponse {
        // The recorder creates the directory together with the first file. Therefore a missing
        // directory is not an error.
        guard access(directory, F_OK) == 0 else { return .json(200, .array([])) }
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: directory) else {
            return .refusal(403, "The directory of recordings cannot be read.")
        }
        let files = names.filter(isName).compactMap {
            name -> (time: Int, name: String, bytes: Int)? in
            var info = stat()
            guard stat(directory + "/" + name, &info) == 0 else { return nil }
            return (info.st_mtim.tv_sec, name, Int(info.st_size))
        }
        // The name contains the date at the beginning of the file, which is wrong if the network has
        // set the clock later. As in the recorder, the last change determines which file is newer.
        let newest = files.sorted { ($0.time, $0.name) > ($1.time, $1.name) }.prefix(500).map {
            JSONValue.object([
                "name": .string($0.name), "bytes": .int($0.bytes), "time": .int($0.time),
            ])
        }
        return .json(200, .array(newest))
    }

    private static func download(_ path: String, type: String) -> WebResponse {
        guard let file = OpenFile(path) else {
            return .refusal(404, "The recording cannot be read.")
        }
        return file.response(type: type)
    }

    private static func open(_ path: String) throws(FlightFileError) -> FlightFile {
        var info = stat()
        guard stat(path, &info) == 0, info.st_size <= plotLimit else {
            throw FlightFileError.unreadable(path: FilePath(path), cause: .fileTooLarge)
        }
        return try FlightFile(path: FilePath(path))
    }

    /// Returns the table of a channel. The table is written to a temporary file, because the table
    /// can be larger than the memory.
    private static func table(
        _ path: String, _ channel: String, _ directory: String
    ) -> WebResponse {
        guard let channel = FlightTable.Channel(rawValue: channel) else {
            return .refusal(400, "table must be tick, sample, command or event.")
        }
        do {
            let file = try open(path)
            guard let scratch = OpenFile.temporary(in: directory) else {
                return .refusal(500, "A temporary file cannot be created in \(directory).")
            }
            _ = try FlightTable.write(channel, of: file) { bytes in try scratch.append(bytes) }
            return scratch.response(type: "text/csv; charset=utf-8")
        } catch {
            return .refusal(422, "\(error)")
        }
    }

    /// Values over time, for plots and the replay, reduced to the number of points in `plot`.
    private static func plot(_ path: String, _ request: WebRequest) -> WebResponse {
        let series: FlightSeries
        do {
            series = FlightSeries(try open(path))
        } catch {
            return .refusal(422, "\(error)")
        }
        let count = min(mostPoints, max(2, Int(request.query["plot"] ?? "") ?? 600))
        // The stride is rounded up, so that the plot has at most `count` points.
        let stride = max(1, (series.times.count + count - 1) / count)
        let picked = Swift.stride(from: 0, to: series.times.count, by: stride)
        var values: [String: JSONValue] = [:]
        for (group, axes) in [
            ("attitude", series.attitude), ("setpoint", series.setpoint), ("joint", series.joint),
            ("error", series.error), ("torque", series.torque),
        ] {
            values["\(group).yaw"] = .array(picked.map { number(axes[$0].yaw) })
            values["\(group).roll"] = .array(picked.map { number(axes[$0].roll) })
            values["\(group).pitch"] = .array(picked.map { number(axes[$0].pitch) })
        }
        let events = series.events.prefix(mostEvents).map { event in
            JSONValue.object([
                "t": number(event.time), "name": .string(event.name), "what": .string(event.what),
                "fault": .bool(event.isFault), "end": number(event.end),
                "count": .int(event.count),
            ])
        }
        return .json(
            200,
            .object([
                "seconds": number(series.seconds),
                "t": .array(picked.map { number(series.times[$0]) }), "values": .object(values),
                "events": .array(events),
                "events_left_out": .int(series.events.count - events.count),
            ]))
    }

    private static func number(_ value: Double) -> JSONValue {
        value.isFinite ? .double((value * 1e6).rounded() / 1e6) : .null
    }
}

/// Open file. The file is closed when its last reference is released.
private final class OpenFile: Sendable {
    private let descriptor: FileDescriptor

    private init(_ descriptor: FileDescriptor) { self.descriptor = descriptor }

    /// Opens a file; symbolic links are refused.
    convenience init?(_ path: String) {
        guard
            let descriptor = try? FileDescriptor.open(
                FilePath(path), .readOnly, options: [.noFollow, .closeOnExec])
        else { return nil }
        self.init(descriptor)
    }

    deinit { try? descriptor.close() }

    /// Creates a temporary file without a name.
    static func temporary(in directory: String) -> OpenFile? {
        var template = Array("\(directory)/table.XXXXXX".utf8CString)
        let raw = mkstemp(&template)
        guard raw >= 0 else { return nil }
        unlink(template)
        return OpenFile(FileDescriptor(rawValue: raw))
    }

    func append(_ bytes: [UInt8]) throws { _ = try descriptor.writeAll(bytes) }

    /// Returns the file as an answer. The file is read in parts while the client receives it.
    func response(type: String) -> WebResponse {
        let length = Int((try? descriptor.seek(offset: 0, from: .end)) ?? 0)
        return WebResponse(
            200, headers: [("content-type", type), ("cache-control", "no-store")],
            body: .parts(length: length) { [self] offset in
                let size = min(64 * 1024, length - offset)
                var buffer = [UInt8](repeating: 0, count: size)
                let count = buffer.withUnsafeMutableBytes {
                    (try? descriptor.read(
                        fromAbsoluteOffset: Int64(offset), into: $0, retryOnInterrupt: true)) ?? 0
                }
                return Array(buffer.prefix(count))
            })
    }
}
