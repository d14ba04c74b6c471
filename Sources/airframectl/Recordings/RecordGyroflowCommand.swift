import ArgumentParser
import Client
import Glibc
import PlainText
import Recording
import SystemPackage

struct RecordGyroflowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gyroflow",
        abstract:
            "Replace the .gcsv file of a video with a file that contains every tick of the loop.",
        discussion: """
            airframe-eyes writes a .gcsv file with up to 200 samples per second next to each video, and starts the flight recorder. This command \
            reads the time of the video from the .gcsv file, and the camera's motion from the recording.
            """)

    @Argument(help: "The .gcsv file next to the video.", completion: .file(extensions: ["gcsv"]))
    var log: String
    @Argument(
        help: "Flight recordings made during the video, in chronological order.",
        completion: .file(extensions: ["mcap"]))
    var files: [String]

    func run() throws {
        guard let (header, end) = GyroLog.Header.read(try Self.text(of: FilePath(log))) else {
            throw ClientError.file(
                "\(log): this is not a .gcsv file from airframe-eyes, or the file contains no samples.",
                field: "log")
        }
        let recordings = try files.map { (name: $0, file: try RecordedFile.open($0)) }
        var new = GyroLog(header)
        var samples = 0
        do {
            let table = try TableFile(log)
            try table.write(header.text.utf8)
            for recording in recordings {
                let result = try new.convert(recording.file, until: end) { text in
                    try table.write(text.utf8)
                }
                samples += result.samples
                RecordedFile.tell(result.outcome, of: recording.name)
            }
            guard samples > 1 else {
                throw ClientError.file(
                    "\(files.joined(separator: ", ")): the recordings contain no tick from the time of the video \(header.video)"
                        + (header.recording.map { "; the recording made with the video is \($0)" }
                            ?? "") + ".",
                    field: "files")
            }
            try table.close()
        } catch let error as Errno {
            throw ClientError.file("\(log): \(error) while writing", field: "log")
        }
        let seconds = end - header.start
        Output.line(
            "\(log): \(Format.count(samples)) samples in \(Format.fixed(seconds, 1)) s, \(Format.fixed(Double(samples) / seconds, 0)) per second."
        )
    }

    private static func text(of path: FilePath) throws(ClientError) -> String {
        do {
            return String(decoding: try FileDescriptor.bytes(of: path), as: UTF8.self)
        } catch {
            throw .file("\(path): \(error)", field: "log")
        }
    }
}
