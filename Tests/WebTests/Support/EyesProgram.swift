import Glibc
import SystemPackage
import TestSupport
import Wire

/// airframe-eyes with the test picture, as a separate process.
final class EyesProgram {
    /// True if airframe-eyes is built; without GStreamer it is not built.
    static var isBuilt: Bool { RunningProgram.isBuilt("airframe-eyes") }
    /// JavaScript expression for the number of pictures that the page has shown.
    static let pictures = "Number(document.querySelector('.video')?.dataset.pictures ?? 0)"

    private let program: RunningProgram

    var log: String { program.log }
    var process: pid_t { program.process }

    /// Starts the program.
    ///
    /// - Parameters:
    ///   - rig: The other programs.
    ///   - pictures: Path of the socket for pictures.
    ///   - settings: Settings `KEY=VALUE` for airframe-eyes.
    /// - Throws: `Problem` with the program's output if the program does not start.
    init(_ rig: Rig, pictures: String, _ settings: [String] = []) throws {
        let all =
            [
                "rtsp.listen=127.0.0.1:\(Rig.freePort())", "gimbal.socket=\"\(rig.socket)\"",
                "video.source=test", "pictures.socket=\"\(pictures)\"",
            ] + settings
        program = try RunningProgram(
            "airframe-eyes", all.flatMap { ["--set", $0] }, in: rig.directory)
        guard program.says("The stream is at") else {
            throw Rig.Problem(description: "airframe-eyes does not start: \(program.log)")
        }
    }

    func kill() {
        Glibc.kill(program.process, SIGKILL)
        program.wait(seconds: 5)
    }
}

extension Rig {
    /// Newest report of airframe-eyes about people, and about its stream.
    func people() throws -> JSONValue? { try report("people") }
    func eyes() throws -> JSONValue? { try report("eyes") }

    private func report(_ name: String) throws -> JSONValue? {
        try status()["companions"]?.array?.map { $0["report"] ?? .null }
            .first { $0["name"] == .string(name) }
    }
}
