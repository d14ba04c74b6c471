import Testing
import Wire

@Suite("MAVLink frames") struct MAVLinkCodecTests {
    private static let gimbal = MAVLinkAddress(system: 1, component: 154)

    /// Bytes of hexadecimal text such as "fe 09 00"; "0*16" means sixteen zero bytes.
    static func bytes(_ hex: String) -> [UInt8] {
        hex.split(separator: " ").flatMap { word -> [UInt8] in
            if let count = word.split(separator: "*").dropFirst().first.flatMap({ Int($0) }) {
                return [UInt8](repeating: 0, count: count)
            }
            return UInt8(word, radix: 16).map { [$0] } ?? []
        }
    }

    private static var heartbeat: Heartbeat {
        var message = Heartbeat()
        message.type = 26
        message.autopilot = 8
        message.status = 4
        message.version = 3
        return message
    }

    @Test("the checksum of 123456789 is the published check value") func checksum() {
        var crc = MAVLinkCRC()
        crc.add("123456789".utf8)
        #expect(crc.value == 0x6F91)
    }

    @Test("a heartbeat is encoded to the expected bytes in MAVLink 1 and 2")
    func heartbeats() {
        let message = Self.heartbeat
        #expect(
            message.frame(from: Self.gimbal, sequence: 0, version: .v1)
                == Self.bytes("fe 09 00 01 9a 00 00 00 00 00 1a 08 00 04 03 ce 06"))
        #expect(
            message.frame(from: Self.gimbal, sequence: 0)
                == Self.bytes("fd 09 00 00 00 01 9a 00 00 00 00 00 00 00 1a 08 00 04 03 1a cf"))
    }

    @Test("a vehicle's position is encoded to the same bytes as by pymavlink")
    func position() {
        var message = GlobalPosition()
        message.bootMs = 1000
        message.latitude = 520_000_000
        message.longitude = -130_000_000
        message.altitude = 100_500
        message.altitudeAboveHome = 10_500
        message.northSpeed = 100
        message.eastSpeed = -200
        message.downSpeed = 3
        message.heading = 9000
        #expect(
            message.frame(from: MAVLinkAddress(system: 1, component: 1), sequence: 5)
                == Self.bytes(
                    "fd 1c 00 00 05 01 01 21 00 00 e8 03 00 00 00 92 fe 1e 80 5b 40 f8 94 88 01 00 "
                        + "04 29 00 00 64 00 38 ff 03 00 28 23 ea 99"))
    }

    @Test("a GPS position is encoded to the same bytes as by pymavlink")
    func receiver() {
        var message = GPSPosition()
        message.time = 1_000_000
        message.latitude = 520_000_000
        message.longitude = -130_000_000
        message.altitude = 100_500
        message.horizontalDilution = 120
        message.verticalDilution = 180
        message.speed = 250
        message.course = 9000
        message.fix = 3
        message.satellites = 11
        #expect(
            message.frame(from: MAVLinkAddress(system: 1, component: 1), sequence: 5)
                == Self.bytes(
                    "fd 1e 00 00 05 01 01 18 00 00 40 42 0f 00 00 00 00 00 00 92 fe 1e 80 5b 40 f8 "
                        + "94 88 01 00 78 00 b4 00 fa 00 28 23 03 0b b8 5e"))
    }

    @Test("ATTITUDE and VFR_HUD for a flight display are encoded to the expected bytes")
    func display() {
        var attitude = AttitudeReport()
        attitude.bootMs = 1000
        attitude.roll = 0.1
        attitude.pitch = -0.2
        attitude.yaw = 0.3
        #expect(
            attitude.frame(from: Self.gimbal, sequence: 1, version: .v1)
                == Self.bytes(
                    "fe 1c 01 01 9a 1e e8 03 00 00 cd cc cc 3d cd cc 4c be 9a 99 99 3e 0*12 fa 55"))
        var hud = VFRHUD()
        hud.heading = 90
        #expect(
            hud.frame(from: Self.gimbal, sequence: 2, version: .v1)
                == Self.bytes("fe 14 02 01 9a 4a 0*16 5a 00 00 00 92 9a"))
    }

    @Test("trailing zeros of a MAVLink 2 payload are not sent, and are restored when it is read")
    func trimming() throws {
        var status = GimbalDeviceAttitudeStatus()
        status.bootMs = 1000
        status.flags = 44
        let bytes = status.frame(from: Self.gimbal, sequence: 3)
        #expect(
            bytes
                == Self.bytes("fd 25 00 00 03 01 9a 1d 01 00 e8 03 00 00 00 00 80 3f 0*28 2c 10 fb")
        )
        #expect(try Self.only(bytes).message(GimbalDeviceAttitudeStatus.self) == status)
        // A payload that contains only zeros keeps one byte.
        #expect(ParamRequestList().frame(from: Self.gimbal, sequence: 0)[1] == 1)
    }

    @Test("a ground station's GIMBAL_MANAGER_SET_PITCHYAW is decoded from its bytes")
    func pitchYaw() throws {
        let frame = try Self.only(
            Self.bytes(
                "fd 17 00 00 04 ff be 1f 01 00 2c 00 00 00 00 00 00 bf 00 00 80 3e 00 00 c0 7f 00 00 c0 7f 01 9a 01 88 2d"
            ))
        #expect(frame.sender == MAVLinkAddress(system: 255, component: 190))
        #expect(frame.sequence == 4)
        let choice = try #require(frame.message(GimbalManagerSetPitchYaw.self))
        #expect(choice.flags == 44)
        #expect(choice.pitch == -0.5)
        #expect(choice.yaw == 0.25)
        #expect(choice.pitchRate.isNaN && choice.yawRate.isNaN)
        #expect(choice.target == Self.gimbal)
        #expect(choice.device == 1)
        #expect(frame.message(Heartbeat.self) == nil)
    }

    @Test(
        "every message type has the size of its definition, and decodes to the encoded payload",
        arguments: MAVLinkCatalogue.messages.indices)
    func sizes(index: Int) throws {
        try Self.check(MAVLinkCatalogue.messages[index])
    }

    private static func check<Message: MAVLinkMessage>(_ type: Message.Type) throws {
        // The bytes are odd numbers that change along the payload, so a misplaced field is found.
        let payload = (1...UInt8(255)).map { $0 & 0x7F | 1 }
        let filler = MAVLinkFrame(
            version: .v2, sequence: 0, sender: gimbal, id: Message.format.id, payload: payload)
        let message = try #require(filler.message(Message.self))
        let again = MAVLinkFrame(message, from: gimbal, sequence: 0, version: .v2)
        #expect(again.payload == Array(payload.prefix(again.payload.count)), "\(type)")
        #expect(again.payload.count >= Message.format.size)
        guard Message.format.id < 256 else { return }
        let short = MAVLinkFrame(message, from: gimbal, sequence: 0, version: .v1)
        #expect(short.payload.count == Message.format.size)
    }

    /// The frame that these bytes contain; more than one frame is an error.
    static func only(_ bytes: [UInt8]) throws -> MAVLinkFrame {
        var parser = MAVLinkParser()
        parser.append(bytes)
        guard case .frame(let frame, bytes) = parser.next() else {
            throw CancellationError()
        }
        #expect(parser.next() == nil)
        return frame
    }
}
