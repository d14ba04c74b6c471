import GimbalCore
import Testing

@testable import Hardware

@Suite("Codec of moteus drives: composed and received frames")
struct MoteusCodecTests {
    private static let ids = DriveCodecTests.ids

    @Test("a moteus gets mode, torque as a float, its watchdog, and a request, in 48 bytes")
    func moteus() {
        var codec = MoteusCodec(ids: Self.ids, host: 0, watchdog: 0.05)
        let frame = frames(&codec, torque: AxisVector(yaw: 0.5, roll: 0, pitch: 0))[0]
        #expect(frame.id == 0x8001 && frame.isExtended && frame.isFD && frame.count == 48)
        #expect(frame.data.prefix(6) == [0x01, 0x00, 0x0A, 0x0C, 0x05, 0x20])
        #expect(
            frame.float(at: 6) == nil, "no position is sent, because the position is not a number")
        #expect((1...4).map { frame.float(at: 6 + 4 * $0) } == [0, 0.5, 0, 0])
        #expect(frame.data[26..<28] == [0x0D, 0x27])
        #expect(abs((frame.float(at: 28) ?? 0) - 0.05) < 1e-6)
        #expect(frame.data[32..<34] == [0x0D, 0x2B])
        #expect(frame.data[38...] == [0x1C, 4, 0, 0x13, 0x0D, 0x50, 0x50, 0x50, 0x50, 0x50])
        let off = frames(&codec, enabled: false)[2]
        #expect(off.data == [1, 0, 0, 0x1C, 4, 0, 0x13, 0x0D] && off.id == 0x8003)
    }

    @Test(
        "a moteus that is off gets a stop in each period, but a fault is not cleared for a second")
    func moteusClear() {
        var codec = MoteusCodec(ids: Self.ids, host: 0, watchdog: 0.05)
        func isStopped(_ fault: UInt32, at seconds: Double) -> Bool {
            var state = DriveState()
            state.fault = fault
            return frames(&codec, enabled: false, states: PerAxis(state), at: seconds)[0]
                .data.prefix(3) == [1, 0, 0]
        }
        #expect(isStopped(0, at: 0))
        #expect(!isStopped(39, at: 0.1) && !isStopped(39, at: 1) && isStopped(39, at: 1.2))
        #expect(isStopped(MoteusCodec.watchdogFault, at: 1.3))
    }

    @Test(
        "the vendor's example of a reply in 16-bit integers is refused, because only floats are requested"
    )
    func moteusIntegers() {
        let codec = MoteusCodec(ids: Self.ids, host: 0, watchdog: 0.05)
        let data: [UInt8] = [
            0x24, 0x04, 0x00, 0x0A, 0x00, 0x50, 0x00, 0x00, 0x01, 0x70, 0xFF, 0x23, 0x0D, 0x18,
            0x14, 0x00,
        ]
        #expect(codec.decode(in: CANFrame(id: 0x100, isFD: true, data: data)) == nil)
    }

    /// Reply of a moteus with this mode and fault.
    static func reply(mode: Float, fault: UInt8 = 0) -> CANFrame {
        var frame = CANFrame(id: 0x200, isFD: true, data: [0x2C, 0x04, 0x00])
        for value in [mode, 0.25, -0.5, 0.1] { frame.append(little: value.bitPattern) }
        // As in the vendor's example: 12 V, 20 °C.
        for byte in [0x23, 0x0D, 0x18, 0x14, fault] { frame.append(byte) }
        return frame
    }

    @Test("a moteus's reply is read: position, velocity, 12 V, 20 °C")
    func moteusNews() throws {
        let codec = MoteusCodec(ids: Self.ids, host: 0, watchdog: 0.05)
        let news = try #require(codec.decode(in: Self.reply(mode: 10)))
        #expect(news.axis == .roll && news.isRunning == true && news.fault == 0)
        #expect(news.voltage == 12 && news.temperature == 20)
        #expect(abs((news.angle ?? 0) - .pi / 2) < 1e-9 && abs((news.rate ?? 0) + .pi) < 1e-9)
    }

    @Test(
        "a moteus's fault is read with its code; an expired watchdog is a fault, a limit is not",
        arguments: [(1, 39, 39), (1, 0, 1), (11, 0, 0x100), (10, 99, 0), (0, 0, 0)]
            as [(
                Float, UInt8, UInt32
            )])
    func moteusFault(mode: Float, code: UInt8, fault: UInt32) {
        let codec = MoteusCodec(ids: Self.ids, host: 0, watchdog: 0.05)
        let news = codec.decode(in: Self.reply(mode: mode, fault: code))
        #expect(news?.fault == fault && news?.isRunning == (mode == 10))
    }

    @Test("the fault of a moteus whose angle is outside its own limits is named, others are not")
    func moteusLimits() throws {
        let codec = MoteusCodec(ids: Self.ids, host: 0, watchdog: 0.05)
        let report = DriveReport()
        let outside = try #require(codec.decode(in: Self.reply(mode: 1, fault: 39)))
        report.note(outside)
        #expect(report.fault == 39)
        #expect(report.faultWords == ["angle outside the drive's own limits"])
        let unconfigured = try #require(codec.decode(in: Self.reply(mode: 1, fault: 36)))
        report.note(unconfigured)
        #expect(report.fault == 36 && report.faultWords.isEmpty)
    }
}
