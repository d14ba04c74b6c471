import GimbalCore
import Port
import Testing
import Wire

@Suite("AirOS messages over Bluetooth")
struct AirOSTests {
    private func bytes(_ hex: String) -> [UInt8] {
        hex.split(separator: " ").compactMap { UInt8($0, radix: 16) }
    }

    private func command(_ text: String) throws -> AirOSCommand {
        try AirOSCommand(bytes: Array(text.utf8))
    }

    private func fault(_ body: () throws -> Void) -> Refusal? {
        #expect(throws: Refusal.self, performing: body)
    }

    @Test("the service has the UUID that apps expect, and the characteristics have valid UUIDs")
    func uuids() {
        #expect(AirOSCharacteristic.allCases.count == 10)
        #expect(AirOSCharacteristic.service == "4fafc201-1fb5-459e-8fcc-c5c9c331914b")
        #expect(Array(AirOSCharacteristic.advertisedName.utf8).count == 12)
        for uuid in AirOSCharacteristic.allCases.map(\.rawValue) {
            #expect(uuid.utf8.count == 36 && uuid == uuid.lowercased())
        }
    }

    @Test(
        "angles are little-endian float32 values",
        arguments: [(Float(12.5), "00 00 48 41"), (-3.25, "00 00 50 c0"), (0, "00 00 00 00")])
    func angleBytes(angle: Float, hex: String) {
        #expect(AirOSAngles.bytes(angle) == bytes(hex))
    }

    @Test(
        "pitch is positive downwards, roll and yaw are positive to the right, and angles are wrapped to ±180°"
    )
    func signs() {
        let radian = Double.pi / 180
        let angles = AirOSAngles(AxisVector(yaw: 190, roll: 5, pitch: 30) * radian)
        #expect(abs(angles.yaw - -170) < 1e-4)
        #expect(abs(angles.roll - 5) < 1e-5)
        #expect(abs(angles.pitch - -30) < 1e-5)
        let turned = AirOSAngles(
            AxisVector(yaw: 10, roll: 5, pitch: 30) * radian,
            sign: AxisVector(yaw: -1, roll: 1, pitch: -1))
        #expect(abs(turned.yaw - -10) < 1e-5)
        #expect(abs(turned.pitch - 30) < 1e-5)
        #expect(AirOSAngles.bytes(AirOSAngles(.zero).pitch) == [0, 0, 0, 0])
    }

    @Test("a mode is one byte in the range 0...4")
    func modes() throws {
        for (byte, mode) in AirOSMode.allCases.enumerated() {
            #expect(mode.bytes == [UInt8(byte)])
            #expect(try AirOSMode(bytes: [UInt8(byte)]) == mode)
        }
        #expect(fault { _ = try AirOSMode(bytes: []) } == .length(expected: 1, found: 0))
        #expect(fault { _ = try AirOSMode(bytes: [1, 0]) } == .length(expected: 1, found: 2))
        for byte in UInt8(5)...255 {
            #expect(fault { _ = try AirOSMode(bytes: [byte]) } != nil)
        }
    }

