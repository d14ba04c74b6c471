import GimbalCore
import Realtime
import Testing

@testable import Recording

@Suite("Recorded commands")
struct CommandMessageTests {
    /// Every command, with values that differ from zero.
    static let commands: [Command] = [
        .mode(.panFollow), .point(target: axes, duration: 2.5, rate: 0.1), .rate(axes),
        .track(pan: -0.1, tilt: 1.0 / 3), .aim(Aim(target: axes, rate: axes, smoothing: 0.3)),
        .lookAside(yaw: 0.2, rate: -0.7, lead: 1e-9),
        .excite(
            Excitation(
                id: .max, axis: .roll, amplitude: 0.01, periodTicks: 2048, ticks: 8192,
                errorLimit: 0.05)),
        .testMotor(.pitch), .findEnd(.roll, isPositive: true), .findEnd(.yaw, isPositive: false),
        .resetIntegrals, .emergencyStop, .resetEmergencyStop, .shutdown,
    ]
    private static let axes = AxisVector(yaw: 0.1, roll: -0.0, pitch: -.pi)

    private func recorded(_ message: CommandMessage) -> CommandMessage? {
        var bytes: [UInt8] = []
        message.write(to: &bytes)
        return bytes.withUnsafeBytes { CommandMessage($0) }
    }

    @Test("every command is read as it was written, in a known kind", arguments: commands)
    func fields(command: Command) throws {
        let message = CommandMessage(tick: 7, TimedCommand(command))
        let read = try #require(recorded(message))
        #expect(read.command == command)
        #expect(read.word != "other" && !read.word.contains(where: \.isUppercase))
    }

    @Test("a command without fields of its own is read as it was written", arguments: commands)
    func form(command: Command) throws {
        let form = CommandMessage.form(of: command)
        #expect(CommandMessage.command(form: form) == command)
        var message = CommandMessage(other: form)
        #expect(try #require(recorded(message)).command == command)
        #expect(form.hasPrefix("{\"\(message.word)\""))
        message = CommandMessage(other: "{\"unknown\":{}}")
        #expect(message.command == nil && message.word == "unknown")
    }

    @Test("a value that is not a number survives")
    func notANumber() throws {
        let form = CommandMessage.form(of: .track(pan: .nan, tilt: -.infinity))
        guard case .track(let pan, let tilt) = try #require(CommandMessage.command(form: form))
        else {
            Issue.record("\(form)")
            return
        }
        #expect(pan.isNaN && tilt == -.infinity)
    }
}
