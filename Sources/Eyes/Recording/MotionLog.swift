import Glibc
import SystemPackage

/// Writer of the `.gcsv` file next to a recording, from messages of airframed. One thread uses it.
struct MotionLog {
    private let recorder: Recorder
    private var file: FileDescriptor?
    private var text = ""
    private var newest = -Double.infinity

    /// A log for a recording; the file is created with the first sample.
    init(_ recorder: Recorder) { self.recorder = recorder }

    /// Whether the log belongs to a recording.
    func belongs(to other: Recorder) -> Bool { recorder === other }

    /// Appends a sample. Samples before the first picture are left out, and so are repetitions: a
    /// stream can contain a record twice.
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

    /// Writes what is in memory.
    mutating func flush() throws {
        defer { text = "" }
        _ = try file?.writeAll(text.utf8)
    }

    /// Ends the file.
    mutating func close() {
        // An error of the disk has been reported by the recording.
        try? flush()
        try? file?.close()
        file = nil
    }
}
