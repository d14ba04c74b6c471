import Configuration
import GimbalCore
import Testing

@testable import Hardware

/// Bytes of a request for one period.
func request<Codec: SerialCodec>(
    _ codec: inout Codec, enabled: Bool = true, angle: AxisVector = .zero,
    torque: AxisVector = .zero, states: PerAxis<DriveState> = PerAxis(DriveState()),
    at seconds: Double = 0
) -> [UInt8] {
    var bytes = SerialBytes()
    var command = DriveCommand(
        isEnabled: enabled, torque: torque, states: states,
        now: Instant(nanoseconds: 0).advanced(bySeconds: seconds))
    command.angle = angle
    codec.compose(command, into: &bytes)
    return bytes.data
}

/// Content of received bytes: the news of each motor, and the items in their order.
func content<Codec: SerialCodec>(
    _ codec: inout Codec, _ bytes: [UInt8]
) -> (news: [DriveReading], items: [SerialItem]) {
    var received = SerialBytes(bytes)
    var news: [DriveReading] = []
    var items: [SerialItem] = []
    while true {
        let item = codec.next(in: &received) { news.append($0) }
        if item == .incomplete { return (news, items) }
        items.append(item)
    }
}

@Suite("Codecs of servos and of the motor board")
struct SerialCodecTests {
    static let ids = DriveIDs(servos: AxisVector(yaw: 1, roll: 2, pitch: 3))
    static let middle = AxisVector(repeating: .pi)

    // MARK: Feetech ("SCS communication protocol", sections 4.1 to 4.7, and FTServo_stm32HAL)

