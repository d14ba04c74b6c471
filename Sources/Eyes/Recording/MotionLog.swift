import Glibc
import Recording
import SystemPackage

/// Writer of the `.gcsv` file next to a recording. The data are from airframed's messages. A
/// `MotionLog` is used by one thread only. It continues across connections to airframed.
final class MotionLog {
    private let recorder: Recorder
    /// Name of the flight recording at the first picture; nil without a flight recording.
    var flight: String?
    private var log: GyroLog?
    /// CLOCK_MONOTONIC minus the clock of the log's times, s.
    private var origin = 0.0
    private var file: FileDescriptor?
    private var text = ""

    private var path: FilePath {
        var path = recorder.path
        path.extension = "gcsv"
        return path
    }

    /// Creates the log of a recording; the first sample creates the file.
    init(_ recorder: Recorder) { self.recorder = recorder }

    /// True if the log belongs to the given recording.
    func belongs(to other: Recorder) -> Bool { recorder === other }

    /// Appends a sample. Samples before the first picture are ignored. Duplicate samples are also
    /// ignored, because a stream can contain a record twice.
    ///
    /// - Parameters:
    ///   - sample: The sample.
    ///   - offset: CLOCK_MONOTONIC minus the loop's clock, s.
    /// - Throws: `Errno` if the file cannot be written.
    func append(_ sample: GyroLog.Sample, offset: Double) throws {
        if log == nil {
            guard let start = recorder.start else { return }
            let header = GyroLog.Header(
                video: recorder.path.lastComponent?.string ?? "",
                start: Double(start) * 1e-9 - offset, date: time(nil), recording: flight)
            file = try FileDescriptor.open(
                path, .writeOnly, options: [.create, .truncate, .closeOnExec],
                permissions: [.ownerReadWrite, .groupRead])
            text = header.text
            log = GyroLog(header)
            origin = offset
        }
        // A restart of airframed changes the loop's clock.
        var sample = sample
        sample.time += offset - origin
        text += log?.lines(for: sample) ?? ""
        if text.utf8.count > 4096 { try flush() }
    }

    /// Writes the lines in memory to the file.
    func flush() throws {
        defer { text = "" }
        _ = try file?.writeAll(text.utf8)
    }

    /// Writes the remaining lines, closes the file, and begins to sync it to the disk.
    func close() {
        // A disk error is not reported here, because it also stops the video recording, which
        // reports it.
        try? flush()
        try? file?.close()
        if file != nil { Recorder.sync(path) }
        file = nil
    }
}
