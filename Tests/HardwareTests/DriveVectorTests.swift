import Configuration
import GimbalCore
import Testing

@testable import Hardware

/// Frames and values that programs of other authors have computed. Where a program cuts fractions off
/// and the codec rounds, the fields may differ by one step.
///
/// The vendors' documents contain few frames. moteus: reference manual, "example" (`DriveCodecTests`).
/// ODrive: the identifier of `CANSimple`'s example (`DriveCodecTests`). RobStride, which has the
/// CyberGear's protocol: one example of an identifier (`robStrideIdentifier`). We searched for frames
/// with a command or a measurement from the GM6020 user guide, "A low cost modular actuator" (Katz), the
/// CubeMars AK manual (V1.0.8, which has only the commands on, off and zero), the Damiao manuals, and
/// the CyberGear manual (translation by belovictor), and found none. We had only excerpts of most of
/// these documents. We found no recorded frame of a GM6020 in the tests of public programs. Therefore
/// the vectors of these protocols come from other programs.
@Suite("Codecs of drives: vectors of other programs")
struct DriveVectorTests {
    static let ids = DriveCodecTests.ids

    // MARK: ODrive: odrive_can 2.1.0, odrive-cansimple-0.6.10.dbc and -0.5.6.dbc, encoded with cantools

    @Test("the frames to an ODrive are those of the published DBC file")
    func odriveCommands() {
        var codec = ODriveCodec(
            ids: Self.ids, endpoints: DriveWatchdogTests.endpoints, watchdog: 0.025)
        let sent = frames(&codec, torque: AxisVector(yaw: 0, roll: 0.37, pitch: 0))
        #expect(sent.contains(CANFrame(id: 0x04B, data: [1, 0, 0, 0, 1, 0, 0, 0])))
        // The file has eight bytes for these messages; the rest of them is not used.
        #expect(sent.first { $0.id == 0x047 }?.data == [8, 0, 0, 0])
        #expect(sent.first { $0.id == 0x04E }?.data == [0xA4, 0x70, 0xBD, 0x3E])
        var wrong = DriveState()
        wrong.firmware = 0x00_0609
        wrong.watchdog = 0
        wrong.isWatchdogOn = false
        var off: [CANFrame] = []
        for number in 0..<100 {
            let now = 0.02 * Double(number)
            off += frames(&codec, enabled: false, states: PerAxis(wrong), at: now)
        }
        #expect(
            off.contains(
                CANFrame(id: 0x044, data: [0x01, 0x23, 0x01, 0, 0xCD, 0xCC, 0xCC, 0x3C])))
    }

    @Test("the frames of an ODrive with firmware 0.6 are read as in the published DBC file")
    func odriveReplies() {
        let codec = ODriveCodec(
            ids: Self.ids, endpoints: DriveWatchdogTests.endpoints, watchdog: 0.025)
        func read(_ id: UInt32, _ data: [UInt8]) -> DriveReading? {
            codec.decode(in: CANFrame(id: id, data: data))
        }
        let heartbeat = read(0x041, [0, 0, 0, 1, 8, 0, 0, 0])
        #expect(heartbeat?.fault == 0x100_0000 && heartbeat?.isRunning == true)
        #expect(read(0x043, [0, 0, 0, 1, 0, 0, 0, 0])?.fault == 0x100_0000)
        let estimate = read(0x049, [0, 0, 0xD0, 0xBF, 0, 0, 0x40, 0x3F])
        #expect(estimate?.angle == -1.625 * 2 * .pi && estimate?.rate == 0.75 * 2 * .pi)
        #expect(read(0x057, [0, 0, 0xC4, 0x41, 0, 0, 0x80, 0xBE])?.voltage == 24.5)
        #expect(read(0x055, [0, 0, 0x26, 0x42, 0, 0, 0x19, 0x42])?.temperature == 41.5)
        #expect(read(0x040, [2, 4, 4, 0x3A, 0, 6, 0x0A, 0])?.firmware == 0x00_060A)
        let timeout = read(0x045, [0, 0x23, 1, 0, 0xCD, 0xCC, 0xCC, 0x3C])?.watchdog
        #expect(abs((timeout ?? 0) - 0.025) < 1e-8)
    }

    @Test("the errors of an ODrive with firmware 0.5 are read as in the published DBC file")
    func odriveOld() {
        let codec = ODriveCodec(ids: Self.ids)
        func fault(_ id: UInt32, _ data: [UInt8]) -> UInt32? {
            codec.decode(in: CANFrame(id: id, data: data))?.fault
        }
        #expect(fault(0x041, [0, 8, 0, 0, 8, 0, 0, 0]) == 0x800)
        #expect(fault(0x043, [0x40, 0, 0, 0, 0, 0, 0, 0]) == 0x40)
        #expect(fault(0x044, [4, 0, 0, 0, 0, 0, 0, 0]) == 4)
        #expect(fault(0x05D, [1, 0, 0, 0, 0, 0, 0, 0]) == 1)
    }

    // MARK: Mini Cheetah: mini-cheetah-motor-driver-socketcan 0.4.3 and damiao-motor 1.0.6 give equal frames

    static let limits = MITLimits(angle: 12.5, rate: 30, torque: 10)

    @Test(
        "a torque for a Mini Cheetah drive is within one step of two other programs' frames",
        arguments: [
            (10, [0x7F, 0xFF, 0x7F, 0xF0, 0, 0, 0x0F, 0xFF]),
            (-10, [0x7F, 0xFF, 0x7F, 0xF0, 0, 0, 0, 0]),
            (2.5, [0x7F, 0xFF, 0x7F, 0xF0, 0, 0, 0x09, 0xFF]),
            (-3.7, [0x7F, 0xFF, 0x7F, 0xF0, 0, 0, 0x05, 0x09]),
            (0, [0x7F, 0xFF, 0x7F, 0xF0, 0, 0, 0x07, 0xFF]),
        ] as [(Double, [UInt8])])
    func mitCommands(torque: Double, other: [UInt8]) {
        var codec = MITCodec(ids: Self.ids, host: 0x11, limits: Self.limits)
        let sent = frames(&codec, torque: AxisVector(yaw: torque, roll: 0, pitch: 0))[1]
        func fields(_ data: [UInt8]) -> [Int] {
            let bytes = data.map(Int.init)
            return [
                bytes[0] << 8 | bytes[1], bytes[2] << 4 | bytes[3] >> 4,
                (bytes[3] & 15) << 8 | bytes[4], bytes[5] << 4 | bytes[6] >> 4,
                (bytes[6] & 15) << 8 | bytes[7],
            ]
        }
        for (ours, theirs) in zip(fields(sent.data), fields(other)) {
            #expect(ours == theirs || ours == theirs + 1)
        }
        #expect(fields(sent.data)[2...3] == [0, 0], "both gains are exactly zero")
    }

    @Test("the replies of Mini Cheetah drives are read as by two other programs")
    func mitReplies() {
        let plain = MITCodec(ids: Self.ids, host: 0x11, limits: Self.limits, variant: .plain)
        for (data, angle, rate) in [
            ([0x01, 0x9A, 0xBC, 0xDE, 0xF1, 0x23], 2.611009384298466, 22.263736263736263),
            ([0x02, 0x00, 0x00, 0xFF, 0xFF, 0xFF], -12.5, 30),
            ([0x03, 0x40, 0x10, 0x12, 0x38, 0x00], -6.243801022354467, -25.736263736263737),
        ] as [([UInt8], Double, Double)] {
            let news = plain.decode(in: CANFrame(id: 0x11, data: data))
            #expect(abs((news?.angle ?? 0) - angle) < 1e-9)
            #expect(abs((news?.rate ?? 0) - rate) < 1e-9)
        }
        // damiao-motor also names state ("ENABLED", "MOS_OVER_TEMP") and temperatures (40 and 45, 80
        // and 60 °C).
        let damiao = MITCodec(ids: Self.ids, host: 0x11, limits: Self.limits)
        let on = damiao.decode(
            in: CANFrame(id: 0x11, data: [0x12, 0x9A, 0xBC, 0xDE, 0xF1, 0x23, 0x28, 0x2D]))
        #expect(on?.axis == .roll && on?.isRunning == true && on?.fault == 0)
        #expect(on?.temperature == 45)
        let hot = damiao.decode(
            in: CANFrame(id: 0x11, data: [0xB2, 0x40, 0x10, 0x12, 0x38, 0x00, 0x50, 0x3C]))
        #expect(hot?.isRunning == false && hot?.fault == 11 && hot?.temperature == 80)
    }

    @Test(
        "the requests to a Damiao drive's watchdog are those of damiao-motor and motorbridge 0.5.6")
    func damiaoRegister() {
        var codec = MITCodec(ids: Self.ids, host: 0x11, limits: Self.limits, watchdog: 0.025)
        let sent = frames(&codec, enabled: false).filter { $0.id == 0x7FF }.map(\.data)
        #expect(sent[0] == [0x01, 0x00, 0x55, 0x09, 0xF4, 0x01, 0x00, 0x00])
        #expect(sent[2] == [0x02, 0x00, 0x55, 0x09, 0xF4, 0x01, 0x00, 0x00])
        #expect(sent[3] == [0x02, 0x00, 0x33, 0x09, 0x00, 0x00, 0x00, 0x00])
    }

    // MARK: CyberGear: cybergeardriver 0.2.0; the formulas of python-cybergear 0.1.2 are the same

    @Test(
        "a torque for a CyberGear is within one step of another program's frames",
        arguments: [
            (12, 0x01FF_FF02), (-12, 0x0100_0002), (3, 0x019F_FF02), (-1.7, 0x016D_DD02),
            (0, 0x017F_FF02),
        ] as [(Double, UInt32)])
    func cyberGearCommands(torque: Double, other: UInt32) {
        var codec = CyberGearCodec(ids: Self.ids, host: 0xFD)
        let sent = frames(&codec, torque: AxisVector(yaw: 0, roll: torque, pitch: 0))
        #expect(sent[2].id == 0x0300_FD02)
        let command = sent[3]
        #expect(command.id & 0xFF00_00FF == other & 0xFF00_00FF)
        #expect([0, 1].contains(Int(command.id >> 8 & 0xFFFF) - Int(other >> 8 & 0xFFFF)))
        // Theirs is 7F FF 7F FF 00 00 00 00: half a step below zero instead of above.
        #expect(command.data == [0x80, 0, 0x80, 0, 0, 0, 0, 0])
        #expect(frames(&codec, enabled: false, at: 0.002)[1].id == 0x0400_FD02)
    }

    @Test("a CyberGear's reply is read as by another program")
    func cyberGearReplies() {
        let codec = CyberGearCodec(ids: Self.ids, host: 0xFD)
        // Both programs use the range ±12.5 rad for the angle, the manual ±4π: 0.5 % more.
        let scale = 4 * Double.pi / 12.5
        let still: [UInt8] = [0x9A, 0xBC, 0x40, 0, 0x80, 0, 1, 0x5D]
        let first = codec.decode(in: CANFrame(id: 0x0284_02FD, isExtended: true, data: still))
        #expect(abs((first?.angle ?? 0) - 2.611009384298466 * scale) < 1e-9)
        #expect(abs((first?.rate ?? 0) + 14.99977111467155) < 1e-9)
        #expect(first?.temperature == 34.9)
        let limits: [UInt8] = [0, 0, 0xFF, 0xFF, 0x12, 0x34, 0, 0xFA]
        let second = codec.decode(in: CANFrame(id: 0x0200_02FD, isExtended: true, data: limits))
        #expect(abs((second?.angle ?? 0) + 12.5 * scale) < 1e-9)
        #expect(abs((second?.rate ?? 0) - 30) < 1e-9)
        #expect(second?.temperature == 25)
    }

    @Test("the requests to a CyberGear's watchdog are those of cybergeardriver")
    func cyberGearTable() {
        var codec = CyberGearCodec(ids: Self.ids, host: 0, watchdog: 0.025)
        var state = DriveState()
        state.watchdog = 0
        var sent: [CANFrame] = []
        for number in 0..<10 {
            let now = 0.02 * Double(number)
            sent += frames(&codec, enabled: false, states: PerAxis(state), at: now)
        }
        #expect(
            sent.contains(
                CANFrame(
                    id: 0x0800_0002, isExtended: true, data: [0x0C, 0x20, 4, 0, 0xF4, 1, 0, 0])))
        #expect(
            sent.contains(
                CANFrame(
                    id: 0x0900_0002, isExtended: true, data: [0x0C, 0x20, 0, 0, 0, 0, 0, 0])))
    }

    @Test("an identifier has the fields of the vendor's example: type 18, host FD, drive 1")
    func robStrideIdentifier() {
        // RobStride manual, "Communication box instruction example": 0x1200FD01.
        let example: UInt32 = 0x1200_FD01
        var codec = CyberGearCodec(ids: Self.ids, host: 0xFD, watchdog: 0.025)
        var reads: [UInt32] = []
        for number in 0..<10 {
            let sent = frames(&codec, enabled: false, at: 0.02 * Double(number))
            reads += sent.map(\.id).filter { $0 >> 24 == 9 && $0 & 0xFF == 1 }
        }
        let expected: UInt32 = example - (18 - 9) << 24
        #expect(reads.first == expected)
    }

    // MARK: moteus: the vendor's package moteus 1.1.1, make_position and make_stop

    @Test("the frames to a moteus are those of the vendor's Python package")
    func moteus() {
        var codec = MoteusCodec(ids: Self.ids, host: 0, watchdog: 0.05)
        let sent = frames(&codec, torque: AxisVector(yaw: 0.5, roll: 0, pitch: 0))[0]
        let package: [UInt8] = [
            0x01, 0x00, 0x0A, 0x0C, 0x05, 0x20, 0x00, 0x00, 0xC0, 0x7F, 0x00, 0x00, 0x00, 0x00,
            0x00, 0x00, 0x00, 0x3F, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x0D, 0x27,
            0xCD, 0xCC, 0x4C, 0x3D, 0x0D, 0x2B, 0x00, 0x00, 0x00, 0x00, 0x1C, 0x04, 0x00, 0x13,
            0x0D,
        ]
        #expect(sent.data == package + [UInt8](repeating: 0x50, count: 5))
        #expect(
            frames(&codec, enabled: false)[0].data
                == [0x01, 0x00, 0x00, 0x1C, 0x04, 0x00, 0x13, 0x0D])
    }

    // MARK: GM6020: formulas of gm6020_can (mjforan, Rust), executed in Python

    @Test(
        "a voltage for a GM6020 is within one step of another program's number",
        arguments: [(12, 0x30D4), (-7.3, -0x1DB4), (24, 0x61A8), (-24, -0x61A8)]
            as [(Double, Int)])
    func gm6020Voltage(volts: Double, other: Int) throws {
        var codec = GM6020Codec(ids: DriveIDs(yaw: 1, roll: 5, pitch: 7), mode: .voltage)
        // Without a torque, the voltage is the induced voltage of the rate, 13.33 rpm/V.
        var turning = DriveState()
        turning.rate = volts * 13.33 * 2 * .pi / 60
        let sent = frames(&codec, states: PerAxis(turning))
        #expect(sent.map(\.id) == [0x1FF, 0x2FF])
        for (frame, position) in [(0, 0), (1, 0), (1, 4)] {
            let number = Int(Int16(bitPattern: try #require(sent[frame].big16(at: position))))
            #expect(abs(number - other) <= 1, "\(volts)")
        }
    }

    @Test("a GM6020's reply is read as by another program")
    func gm6020Replies() {
        let codec = GM6020Codec(ids: Self.ids, mode: .voltage)
        // The other program divides the angle's counter by 8191, the codec by 8192 per turn; it uses
        // 3.14159 for π in the rate.
        for (data, angle, rate, celsius) in [
            ([0x0A, 0xBC, 0xFF, 0xC4, 0x02, 0x58, 0x29, 0], 2.1079469202941645, -6.28318, 41),
            ([0x1F, 0xFF, 0x00, 0x85, 0xF0, 0x00, 0x1E, 0], 6.283185307179586, 13.9277157, 30),
        ] as [([UInt8], Double, Double, Double)] {
            let news = codec.decode(in: CANFrame(id: 0x205, data: data))
            #expect(abs((news?.angle ?? 0) - angle * 8191 / 8192) < 1e-9)
            #expect(abs((news?.rate ?? 0) - rate) < 2e-5 && news?.temperature == celsius)
        }
    }
}