    @Test("a Feetech packet has the bytes of the vendor's examples")
    func feetechExamples() {
        func packet(_ id: UInt8, _ instruction: UInt8, _ parameters: [UInt8]) -> [UInt8] {
            var bytes = SerialBytes()
            let start = FeetechCodec.begin(id, instruction, count: parameters.count, into: &bytes)
            for byte in parameters { bytes.append(byte) }
            FeetechCodec.end(start, &bytes)
            return bytes.data
        }
        #expect(packet(1, 0x01, []) == [0xFF, 0xFF, 1, 2, 1, 0xFB])
        #expect(packet(1, 0x02, [0x38, 2]) == [0xFF, 0xFF, 1, 4, 2, 0x38, 2, 0xBE])
        #expect(
            packet(1, 0x03, [0x2A, 0, 8, 0, 0, 0xE8, 3])
                == [0xFF, 0xFF, 1, 9, 3, 0x2A, 0, 8, 0, 0, 0xE8, 3, 0xD5])
        let goal: [UInt8] = [0, 8, 0, 0, 0xE8, 3]
        #expect(
            packet(0xFE, 0x83, [0x2A, 6, 1] + goal + [2] + goal + [3] + goal + [4] + goal).last
                == 0x58)
    }

    @Test("Feetech's examples of replies are valid packets: ping, and the position 1304")
    func feetechReplies() {
        for (bytes, count) in [
            ([0xFF, 0xFF, 1, 2, 0, 0xFC], 6), ([0xFF, 0xFF, 1, 4, 0, 0x18, 5, 0xDD], 8),
        ] as [([UInt8], Int)] {
            let (skip, length) = FeetechCodec.packet(in: SerialBytes(bytes))
            #expect(skip == 0 && length == count)
        }
        // A reply to a longer request begins with the same position.
        var codec = FeetechCodec(ids: Self.ids)
        // The checksum is that of Feetech's program: ftservo/FTServo_stm32HAL, SCS.c (16f0487b).
        let (news, items) = content(
            &codec, [0xFF, 0xFF, 2, 10, 0x24, 0x18, 5, 0, 0, 0x64, 4, 74, 41, 0xD7])
        #expect(items == [.reply] && news.first?.angle == 1304 / 4096 * 2 * .pi)
    }

    @Test("goals for three Feetech servos are the bytes of the vendor's program")
    func feetechProgram() {
        // syncWrite of SCS.c with the positions 2048, 1304 and 4095 at address 42.
        let vendor: [UInt8] = [
            0xFF, 0xFF, 0xFE, 0x0D, 0x83, 0x2A, 2, 1, 0, 8, 2, 0x18, 5, 3, 0xFF, 0x0F, 0x0C,
        ]
        var codec = FeetechCodec(ids: Self.ids)
        let step = 2 * Double.pi / 4096
        let angle = AxisVector(yaw: 2048, roll: 1304, pitch: 4095) * step
        #expect(Array(request(&codec, angle: angle).prefix(17)) == vendor)
    }

    @Test("Feetech servos get goals, are switched on once, and answer with their measurements")
    func feetechRequest() {
        var codec = FeetechCodec(ids: Self.ids)
        let first = request(&codec, angle: Self.middle)
        let goals: [UInt8] = [
            0xFF, 0xFF, 0xFE, 0x0D, 0x83, 42, 2, 1, 0, 8, 2, 0, 8, 3, 0, 8,
        ]
        #expect(Array(first.prefix(16)) == goals)
        #expect(Array(first[17..<24]) == [0xFF, 0xFF, 0xFE, 0x0D, 0x83, 40, 2])
        let second = request(&codec, angle: Self.middle, at: 0.004)
        #expect(Array(second.prefix(16)) == goals)
        #expect(second.count == 17 + 11)
        #expect(Array(second[17..<27]) == [0xFF, 0xFF, 0xFE, 7, 0x82, 56, 8, 1, 2, 3])
        #expect(codec.expectedBytes == 3 * 14 && codec.expectedReplies == 3)
    }

    @Test(
        "a goal beyond the servo's travel is limited to its end, and a servo that is off gets no goal"
    )
    func feetechEnds() {
        #expect(FeetechCodec.position(-0.1) == 0 && FeetechCodec.position(7) == 4095)
        #expect(FeetechCodec.position(.pi) == 2048)
        var codec = FeetechCodec(ids: Self.ids)
        _ = request(&codec, enabled: false, angle: Self.middle)
        var idle = DriveState()
        idle.isRunning = false
        let arrived = request(
            &codec, enabled: false, angle: Self.middle, states: PerAxis(idle), at: 0.004)
        // The servos have started to answer: the mode is set once.
        #expect(
            Array(arrived.prefix(13)) == [0xFF, 0xFF, 0xFE, 10, 0x83, 33, 1, 1, 0, 2, 0, 3, 0])
        let off = request(
            &codec, enabled: false, angle: Self.middle, states: PerAxis(idle), at: 0.008)
        #expect(off.count == 11 && off[4] == 0x82)
    }

    @Test("a servo that does not report its state is switched off in each period, and on only once")
    func unknownState() {
        var feetech = FeetechCodec(ids: Self.ids)
        var dynamixel = DynamixelCodec(ids: Self.ids, goal: .position)
        for period in 0..<20 {
            let time = Double(period) * 0.004
            let first = request(&feetech, enabled: false, at: time)
            #expect(
                Array(first.prefix(13)) == [
                    0xFF, 0xFF, 0xFE, 10, 0x83, 40, 1, 1, 0, 2, 0, 3, 0,
                ])
            let second = request(&dynamixel, enabled: false, at: time)
            #expect(
                Array(second.prefix(18)) == [
                    0xFF, 0xFF, 0xFD, 0, 0xFE, 13, 0, 0x83, 64, 0, 1, 0, 1, 0, 2, 0, 3, 0,
                ])
        }
        let on = request(&feetech, at: 0.1)
        let later = request(&feetech, at: 0.104)
        // The goals of three servos, and a request.
        #expect(on.count > later.count && later.count == 17 + 11)
    }

    @Test(
        "a Feetech reply is decoded: position, load, voltage, temperature and the causes of a fault"
    )
    func feetechReply() {
        var codec = FeetechCodec(ids: Self.ids)
        var bytes = SerialBytes()
        // The packet's instruction field is the servo's status: overload and temperature.
        let start = FeetechCodec.begin(2, 0x24, count: 8, into: &bytes)
        for byte: UInt8 in [0x18, 0x05, 0, 0, 0x64, 0x04, 74, 41] { bytes.append(byte) }
        FeetechCodec.end(start, &bytes)
        let (news, items) = content(&codec, bytes.data)
        #expect(items == [.reply] && news.count == 1)
        #expect(news[0].axis == .roll)
        #expect(abs((news[0].angle ?? 0) - 1304 / 4096 * 2 * .pi) < 1e-12)
        #expect(news[0].load == -0.1 && news[0].voltage == 7.4 && news[0].temperature == 41)
        #expect(news[0].fault == 0x24 && news[0].causes == [.overload, .overheated])
        #expect(news[0].rate == nil)
    }

    @Test("the echo of a request is not accepted as a reply, in any protocol")
    func echo() {
        var feetech = FeetechCodec(ids: Self.ids)
        let sent = request(&feetech, angle: Self.middle)
        #expect(content(&feetech, sent).items == [.foreign, .foreign, .foreign])
        var dynamixel = DynamixelCodec(ids: Self.ids, goal: .position)
        let more = request(&dynamixel, angle: Self.middle)
        #expect(Set(content(&dynamixel, more).items.map { "\($0)" }) == ["foreign"])
        var board = BoardCodec()
        let command = request(&board)
        #expect(content(&board, command).items == [.foreign])
    }

    // MARK: Dynamixel (e-Manual, "Protocol 2.0", examples of the instructions)

    @Test(
        "a Dynamixel packet has the bytes and the CRC of the vendor's examples",
        arguments: [
            (1, 0x01, [], "FF FF FD 00 01 03 00 01 19 4E"),
            (1, 0x02, [0x84, 0, 4, 0], "FF FF FD 00 01 07 00 02 84 00 04 00 1D 15"),
            (1, 0x03, [0x74, 0, 0, 2, 0, 0], "FF FF FD 00 01 09 00 03 74 00 00 02 00 00 CA 89"),
            (
                0xFE, 0x82, [0x84, 0, 4, 0, 1, 2],
                "FF FF FD 00 FE 09 00 82 84 00 04 00 01 02 CE FA"
            ),
            (
                0xFE, 0x83, [0x74, 0, 4, 0, 1, 0x96, 0, 0, 0, 2, 0xAA, 0, 0, 0],
                "FF FF FD 00 FE 11 00 83 74 00 04 00 01 96 00 00 00 02 AA 00 00 00 82 87"
            ),
            (1, 0x08, [], "FF FF FD 00 01 03 00 08 2F 4E"),
        ] as [(UInt8, UInt8, [UInt8], String)])
    func dynamixelExamples(id: UInt8, instruction: UInt8, parameters: [UInt8], text: String) {
        var bytes = SerialBytes()
        let start = DynamixelCodec.begin(id, instruction, into: &bytes)
        for byte in parameters { bytes.append(byte) }
        DynamixelCodec.end(start, &bytes)
        #expect(bytes.data == text.split(separator: " ").compactMap { UInt8($0, radix: 16) })
    }

    @Test(
        "the vendor's examples of Dynamixel replies are valid packets",
        arguments: [
            "FF FF FD 00 01 07 00 55 00 06 04 26 65 5D",
            "FF FF FD 00 01 08 00 55 00 A6 00 00 00 8C C0",
            "FF FF FD 00 02 08 00 55 00 1F 08 00 00 BA BE", "FF FF FD 00 01 04 00 55 00 A1 0C",
        ])
    func dynamixelReplies(text: String) {
        let bytes = text.split(separator: " ").compactMap { UInt8($0, radix: 16) }
        let (skip, count) = DynamixelCodec.packet(in: SerialBytes(bytes))
        #expect(skip == 0 && count == bytes.count)
        // airframed has requested other registers.
        var codec = DynamixelCodec(ids: Self.ids, goal: .position)
        #expect(content(&codec, bytes).items == [.foreign])
    }

    @Test("byte stuffing hides the header in parameters, and is removed on receipt")
    func stuffing() {
        for parameters: [UInt8] in [
            [0xFF, 0xFF, 0xFD], [0xFF, 0xFF, 0xFD, 0xFD],
            [1, 0xFF, 0xFF, 0xFF, 0xFD, 0xFF, 0xFF, 0xFD],
            [0xFD, 0xFD, 0xFF, 0xFD],
        ] {
            var bytes = SerialBytes()
            let start = DynamixelCodec.begin(1, 0x55, into: &bytes)
            for byte in parameters { bytes.append(byte) }
            DynamixelCodec.end(start, &bytes)
            let (skip, count) = DynamixelCodec.packet(in: bytes)
            #expect(skip == 0 && count == bytes.count)
            let plain = DynamixelCodec.unstuffed(bytes, count: bytes.count).data
            #expect(Array(plain[8..<plain.count - 2]) == parameters, "\(parameters)")
        }
    }

    @Test(
        "Dynamixel servos in current mode get currents for the torques, and are set up while off")
    func dynamixelCurrent() {
        var codec = DynamixelCodec(
            ids: Self.ids, goal: .current(ampsPerTorque: 2, step: 0.001))
        var off = DriveState()
        off.isRunning = false
        let setUp = content(&codec, request(&codec, enabled: false, states: PerAxis(off)))
        // Torque off, return delay, mode, and the request.
        #expect(setUp.items.count == 4)
        let torque = AxisVector(yaw: 0.1, roll: -0.1, pitch: 0)
        _ = request(&codec, torque: torque, states: PerAxis(off), at: 0.1)
        let sent = request(&codec, torque: torque, states: PerAxis(off), at: 0.104)
        // 200 mA and -200 mA.
        #expect(
            Array(sent[8..<21])
                == [102, 0, 2, 0, 1, 200, 0, 2, 0x38, 0xFF, 3, 0, 0])
    }

    @Test("a Dynamixel reply is decoded; after an alert the next request reads the error")
    func dynamixelReply() {
        var codec = DynamixelCodec(ids: Self.ids, goal: .position)
        _ = request(&codec)
        _ = request(&codec, at: 0.004)
        var data = [UInt8](repeating: 0, count: 21)
        data[2...5] = [0xFF, 0xFF, 0xFF, 0xFF]
        data[6...9] = [0, 8, 0, 0]
        data[18] = 50
        data[20] = 38
        var bytes = SerialBytes()
        let start = DynamixelCodec.begin(3, 0x55, into: &bytes)
        bytes.append(0x80)
        for byte in data { bytes.append(byte) }
        DynamixelCodec.end(start, &bytes)
        let (news, items) = content(&codec, bytes.data)
        #expect(items == [.reply] && news[0].axis == .pitch)
        #expect(abs((news[0].angle ?? 0) - .pi) < 1e-12)
        #expect(abs((news[0].rate ?? 0) + 0.229 * 2 * .pi / 60) < 1e-12)
        #expect(news[0].voltage == 5 && news[0].temperature == 38 && news[0].fault == nil)
        let next = request(&codec, at: 0.008)
        #expect(Array(next.suffix(9).prefix(4)) == [64, 0, 7, 0])
        bytes.removeAll()
        let second = DynamixelCodec.begin(3, 0x55, into: &bytes)
        for byte: UInt8 in [0x80, 1, 0, 0, 0, 2, 0, 0x21] { bytes.append(byte) }
        DynamixelCodec.end(second, &bytes)
        let error = content(&codec, bytes.data).news
        #expect(error.first?.fault == 0x21 && error.first?.causes == [.overload, .voltage])
        #expect(error.first?.isRunning == true)
    }

    // MARK: Board (etc/manual/motor-board.md)

    @Test("the checksum is CRC-16 with polynomial 0x8005: it has the catalogue's check value")
    func check() {
        let bytes = SerialBytes(Array("123456789".utf8))
        #expect(CRC16.of(bytes, 0..<9) == 0xFEE8)
    }

    @Test("a command to the board has the bytes of the specification")
    func boardCommand() {
        var codec = BoardCodec()
        let sent = request(&codec, torque: AxisVector(yaw: 0.5, roll: -1, pitch: 0))
        #expect(
            Array(sent.prefix(19)) == [
                0xA5, 0x5A, 1, 15, 1, 0, 1, 0, 0, 0, 0x3F, 0, 0, 0x80, 0xBF, 0, 0, 0, 0,
            ])
        #expect(sent.count == 21)
        #expect(
            CRC16.of(SerialBytes(sent), 2..<19) == UInt16(sent[19]) | UInt16(sent[20]) << 8)
    }

    /// A frame of the board, with its checksum.
    static func boardFrame(_ type: UInt8, _ payload: [UInt8]) -> [UInt8] {
        var frame = SerialBytes([0xA5, 0x5A, type, UInt8(payload.count)] + payload)
        frame.append(little: CRC16.of(frame, 2..<frame.count))
        return frame.data
    }

    @Test("a report of the board's motion has 22 bytes: angles, rates and the causes of faults")
    func boardMotion() {
        var codec = BoardCodec()
        _ = request(&codec)
        #expect(codec.expectedReplies == 1 && codec.expectedBytes == 22)
        // A quarter and three quarters of a turn; -1 rad/s and 0.5 rad/s; roll is overloaded.
        let (news, items) = content(
            &codec,
            Self.boardFrame(
                0x82, [1, 1, 0, 1, 0, 0x40, 0, 0xC0, 0, 0, 0x18, 0xFC, 0xF4, 1, 0, 0]))
        #expect(items == [.reply] && news.map(\.axis) == [.yaw, .roll, .pitch])
        #expect(news.map(\.angle) == [.pi / 2, .pi * 1.5, 0])
        #expect(news.map(\.rate) == [-1, 0.5, 0])
        #expect(news.map(\.causes) == [[], [.overload], []])
        #expect(news.allSatisfy { $0.isRunning == true && $0.voltage == nil })
    }

    @Test("every eighth command has a second report: currents, supply voltage and temperature")
    func boardState() {
        var codec = BoardCodec()
        let both = (1...16).map { _ -> Int in
            _ = request(&codec)
            return codec.expectedBytes
        }
        #expect(both.enumerated().filter { $0.1 == 38 }.map(\.0) == [7, 15])
        let (news, items) = content(
            &codec, Self.boardFrame(0x83, [0xE8, 3, 0x18, 0xFC, 0, 0, 0xE0, 0x2E, 0xFE, 0]))
        #expect(items == [.reply] && news.map(\.current) == [1, -1, 0])
        #expect(news.allSatisfy { $0.voltage == 12 && $0.temperature == 25.4 && $0.angle == nil })
    }

    // MARK: All of them

    /// A codec of each protocol with a valid reply.
    static var replies: [(any SerialCodec, [UInt8])] {
        var feetech = SerialBytes()
        let first = FeetechCodec.begin(1, 0, count: 8, into: &feetech)
        for byte: UInt8 in [0, 8, 0, 0, 0, 0, 74, 30] { feetech.append(byte) }
        FeetechCodec.end(first, &feetech)
        var dynamixel = SerialBytes()
        let second = DynamixelCodec.begin(1, 0x55, into: &dynamixel)
        for _ in 0..<22 { dynamixel.append(0) }
        DynamixelCodec.end(second, &dynamixel)
        let board = boardFrame(0x82, [UInt8](repeating: 0, count: 16))
        return [
            (FeetechCodec(ids: ids), feetech.data),
            (DynamixelCodec(ids: ids, goal: .position), dynamixel.data),
            (BoardCodec(), board),
            (BoardCodec(), boardFrame(0x83, [UInt8](repeating: 0, count: 10))),
        ]
    }

    @Test("a reply is found between other bytes, and when it arrives in pieces")
    func pieces() {
        for (codec, reply) in Self.replies {
            var codec = codec
            for split in 1..<reply.count {
                var received = SerialBytes([0xFF, 0x12, 0xA5] + reply.prefix(split))
                var count = 0
                while codec.next(in: &received, { _ in count += 1 }) != .incomplete {}
                #expect(count == 0)
                for byte in reply.dropFirst(split) { received.append(byte) }
                while codec.next(in: &received, { _ in count += 1 }) != .incomplete {}
                #expect(count >= 1, "\(type(of: codec)) \(split)")
            }
        }
    }

    @Test("a reply with one changed bit is never accepted")
    func damage() {
        for (codec, reply) in Self.replies {
            for bit in 0..<reply.count * 8 {
                var (codec, bytes, count) = (codec, reply, 0)
                bytes[bit / 8] ^= 1 << UInt8(bit % 8)
                var received = SerialBytes(bytes)
                while codec.next(in: &received, { _ in count += 1 }) != .incomplete {}
                #expect(count == 0, "\(type(of: codec)) bit \(bit)")
            }
        }
    }
}
