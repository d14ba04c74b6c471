import Robot
import Testing

@Suite("Commands of a robot's remote control") struct RobotCommandTests {
    private static let sent = "F>B>S>R45>L-45>U7>D-7>"
    private static let meant: [RobotCommand?] = [
        .slide(forwards: true), .slide(forwards: false), .stop, .turn(45), .turn(-45), .lift(7),
        .lift(-7),
    ]

    @Test("the app's commands are read from writes of any length", arguments: 1...22)
    func cuts(length: Int) {
        var splitter = RobotCommandSplitter()
        var found: [RobotCommand?] = []
        let bytes = Array(Self.sent.utf8)
        for from in stride(from: 0, to: bytes.count, by: length) {
            found += splitter.append(bytes[from..<min(from + length, bytes.count)])
        }
        #expect(found == Self.meant)
    }

    @Test(
        "an invalid command is read as nil, and the next command is read",
        arguments: [">", "X>", "F1>", "R>", "R+5>", "R4 5>", "Rx>", "R123456789>", "U99999>", "f>"])
    func none(text: String) {
        var splitter = RobotCommandSplitter()
        #expect(splitter.append(Array((text + "S>").utf8)) == [nil, .stop])
    }

    @Test("E is the emergency stop, and C resets the emergency stop")
    func stops() {
        #expect(RobotCommand(Array("E".utf8)) == .emergencyStop)
        #expect(RobotCommand(Array("C".utf8)) == .resetEmergencyStop)
    }
}
