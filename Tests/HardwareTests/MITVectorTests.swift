import Configuration
import GimbalCore
import Testing

@testable import Hardware

/// Vectors of drives with the Mini Cheetah's protocol and of the CyberGear: see `DriveVectorTests`.
@Suite("Codecs of Mini Cheetah, Damiao and CyberGear: vectors of the vendors")
struct MITVectorTests {
    static let ids = DriveCodecTests.ids

    // MARK: Mini Cheetah: firmware of the drive, bgkatz/motorcontrol, can.c (0526ecff) and math_ops.c (11522e8b)

    /// Ranges that the firmware has without settings (main.c): ±12.5 rad, ±65 rad/s, ±40 N·m.
    static let katz = MITLimits(angle: 12.5, rate: 65, torque: 40)

    @Test(
        "the firmware of a Mini Cheetah drive takes the codec's torque from the frame",
        arguments: [
            (40, 0x0FFF, 40), (-40, 0x0000, -40), (10.2, 0x0A0A, 10.2075691),
            (-3.7, 0x0742, -3.70207596), (0, 0x0800, 0.0097694397),
        ] as [(Double, UInt16, Double)])
    func katzCommands(torque: Double, field: UInt16, understood: Double) {
        var codec = MITCodec(ids: Self.ids, host: 0, limits: Self.katz, variant: .plain)
        let sent = frames(&codec, torque: AxisVector(yaw: torque, roll: 0, pitch: 0))
        #expect(sent[0] == CANFrame(id: 1, data: [255, 255, 255, 255, 255, 255, 255, 0xFC]))
        // The firmware's unpack_cmd reads 0.0002 rad, 0.016 rad/s, two gains of 0, and the torque.
        let bytes: [UInt8] = [0x80, 0, 0x80, 0, 0, 0, UInt8(field >> 8), UInt8(field & 0xFF)]
        #expect(sent[1] == CANFrame(id: 1, data: bytes))
        // The firmware computes with Float, whose steps at 40 are 4e-6.
        let step = 2 * Self.katz.torque / 4095
        #expect(abs(understood - torque) <= step / 2 + 4e-6)
        #expect(
            abs(FixedPoint.decode(UInt32(field), range: 40, bits: 12) - understood) < 1e-5)
    }

    @Test("the replies of a Mini Cheetah drive are read within one step of the firmware's values")
    func katzReplies() {
        let codec = MITCodec(ids: Self.ids, host: 0, limits: Self.katz, variant: .plain)
        for (data, axis, angle, rate) in [
            ([0x01, 0x8F, 0x5B, 0x7B, 0x88, 0x99], .yaw, 1.5, -2.25),
            ([0x02, 0x00, 0x00, 0xFF, 0xF0, 0x00], .roll, nil, 65),
            ([0x03, 0x88, 0x0A, 0x80, 0x27, 0xFF], .pitch, 0.7853982, 0.1),
            ([0x01, 0xFE, 0xF8, 0x01, 0xFF, 0xCB], .yaw, 12.4, -64),
        ] as [([UInt8], GimbalAxis, Double?, Double)] {
            let news = codec.decode(in: CANFrame(id: 0, data: data))
            #expect(news?.axis == axis && news?.fault == nil && news?.isRunning == nil)
            // pack_reply cuts the fractions off.
            #expect((-1e-6...25 / 65535.0).contains((angle ?? 99) - (news?.angle ?? 99)))
            #expect((-1e-6...130 / 4095.0).contains(rate - (news?.rate ?? 99)))
        }
    }

    @Test("only Damiao's drives get the command that clears faults")
    func clear() {
        // The firmware of the Mini Cheetah reads it as 12.5 rad, 65 rad/s, 500 N·m/rad and 39.9 N·m.
        let clear = CANFrame(id: 1, data: [255, 255, 255, 255, 255, 255, 255, 0xFB])
        var bad = DriveState()
        bad.fault = 4
        for variant in MITVariant.allCases {
            var codec = MITCodec(ids: Self.ids, host: 0, limits: Self.katz, variant: variant)
            let sent = (0..<100).flatMap {
                frames(
                    &codec, enabled: false, states: PerAxis(bad), at: 0.05 * Double($0))
            }
            #expect(sent.contains(clear) == (variant == .damiao), "\(variant)")
        }
    }

    // MARK: Damiao: dmBots/motor-control-routine, DM_CAN.py (2c77d616) and dm4310_drv.c (5aa484f8)

    /// Ranges of a DM4310 in the vendor's programs.
    static let damiao = MITLimits(angle: 12.5, rate: 30, torque: 10)

    @Test(
        "a torque for a Damiao drive is within one step of the frames of both vendor's programs",
        arguments: [
            (10, [0x7F, 0xFF, 0x7F, 0xF0, 0, 0, 0x0F, 0xFF]),
            (-10, [0x7F, 0xFF, 0x7F, 0xF0, 0, 0, 0, 0]),
            (2.5, [0x7F, 0xFF, 0x7F, 0xF0, 0, 0, 0x09, 0xFF]),
            (-3.7, [0x7F, 0xFF, 0x7F, 0xF0, 0, 0, 0x05, 0x09]),
            (0, [0x7F, 0xFF, 0x7F, 0xF0, 0, 0, 0x07, 0xFF]),
        ] as [(Double, [UInt8])])
    func damiaoCommands(torque: Double, vendor: [UInt8]) {
        var codec = MITCodec(ids: Self.ids, host: 0x11, limits: Self.damiao)
        let sent = frames(&codec, torque: AxisVector(yaw: torque, roll: 0, pitch: 0))[1]
        func fields(_ data: [UInt8]) -> [Int] {
            let bytes = data.map(Int.init)
            return [
                bytes[0] << 8 | bytes[1], bytes[2] << 4 | bytes[3] >> 4,
                (bytes[3] & 15) << 8 | bytes[4], bytes[5] << 4 | bytes[6] >> 4,
                (bytes[6] & 15) << 8 | bytes[7],
            ]
        }
        for (ours, theirs) in zip(fields(sent.data), fields(vendor)) {
            #expect(ours == theirs || ours == theirs + 1)
        }
        #expect(fields(sent.data)[2...3] == [0, 0], "both gains are exactly zero")
    }

    @Test("the replies of a Damiao drive are read as by both vendor's programs")
    func damiaoReplies() {
        let codec = MITCodec(ids: Self.ids, host: 0x11, limits: Self.damiao)
        // State 1 is on; 11 and 13 are faults. dm4310_drv.c reads the temperatures of MOSFETs and coil.
        for (data, axis, state, angle, rate, celsius) in [
            (
                [0x12, 0x9A, 0xBC, 0xDE, 0xF1, 0x23, 0x28, 0x2D], .roll, 1, 2.6110094, 22.2637363,
                [40, 45]
            ),
            (
                [0xB2, 0x40, 0x10, 0x12, 0x38, 0x00, 0x50, 0x3C], .roll, 11, -6.2438010,
                -25.7362637, [80, 60]
            ),
            ([0xD1, 0x00, 0x00, 0xFF, 0xFF, 0xFF, 0x20, 0x21], .yaw, 13, nil, 30, [32, 33]),
        ] as [([UInt8], GimbalAxis, UInt32, Double?, Double, [Double])] {
            let news = codec.decode(in: CANFrame(id: 0x11, data: data))
            #expect(news?.axis == axis && news?.isRunning == (state == 1))
            #expect(news?.fault == (state < 8 ? 0 : state))
            #expect(abs((news?.angle ?? 99) - (angle ?? 99)) < 1e-6)
            #expect(abs((news?.rate ?? 99) - rate) < 1e-6)
            #expect(news?.temperature == celsius.max())
        }
    }

    @Test("the requests to a Damiao drive's watchdog are those of the vendor's program")
    func damiaoRegister() {
        var codec = MITCodec(ids: Self.ids, host: 0x11, limits: Self.damiao, watchdog: 0.025)
        let sent = frames(&codec, enabled: false).filter { $0.id == 0x7FF }.map(\.data)
        #expect(sent[0] == [0x01, 0x00, 0x55, 0x09, 0xF4, 0x01, 0x00, 0x00])
        #expect(sent[2] == [0x02, 0x00, 0x55, 0x09, 0xF4, 0x01, 0x00, 0x00])
        #expect(sent[3] == [0x02, 0x00, 0x33, 0x09, 0x00, 0x00, 0x00, 0x00])
        // switchControlMode of DM_CAN.py with Control_Type.MIT.
        let on = frames(&codec, at: 0.002).filter { $0.id == 0x7FF }.map(\.data)
        #expect(on.first == [0x01, 0x00, 0x55, 0x0A, 0x01, 0x00, 0x00, 0x00])
    }

    // MARK: CyberGear
    // The commands are those of the sample program in the vendor's manual, section 4.2.1 (translation:
    // belovictor/cybergear-docs, 17e371b8), which reads no replies. A program of RobStride, whose drives
    // have the same protocol, has read the replies: RobStride/SampleProgram, Robstride01.cpp (ecedf565).
    // The RS01 has larger ranges of rate and torque.

    @Test(
        "a torque for a CyberGear is within one step of the frames of the vendor's sample program",
        arguments: [
            (12, 0x01FF_FF02), (-12, 0x0100_0002), (3, 0x019F_FF02), (-1.7, 0x016D_DD02),
            (0, 0x017F_FF02),
        ] as [(Double, UInt32)])
    func cyberGearCommands(torque: Double, vendor: UInt32) {
        var codec = CyberGearCodec(ids: Self.ids, host: 0xFD)
        let sent = frames(&codec, torque: AxisVector(yaw: 0, roll: torque, pitch: 0))
        // RobStride's program also has the host in the enabling frame; the manual's sets it to zero.
        #expect(frames(&codec, at: 0.002)[2].id == 0x0300_FD02)
        let command = sent[3]
        #expect(command.id & 0xFF00_00FF == vendor & 0xFF00_00FF)
        #expect([0, 1].contains(Int(command.id >> 8 & 0xFFFF) - Int(vendor >> 8 & 0xFFFF)))
        // Theirs is 7F FF 7F FF 00 00 00 00: half a step below zero instead of above.
        #expect(command.data == [0x80, 0, 0x80, 0, 0, 0, 0, 0])
        let stop = frames(&codec, enabled: false, at: 0.004)[1]
        #expect(stop.id == 0x0400_FD02 && stop.data == [0, 0, 0, 0, 0, 0, 0, 0])
    }

    @Test("a CyberGear's reply is read as by the program of RobStride")
    func cyberGearReplies() {
        let codec = CyberGearCodec(ids: Self.ids, host: 0xFD)
        // Rates are fractions of the range.
        for (id, data, angle, rate, celsius, fault, isRunning) in [
            (
                0x0284_02FD, [0x9A, 0xBC, 0x40, 0, 0x80, 0, 1, 0x5D], 2.61101, -0.4999924, 34.9, 4,
                true
            ),
            (0x0200_02FD, [0, 0, 0xFF, 0xFF, 0x12, 0x34, 0, 0xFA], nil, 1, 25, 0, false),
            (0x02A1_02FD, [0xFF, 0xFF, 0, 0, 0x80, 0, 1, 0x2C], nil, -1, 30, 33, true),
        ] as [(UInt32, [UInt8], Double?, Double, Double, UInt32, Bool)] {
            let news = codec.decode(in: CANFrame(id: id, isExtended: true, data: data))
            #expect(news?.axis == .roll && news?.isRunning == isRunning && news?.fault == fault)
            #expect(abs((news?.angle ?? 99) - (angle ?? 99)) < 2e-6)
            #expect(abs((news?.rate ?? 99) / 30 - rate) < 1e-7)
            #expect(news?.temperature == celsius)
        }
    }

    @Test("the identifiers of a request and its reply are those of the vendor's example")
    func robStrideIdentifiers() {
        // RobStride RS00 manual, section 4.1.16: type 17, host FD, drive 7F. The codec's type is 9.
        let (request, reply): (UInt32, UInt32) = (0x1100_FD7F, 0x1100_7FFD)
        var codec = CyberGearCodec(
            ids: DriveIDs(yaw: 0x7F, roll: 2, pitch: 3), host: 0xFD, watchdog: 0.025)
        let sent = (0..<10).flatMap { frames(&codec, enabled: false, at: 0.02 * Double($0)) }
        let ids = sent.map(\.id).filter { $0 >> 24 == 9 && $0 & 0xFF == 0x7F }
        let expected: UInt32 = request - (17 - 9) << 24
        #expect(ids.first == expected)
        // In the example, index and value are little-endian, and the value begins with the fifth byte.
        let data: [UInt8] = [0x0C, 0x20, 4, 0, 0xF4, 1, 0, 0]
        let news = codec.decode(
            in: CANFrame(id: reply - (17 - 9) << 24, isExtended: true, data: data))
        #expect(news?.axis == .yaw && news?.watchdog == 0.025)
    }

    @Test(
        "the requests to a CyberGear's watchdog are those of another author, cybergeardriver 0.2.0")
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
}
