import Configuration
import GimbalCore
import Testing

@testable import Hardware

@Suite("Codec of Mini Cheetah drives and their variants")
struct MITCodecTests {
    static let ids = DriveCodecTests.ids
    static let limits = MITLimits(angle: 12.5, rate: 30, torque: 10)

    @Test("an MIT command packs angle, rate, gains and torque as the Mini Cheetah does")
    func mitFields() {
        #expect(
            MITCodec.command(
                id: 1, angle: 0x1234, rate: 0x567, kp: 0x89A, kd: 0xBCD, torque: 0xEF0
            ).data == [0x12, 0x34, 0x56, 0x78, 0x9A, 0xBC, 0xDE, 0xF0])
    }

    @Test("an MIT drive is enabled, then gets torques with both gains zero, then is disabled")
    func mitOn() {
        var codec = MITCodec(ids: Self.ids, host: 0, limits: Self.limits)
        let full = AxisVector(repeating: 10)
        _ = frames(&codec, torque: full)
        let second = frames(&codec, torque: full, at: 0.002)
        #expect(second[0] == CANFrame(id: 1, data: [255, 255, 255, 255, 255, 255, 255, 0xFC]))
        #expect(second[1] == CANFrame(id: 1, data: [0x80, 0, 0x80, 0, 0, 0, 0x0F, 0xFF]))
        #expect(frames(&codec, torque: full, at: 0.004).map(\.id) == [1, 2, 3])
        #expect(
            frames(&codec, enabled: false, at: 0.006)[2]
                == CANFrame(id: 3, data: [255, 255, 255, 255, 255, 255, 255, 0xFD]))
    }

    @Test(
        "a Damiao drive gets the mode for torques one period before each request to switch on, other drives do not"
    )
    func damiaoMode() {
        // Register 10: 1 is the Mini Cheetah's mode, 2 and 3 are those for angles and speeds.
        let mode = CANFrame(id: 0x7FF, data: [2, 0, 0x55, 10, 1, 0, 0, 0])
        let enable = CANFrame(id: 2, data: [255, 255, 255, 255, 255, 255, 255, 0xFC])
        for variant in MITVariant.allCases {
            var codec = MITCodec(ids: Self.ids, host: 0x11, limits: Self.limits, variant: variant)
            func switched(on: Bool, at seconds: Double) -> [CANFrame] {
                frames(&codec, enabled: on, at: seconds).filter { $0 == mode || $0 == enable }
            }
            let expected = variant == .damiao ? [[mode], [enable], []] : [[enable], [], []]
            func periods(from seconds: Double) -> [[CANFrame]] {
                (0..<3).map { switched(on: true, at: seconds + 0.002 * Double($0)) }
            }
            #expect(switched(on: false, at: 0) == [], "\(variant)")
            #expect(periods(from: 0.002) == expected, "\(variant)")
            #expect(switched(on: false, at: 0.008) == [], "\(variant)")
            #expect(switched(on: true, at: 0.01) == expected[0], "\(variant)")
            // The first of the frames could not be sent.
            codec.forgetRequests(of: expected[0][0])
            #expect(periods(from: 0.012) == expected, "\(variant)")
            // The drive is not switched on if it must be off after its mode.
            codec.forgetRequests()
            _ = switched(on: true, at: 0.018)
            #expect(switched(on: false, at: 0.02) == [], "\(variant)")
            #expect(periods(from: 0.022) == expected, "\(variant)")
        }
    }

    @Test(
        "a Damiao drive's watchdog is written and read while the drive is off, until the drive confirms it"
    )
    func damiaoWatchdog() throws {
        var codec = MITCodec(ids: Self.ids, host: 0x11, limits: Self.limits, watchdog: 0.025)
        #expect(codec.watchdogTimeout == 0.025)
        func requests(_ states: PerAxis<DriveState>, at seconds: Double, on: Bool = false)
            -> [CANFrame]
        {
            frames(&codec, enabled: on, states: states, at: seconds).filter {
                $0.id == 0x7FF && $0[3] == 9
            }
        }
        let first = requests(PerAxis(DriveState()), at: 0)
        #expect(first.count == 6)
        // Register 9 in units of 50 µs: 500 is 25 ms.
        #expect(first[0].data == [1, 0, 0x55, 9, 0xF4, 1, 0, 0])
        #expect(first[1].data == [1, 0, 0x33, 9, 0, 0, 0, 0])
        #expect(requests(PerAxis(DriveState()), at: 0.002).isEmpty, "not in each period")
        var guarded = DriveState()
        let reply = CANFrame(id: 0x11, data: [2, 0, 0x33, 9, 0xF4, 1, 0, 0])
        let news = try #require(codec.decode(in: reply))
        #expect(news.axis == .roll && news.angle == nil && news.isRunning == nil)
        guarded.watchdog = news.watchdog ?? .nan
        #expect(guarded.isGuarded(timeout: 0.025))
        let rest = requests(PerAxis(yaw: guarded, roll: guarded, pitch: DriveState()), at: 0.1)
        #expect(rest.map { $0[0] } == [3, 3])
        #expect(requests(PerAxis(DriveState()), at: 1, on: true).isEmpty)
        let echo = codec.decode(in: CANFrame(id: 0x11, data: [2, 0, 0x55, 9, 0xF4, 1, 0, 0]))
        #expect(echo != nil && echo?.watchdog == nil, "the echo of a write confirms nothing")
        var other = DriveState()
        other.watchdog = 1
        #expect(!other.isGuarded(timeout: 0.025))
    }

    @Test(
        "a Damiao drive's reply about a register that another program reads, writes or stores is not a motion",
        arguments: [0x33, 0x55, 0xAA] as [UInt8])
    func foreignRegister(kind: UInt8) {
        for watchdog in [0.025, nil] {
            let codec = MITCodec(
                ids: Self.ids, host: 0x11, limits: Self.limits, watchdog: watchdog)
            // Register 21 is P_MAX, here 12.5 rad; register 81 is the last one.
            for register: UInt8 in [0, 21, 81] {
                let reply = CANFrame(
                    id: 0x11, data: [2, 0, kind, register, 0, 0, 0x48, 0x41])
                #expect(codec.decode(in: reply) == DriveReading(axis: .roll))
            }
            let motion = codec.decode(
                in: CANFrame(id: 0x11, data: [0x12, 0, kind, 0x80, 0, 0, 35, 40]))
            #expect(motion?.angle != nil && motion?.isRunning == true)
        }
    }

    @Test("a CubeMars drive's answer has its temperature and fault in the last bytes")
    func cubemars() throws {
        var codec = MITCodec(
            ids: Self.ids, host: 0, limits: Self.limits, variant: .cubemars, watchdog: 0.025)
        #expect(codec.watchdogTimeout == nil)
        #expect(!frames(&codec, enabled: false).contains { $0.id == 0x7FF })
        let frame = CANFrame(id: 0, data: [2, 0x7F, 0xFF, 0x7F, 0xF0, 0, 75, 0])
        let news = try #require(codec.decode(in: frame))
        #expect(news.axis == .roll && news.isRunning == nil && news.fault == 0)
        #expect(news.temperature == 35 && abs(news.angle ?? 1) < 1e-3)
        let hot = codec.decode(in: CANFrame(id: 0, data: [2, 0x7F, 0xFF, 0x7F, 0xF0, 0, 160, 1]))
        #expect(hot?.fault == 1)
        // A Damiao drive would be on: its state is in the first byte.
        let damiao = CANFrame(id: 0, data: [0x12, 0x7F, 0xFF, 0x7F, 0xF0, 0, 75, 0])
        #expect(codec.decode(in: damiao) == nil)
        let plain = MITCodec(ids: Self.ids, host: 0, limits: Self.limits, variant: .plain)
        let other = plain.decode(in: frame)
        #expect(other?.axis == .roll && other?.fault == nil && other?.temperature == nil)
    }

    @Test("the mean of an MIT drive's torques is exact, although its steps are 4.9 mN·m")
    func mitMean() {
        var codec = MITCodec(ids: Self.ids, host: 0, limits: Self.limits)
        let wanted = AxisVector(yaw: 0.001, roll: 0, pitch: -0.0137)
        var sums = AxisVector.zero
        let periods = 1000
        for period in 0..<periods {
            let sent = frames(&codec, torque: wanted, at: 0.002 * Double(period))
                .filter { $0.id != 0x7FF && ($0.data.last != 0xFC || $0[0] != 0xFF) }
            let torques = sent.map {
                FixedPoint.decode(UInt32($0[6] & 0xF) << 8 | UInt32($0[7]), range: 10, bits: 12)
            }
            sums = sums + AxisVector(yaw: torques[0], roll: torques[1], pitch: torques[2])
        }
        let error = sums * (1 / Double(periods)) - wanted
        #expect(abs(error.yaw) < 5e-6 && abs(error.roll) < 5e-6 && abs(error.pitch) < 5e-6)
    }

    @Test("an angle at an end of its field is unknown, because it can be outside the range")
    func ends() {
        let mit = MITCodec(ids: Self.ids, host: 0x11, limits: Self.limits)
        let cyberGear = CyberGearCodec(ids: Self.ids, host: 0xFD)
        for (byte, isKnown): (UInt8, Bool) in [(0, false), (0xFF, false), (0x80, true)] {
            let data: [UInt8] = [2, byte, byte, 0x80, 0, 0, 35, 40]
            let news = mit.decode(in: CANFrame(id: 0x11, data: data))
            #expect(news?.rate != nil && (news?.angle != nil) == isKnown)
            let other = cyberGear.decode(
                in: CANFrame(
                    id: 0x0280_02FD, isExtended: true, data: [byte, byte, 0x80, 0, 0x80, 0, 1, 0]))
            #expect(other?.rate != nil && (other?.angle != nil) == isKnown)
        }
    }

    @Test("an MIT drive's answer is read, with Damiao's state and temperatures if it has them")
    func mitNews() throws {
        let codec = MITCodec(ids: Self.ids, host: 0x11, limits: Self.limits)
        let plain = try #require(
            codec.decode(
                in: CANFrame(id: 0x11, data: [2, 0xFF, 0xFE, 0, 0, 0x07, 0xFF])
                    .cut(to: 6)))
        #expect(plain.axis == .roll && plain.isRunning == nil && plain.fault == nil)
        #expect(abs((plain.angle ?? 0) - 12.5) < 1e-3 && abs((plain.rate ?? 0) + 30) < 1e-9)
        let damiao = try #require(
            codec.decode(in: CANFrame(id: 0x11, data: [0x13, 0x80, 0, 0x80, 0, 0, 35, 40])))
        #expect(damiao.axis == .pitch && damiao.isRunning == true && damiao.fault == 0)
        #expect(damiao.temperature == 40)
        let lost = codec.decode(in: CANFrame(id: 0x11, data: [0xD1, 0x80, 0, 0x80, 0, 0, 35, 40]))
        #expect(lost?.axis == .yaw && lost?.fault == 13 && lost?.isRunning == false)
    }
}
