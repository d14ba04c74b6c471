import Glibc
import SystemPackage

/// Writer of the `.gcsv` file next to a recording, from messages of airframed. Only one thread uses
/// a `MotionLog`.
struct MotionLog {
    private let recorder: Recorder
    private var file: FileDescriptor?
    private var text = ""
    private var newest = -Double.infinity

    /// Creates the log of a recording; the first sample creates the file.
    init(_ recorder: Recorder) { self.recorder = recorder }

    /// Whether the log belongs to a recording.
    func belongs(to other: Recorder) -> Bool { recorder === other }

    /// Appends a sample. Adds a sample to the log. Samples before the first picture are left out,
    /// and so are repeated samples, because a stream can contain a record twice.
    ///
    /// - Parameters:
    ///   - t: Time on the loop's clock, s.
    ///   - offset: CLOCK_MONOTONIC minus the loop's clock, s.
    ///   - rate: Angular rate about x, y, z, rad/s.
    ///   - force: Specific force along x, y, z, m/s².
    /// - Throws: `Errno` if the file cannot be written.
    mutating func append(t: Double, offset: Double, rate: [Double], force: [Double]) throws {
        guard let start = recorder.start else { return }
        let begin = Double(start) * 1e-9 - offset
        guard t >= begin, t > newest else { return }
        newest = t
        if file == nil {
            var path = recorder.path
            path.extension = "gcsv"
            file = try FileDescriptor.open(
                path, .writeOnly, options: [.create, .truncate, .closeOnExec],
                permissions: [.ownerReadWrite, .groupRead])
            text = GyroLog.header(
                video: recorder.path.lastComponent?.string ?? "", start: begin, date: time(nil))
        }
        text += GyroLog.line(time: t - begin, rate: rate, force: force)
        if text.utf8.count > 4096 { try flush() }
    }

    /// Writes the lines that are still in memory to the file.
    mutating func flush() throws {
        defer { text = "" }
        _ = try file?.writeAll(text.utf8)
    }

    /// Ends the file.
    mutating func close() {
        // The video recording reports the same error of the disk, so the log does not report it.
        try? flush()
        try? file?.close()
        file = nil
    }
}