    @Test("the status value of a mode is the mode's number plus one, except for inactive")
    func status() {
        #expect(
            AirOSMode.allCases.map { AirOSStatus($0).rawValue } == [0, 2, 3, 4, 5])
        #expect(AirOSStatus.calibrating.bytes == [1])
        #expect(
            Mode.allCases.map { AirOSStatus(AirOSMode($0)).rawValue } == [0, 2, 3, 4, 5, 0, 0])
    }

    @Test("a PID triple of twelve bytes is decoded to its decimal values")
    func pid() throws {
        let golden = bytes("9a 99 99 3f cd cc cc 3d cd cc 4c 3d")
        let triple = try PIDTriple(bytes: golden)
        #expect(triple == PIDTriple(p: 1.2, i: 0.1, d: 0.05))
        #expect(triple == .tilt)
        #expect(triple.bytes == golden)
        #expect(try PIDTriple(bytes: PIDTriple.pan.bytes) == .pan)
    }

    @Test("a Kalman triple consists of three float32 values: q_angle, q_bias, r_measure")
    func kalman() throws {
        let triple = KalmanTriple(qAngle: 0.001, qBias: 0.003, rMeasure: 0.03)
        #expect(triple.bytes == bytes("6f 12 83 3a a6 9b 44 3b 8f c2 f5 3c"))
        #expect(try KalmanTriple(bytes: triple.bytes) == triple)
    }

    @Test("a triple of any other length is refused", arguments: [0, 1, 4, 11, 13, 24, 512])
    func tripleLength(count: Int) {
        let value = [UInt8](repeating: 0, count: count)
        #expect(fault { _ = try PIDTriple(bytes: value) } == .length(expected: 12, found: count))
        #expect(fault { _ = try KalmanTriple(bytes: value) } == .length(expected: 12, found: count))
    }

    @Test("a triple with NaN or infinity is refused, and the error names the value")
    func tripleFinite() {
        let infinity = bytes("00 00 80 7f")
        let nan = bytes("00 00 c0 ff")
        let one = bytes("00 00 80 3f")
        #expect(fault { _ = try PIDTriple(bytes: nan + one + one) } == .notFinite("p"))
        #expect(fault { _ = try PIDTriple(bytes: one + infinity + one) } == .notFinite("i"))
        #expect(fault { _ = try KalmanTriple(bytes: one + one + nan) } == .notFinite("r_measure"))
    }

    @Test("every finite float32 value is unchanged after a conversion to decimal and back")
    func decimalDigits() throws {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<20_000 {
            let bits = (0..<3).map { _ in
                Float(bitPattern: .random(in: 0...UInt32.max, using: &generator))
            }
            guard bits.allSatisfy(\.isFinite) else { continue }
            let value = bits.flatMap(AirOSAngles.bytes)
            #expect(try PIDTriple(bytes: value).bytes == value)
        }
    }

    @Test(
        "every command of the firmware is accepted",
        arguments: [
            ("calibrate", AirOSCommand.calibrate), ("save", .save), ("defaults", .defaults),
            ("reset_yaw", .resetYaw), ("reset_pid", .resetPID), ("yaw_status", .yawStatus),
            ("force_decay", .forceDecay), ("Emergency_Stop", .emergencyStop),
            ("reset_emergency_stop", .resetEmergencyStop), ("track_pan:0.00", .trackPan(0)),
            ("track_tilt:0.00", .trackTilt(0)), ("track_pan:-12.50", .trackPan(-12.5)),
            ("track_tilt:45.00", .trackTilt(45)), ("track_pan:+1e1", .trackPan(10)),
        ])
    func commands(text: String, expected: AirOSCommand) throws {
        #expect(try command(text) == expected)
        #expect(try command(text.uppercased()) == expected)
    }

    @Test(
        "any other text is an unknown command, and spaces are not trimmed",
        arguments: [
            "", " ", "calibrate ", " save", "save\n", "save\0", "track_pan", "trackpan:1", "ſave",
            "track_roll:1", "mode:1",
        ])
    func unknown(text: String) {
        #expect(fault { _ = try command(text) } == .unknownCommand(text))
    }

    @Test("a tracking speed must be a finite decimal number without other characters")
    func speeds() {
        for text in ["", "abc", "1.2.3", "12abc", "0x10", "1,5", " 1", "1 ", "--1", "track_pan:1"] {
            #expect(fault { _ = try command("track_pan:" + text) } == .notANumber(text))
        }
        for text in ["nan", "NaN", "inf", "-inf", "1e999"] {
            #expect(
                fault { _ = try command("track_tilt:" + text) } == .notFinite("the speed"))
        }
    }

    @Test("bytes that are not UTF-8 text are refused")
    func notText() {
        #expect(fault { _ = try AirOSCommand(bytes: [0xFF, 0xFE]) } == .notText)
        #expect(fault { _ = try AirOSCommand(bytes: Array("save".utf8) + [0xC3]) } == .notText)
    }

    @Test("an unknown command is escaped and shortened in the log")
    func quoting() {
        let text = "save\n<0>kernel: panic" + String(repeating: "x", count: 400)
        let sentence = Refusal.unknownCommand(text).message
        #expect(!sentence.contains("\n"))
        #expect(sentence.utf8.count < 100)
        #expect(sentence.contains(#"save\n"#))
    }
}
