import Configuration
import GimbalCore
import Testing

@testable import Hardware

@Suite("Codecs of drives: invalid frames")
struct DriveFrameTests {
    /// A codec of each protocol, and a valid frame of a drive.
    static var all: [(DriveProtocol, any DriveCodec, CANFrame)] {
        DriveProtocol.allCases.map { name in
            let drives = HardwareWiring.CANDrives(
                interface: "can0", protocolName: name,
                ids: AxisVector(yaw: 1, roll: 2, pitch: 3), host: 0)
            let frame =
                switch name {
                case .odrive: CANFrame(id: 0x49, data: [0, 0, 0x80, 0x3E, 0, 0, 0, 0xBF])
                case .gm6020, .gm6020Voltage:
                    CANFrame(id: 0x206, data: [0x10, 0, 0, 60, 0, 0, 41, 0])
                case .mit: CANFrame(id: 0, data: [0x12, 0x80, 0, 0x80, 0, 0, 35, 40])
                case .cybergear:
                    CANFrame(
                        id: 0x0280_0200, isExtended: true,
                        data: [0xC0, 0, 0x80, 0, 0x80, 0, 1, 44])
                case .moteus: MoteusCodecTests.reply(mode: 10)
                }
            return (name, drives.codec, frame)
        }
    }

    @Test("a valid frame passes the filters, and a frame of another drive or kind is not read")
    func foreign() {
        for (name, codec, frame) in Self.all {
            #expect(codec.decode(in: frame)?.axis == .roll, "\(name)")
            #expect(codec.filters.contains { $0.id & $0.mask == frame.id & $0.mask }, "\(name)")
            var error = frame
            error.isError = true
            var remote = frame
            remote.isRemote = true
            var other = frame
            other.isFD.toggle()
            var stranger = frame
            stranger.id ^= name == .moteus ? 0x7000 : name == .cybergear ? 0x7000 : 0x700
            for wrong in [error, remote, other, stranger] {
                #expect(codec.decode(in: wrong) == nil, "\(name): \(wrong)")
            }
        }
    }

    @Test("a shortened frame neither gives a measurement nor stops the program")
    func short() {
        for (name, codec, frame) in Self.all {
            for count in 0..<frame.count {
                let news = codec.decode(in: frame.cut(to: count))
                // The plain Mini Cheetah protocol has six bytes, the rest is Damiao's; a moteus's
                // floats are a whole reply, without voltage and temperature.
                let isWhole = name == .mit && count == 6 || name == .moteus && count == 19
                #expect((news?.angle != nil) == isWhole, "\(name) \(count)")
            }
        }
    }

    @Test("random frames never stop the program, and never give an angle that is not finite")
    func random() {
        var state: UInt64 = 1
        func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state >> 33
        }
        let sdo = ODriveCodec(
            ids: DriveCodecTests.ids, endpoints: DriveWatchdogTests.endpoints, watchdog: 0.025)
        let reply = CANFrame(id: 0x45, data: [0, 0x23, 1, 0, 0xCD, 0xCC, 0xCC, 0x3C])
        let timeout = CANFrame(
            id: 0x0900_0200, isExtended: true, data: [0x0C, 0x20, 4, 0, 0xF4, 1, 0, 0])
        let gear = CyberGearCodec(ids: DriveCodecTests.ids, host: 0, watchdog: 0.025)
        let all = Self.all + [(.odrive, sdo, reply), (.cybergear, gear, timeout)]
        for (name, codec, valid) in all {
            for _ in 0..<20_000 {
                var frame = CANFrame(
                    id: next() % 4 == 0 ? UInt32(next() & 0x1FFF_FFFF) : valid.id,
                    isExtended: valid.isExtended, isFD: valid.isFD)
                let length = Int(next() % (valid.isFD ? 65 : 9))
                for index in 0..<length {
                    // Mostly valid bytes, so that the deeper branches are reached.
                    let isKept = index < valid.count && next() % 4 != 0
                    frame.append(isKept ? valid[index] : UInt8(truncatingIfNeeded: next()))
                }
                guard let news = codec.decode(in: frame) else { continue }
                #expect(news.angle?.isFinite ?? true && news.rate?.isFinite ?? true, "\(name)")
                #expect(news.watchdog?.isFinite ?? true, "\(name)")
            }
        }
    }

    @Test(
        "fixed-point numbers are exact to half a step within their range, and are limited beyond it"
    )
    func fixedPoint() {
        for bits in [12, 16] {
            let step = 60 / FixedPoint.top(bits: bits)
            for value in stride(from: -30.0, through: 30, by: 0.37) {
                let back = FixedPoint.decode(
                    FixedPoint.encode(value, range: 30, bits: bits), range: 30, bits: bits)
                #expect(abs(back - value) <= step / 2 + 1e-12)
            }
            #expect(FixedPoint.encode(1e9, range: 30, bits: bits) == UInt32(1 << bits - 1))
            #expect(FixedPoint.encode(-1e9, range: 30, bits: bits) == 0)
        }
    }
}

extension CANFrame {
    /// The frame with only its first bytes.
    func cut(to count: Int) -> CANFrame {
        CANFrame(
            id: id, isExtended: isExtended, isFD: isFD, data: Array(data.prefix(count)))
    }
}
