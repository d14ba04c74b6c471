import Testing
import Wire

@Suite("A robot's commands") struct RobotCommandTests {
    private static let sent = "F>B>S>R45>L-45>U7>D-7>"
    private static let meant: [RobotCommand?] = [
        .slide(forwards: true), .slide(forwards: false), .stop, .turn(45), .turn(-45), .lift(7),
        .lift(-7),
    ]

    @Test("are read exactly as the app sends them, however writes cut them", arguments: 1...22)
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
        "what is none is nothing, and the next one is read",
        arguments: [">", "X>", "F1>", "R>", "R+5>", "R4 5>", "Rx>", "R123456789>", "U99999>", "f>"])
    func none(text: String) {
        var splitter = RobotCommandSplitter()
        #expect(splitter.append(Array((text + "S>").utf8)) == [nil, .stop])
    }

    @Test("stop everything, and end that")
    func stops() {
        #expect(RobotCommand(Array("E".utf8)) == .emergencyStop)
        #expect(RobotCommand(Array("C".utf8)) == .resetEmergencyStop)
    }
}
