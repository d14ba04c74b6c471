import Glibc
import SystemPackage
import TestSupport
import Testing
import Wire

@Suite("Lockstep with the simulator MuJoCo") struct MuJoCoTests {
    private static let root = FilePath(#filePath).removingLastComponent().removingLastComponent()
        .removingLastComponent()
    private static let python = root.appending(".build/peers/venv/bin/python").string
    private static let isThere =
        access(root.appending(".build/peers/venv/mujoco").string, F_OK) == 0

    @Test(
        "a gimbal in MuJoCo holds the camera while the user walks",
        .enabled(if: isThere, "MuJoCo is not installed: make lockstep-mujoco"))
    func walking() throws {
        try withTemporaryDirectory { directory in
            let program = try Program(
                [
                    Self.python, Self.root.appending("Tests/Peers/mujoco_gimbal.py").string,
                    "--airframed", try Program.built("airframed"), "--seconds", "6", "--still",
                    "1.5",
                    "--score-from", "4", "--json",
                ], in: directory)
            #expect(try program.wait(seconds: 120) == 0, "\(program.errors)")
            let score = try JSONValue(parsing: Array(program.output.utf8))
            #expect(score.number("enabled") == 1)
            for axis in ["yaw", "roll", "pitch"] {
                // The motion of the handle is 3° RMS.
                #expect(score.number(axis, "shake") < 0.05)
                #expect(score.number(axis, "hold") < 0.05)
            }
        }
    }
}
