import Robot
import Testing

@Suite("Datagrams of a rider's remote control") struct RiderCommandTests {
    private static func read(_ text: String) throws(RiderError) -> RiderCommand {
        try RiderCommand(datagram: Array(text.utf8))
    }

    @Test(
        "wheel speeds in per cent are converted to fractions of full speed, and clamped to ±1",
        arguments: [
            (#"{"left":40,"right":-40,"timestamp":1719322321.25}"#, 0.4, -0.4),
            (#"{"timestamp":1,"right":12.5,"left":-100}"#, -1, 0.125),
            (#" {"left":250,"right":-1e3} "#, 1, -1),
            ("40,-40,0", 0.4, -0.4), ("100.5, -7 ,2\n", 1, -0.07), ("-0,0,1", 0, 0),
        ])
    func speeds(text: String, left: Double, right: Double) throws {
        #expect(try Self.read(text) == .drive(left: left, right: right))
    }

    @Test("the commands that set and reset the emergency stop are read")
    func stops() throws {
        #expect(try Self.read(#"{"command":"emergency_stop"}"#) == .emergencyStop)
        #expect(try Self.read(#"{"command":"reset_emergency_stop"}"#) == .resetEmergencyStop)
    }

    @Test(
        "an invalid command is refused with its reason",
        arguments: [
            ("", RiderError.fields(1)), ("{", .notJSON), ("{}", .notANumber("left")),
            (#"{"left":1}"#, .notANumber("right")),
            (#"{"left":"1","right":1}"#, .notANumber("left")),
            (#"{"left":1e999,"right":0}"#, .notJSON),
            (#"{"left":1,"right":1,"timestamp":"now"}"#, .notANumber("timestamp")),
            (#"{"command":"move"}"#, .unknownCommand), ("1,2", .fields(2)), ("1,2,3", .direction),
            ("1,x,0", .notANumber("right")), ("inf,0,0", .notANumber("left")),
            ("0x10,0,0", .notANumber("left")), ("1,2,0,0", .fields(4)),
        ])
    func malformed(text: String, error: RiderError) {
        #expect(throws: error) { try Self.read(text) }
    }

    @Test("a datagram that is not UTF-8, or is longer than 1024 bytes, is refused")
    func bytes() {
        #expect(throws: RiderError.notText) { try RiderCommand(datagram: [0xFF, 0x2C, 0x2C]) }
        #expect(throws: RiderError.tooLong(1025)) {
            try RiderCommand(datagram: [UInt8](repeating: 0x31, count: 1025))
        }
    }
}
