import Configuration
import GimbalCore
import Testing

@testable import Hardware

/// Frames that a codec composes in one period.
func frames<Codec: DriveCodec>(
    _ codec: inout Codec, enabled: Bool = true, torque: AxisVector = .zero,
    states: PerAxis<DriveState> = PerAxis(DriveState()), at seconds: Double = 0
) -> [CANFrame] {
    var frames: [CANFrame] = []
    codec.compose(
        DriveCommand(
            isEnabled: enabled, torque: torque, states: states,
            now: Instant(nanoseconds: 0).advanced(bySeconds: seconds)), into: &frames)
    return frames
}

@Suite("Codecs of drives: composed and received frames")
struct DriveCodecTests {
    static let ids = DriveIDs(yaw: 1, roll: 2, pitch: 3)

    @Test(
        "the frames of each period fit into the transmit queue, in every state of the drives",
        arguments: DriveProtocol.allCases)
    func burst(name: DriveProtocol) {
        var wiring = HardwareWiring.CANDrives(
            interface: "can0", protocolName: name, ids: AxisVector(yaw: 1, roll: 2, pitch: 3),
            host: 0)
        wiring.endpoints = DriveWatchdogTests.endpoints
        var codec = wiring.codec
        var unguarded = DriveState()
        unguarded.firmware = DriveWatchdogTests.endpoints.firmware
        unguarded.watchdog = 0
        unguarded.isWatchdogOn = false
        var faulty = unguarded
        faulty.isRunning = false
        faulty.fault = 4
        var running = unguarded
        running.isRunning = true
        for state in [DriveState(), unguarded, faulty, running] {
            for period in 0..<5000 {
                // The outputs are switched every 1.4 s.
                let sent = frames(
                    &codec, enabled: period / 700 % 2 == 1, states: PerAxis(state),
                    at: 0.002 * Double(period))
                #expect(sent.count <= TransmitQueue.length)
            }
        }
    }

    // MARK: ODrive

    @Test("an ODrive's identifier is the node and the command, as in the vendor's example")
    func odriveIdentifier() {
        // Axis 1 with command 0x0C is 0x2C; the torque is command 0x0E.
        var codec = ODriveCodec(ids: Self.ids)
        let sent = frames(&codec, torque: AxisVector(yaw: 1, roll: -2, pitch: 0.5))
        let torques = sent.filter { $0.id & 0x1F == 0x0E }
        #expect(torques.map(\.id) == [0x2E, 0x4E, 0x6E])
        #expect(torques.map(\.data) == [[0, 0, 0x80, 0x3F], [0, 0, 0, 0xC0], [0, 0, 0, 0x3F]])
    }

    /// Nodes of the requests to switch a power stage in six consecutive periods of 2 ms.
    private static func switched(
        _ codec: inout ODriveCodec, states: PerAxis<DriveState> = PerAxis(DriveState()),
        at seconds: Double
    ) -> [UInt32] {
        var nodes: [UInt32] = []
        for period in 0..<6 {
            let sent = frames(&codec, states: states, at: seconds + 0.002 * Double(period))
            nodes += sent.filter { $0.id & 0x1F == 0x07 }.map { $0.id >> 5 }
        }
        return nodes
    }

    @Test("an ODrive is switched on once, in torque control, and its encoder is requested")
    func odriveOn() {
        var codec = ODriveCodec(ids: Self.ids)
        let first = frames(&codec)
        #expect(first.first == CANFrame(id: 0x2B, data: [1, 0, 0, 0, 1, 0, 0, 0]))
        #expect(!first.contains { $0.id & 0x1F == 0x07 }, "the mode has a period of its own")
        #expect(first.contains(CANFrame(id: 0x29, isRemote: true)))
        let second = frames(&codec, at: 0.002)
        #expect(second.first == CANFrame(id: 0x27, data: [8, 0, 0, 0]))
        #expect(!second.contains { $0.id == 0x2B || $0.id == 0x47 }, "one ODrive per period")
        #expect(Self.switched(&codec, at: 0.004) == [2, 3])
        #expect(Self.switched(&codec, at: 0.016) == [])
    }

    @Test("an ODrive that stays idle gets its request again, a running ODrive does not")
    func odriveAgain() {
        var codec = ODriveCodec(ids: Self.ids)
        var idle = DriveState()
        idle.isRunning = false
        var on = DriveState()
        on.isRunning = true
        let states = PerAxis(yaw: idle, roll: on, pitch: DriveState())
        #expect(Self.switched(&codec, states: states, at: 0) == [1, 2, 3])
        #expect(Self.switched(&codec, states: states, at: 0.1) == [])
        #expect(Self.switched(&codec, states: states, at: 0.3) == [1])
    }

    @Test("an ODrive that is switched off is made idle at once, and still gets a torque of zero")
    func odriveOff() {
        var codec = ODriveCodec(ids: Self.ids)
        _ = frames(&codec, torque: AxisVector(repeating: 1))
        let off = frames(&codec, enabled: false, torque: AxisVector(repeating: 1), at: 0.002)
        #expect(off.contains(CANFrame(id: 0x47, data: [1, 0, 0, 0])))
        #expect(off.contains(CANFrame(id: 0x4E, data: [0, 0, 0, 0])))
    }

    @Test("a request that was not sent is repeated, and the other drives' requests are not")
    func odriveForgets() {
        var codec = ODriveCodec(ids: Self.ids)
        _ = Self.switched(&codec, at: 0)
        codec.forgetRequests(of: CANFrame(id: 0x47, data: [8, 0, 0, 0]))
        #expect(Self.switched(&codec, at: 0.1) == [2])
        codec.forgetRequests()
        #expect(Self.switched(&codec, at: 0.2) == [1, 2, 3])
    }

    @Test("an ODrive's fault is cleared only while the ODrive is off, at most three times a minute")
    func odriveClear() {
        var codec = ODriveCodec(ids: Self.ids)
        var bad = DriveState()
        bad.fault = 0x40
        let states = PerAxis(yaw: bad, roll: DriveState(), pitch: DriveState())
        func clears(_ enabled: Bool, _ seconds: Double) -> Int {
            frames(&codec, enabled: enabled, states: states, at: seconds)
                .count { $0.id == 0x38 }
        }
        #expect(clears(true, 0) == 0)
        let first = (0..<20_000).map { clears(false, 0.002 * Double($0)) }.reduce(0, +)
        #expect(first == 3)
        #expect(clears(false, 100) == 1)
    }

    @Test("an ODrive's heartbeat, estimates, errors, voltage and temperature are read")
    func odriveNews() throws {
        let codec = ODriveCodec(ids: Self.ids)
        let heartbeat = try #require(
            codec.decode(in: CANFrame(id: 0x41, data: [0, 2, 0, 0, 1, 0, 0, 0])))
        #expect(heartbeat.axis == .roll && heartbeat.fault == 0x200 && heartbeat.isRunning == false)
        // The frame contains 0.25 turns and -0.5 turns/s.
        let estimate = try #require(
            codec.decode(in: CANFrame(id: 0x29, data: [0, 0, 0x80, 0x3E, 0, 0, 0, 0xBF])))
        #expect(estimate.axis == .yaw)
        #expect(abs((estimate.angle ?? 0) - .pi / 2) < 1e-9)
        #expect(abs((estimate.rate ?? 0) + .pi) < 1e-9)
        let volts = codec.decode(in: CANFrame(id: 0x77, data: [0, 0, 0xC0, 0x41, 0, 0, 0, 0]))
        #expect(volts?.voltage == 24 && volts?.axis == .pitch)
        let warm = codec.decode(in: CANFrame(id: 0x75, data: [0, 0, 0xC8, 0x41, 0, 0, 0xF0, 0x41]))
        #expect(warm?.temperature == 30)
        #expect(codec.decode(in: CANFrame(id: 0x23, data: [0, 0, 0, 0, 5, 0, 0, 0]))?.fault == nil)
        #expect(codec.decode(in: CANFrame(id: 0x23, data: [1, 0, 0, 0, 5, 0, 0, 0]))?.fault == 1)
    }

    @Test("an ODrive whose motor has no thermistor still reports the temperature of its driver")
    func odriveThermistor() {
        let codec = ODriveCodec(ids: Self.ids)
        // 25 °C and not a number, in both orders.
        let (warm, missing): ([UInt8], [UInt8]) = ([0, 0, 0xC8, 0x41], [0, 0, 0xC0, 0x7F])
        for data in [warm + missing, missing + warm] {
            #expect(codec.decode(in: CANFrame(id: 0x35, data: data))?.temperature == 25)
        }
        let neither = codec.decode(in: CANFrame(id: 0x35, data: missing + missing))
        #expect(neither != nil && neither?.temperature == nil)
        #expect(codec.decode(in: CANFrame(id: 0x35, data: warm)) == nil)
    }

    @Test(
        "an ODrive that does not report its version has firmware 0.5: its encoder's and controller's errors are requested, within 12 periods"
    )
    func odriveOld() {
        var codec = ODriveCodec(ids: Self.ids)
        var running = DriveState()
        running.isRunning = true
        var new = running
        new.hasTemperature = true
        let states = PerAxis(yaw: running, roll: new, pitch: running)
        func period(_ number: Int) -> [CANFrame] {
            frames(&codec, states: states, at: 0.002 * Double(number)).filter(\.isRemote)
        }
        for number in 0..<606 { _ = period(number) }
        let sent = (606..<618).map { period($0) }
        let ids = sent.flatMap { $0.map(\.id) }
        for id: UInt32 in [0x24, 0x3D, 0x64, 0x7D] {
            #expect(ids.count { $0 == id } == 2, "\(String(id, radix: 16))")
        }
        #expect(!ids.contains { $0 == 0x44 || $0 == 0x5D }, "firmware 0.6 has other commands there")
        #expect(
            sent.allSatisfy { $0.count <= 5 }, "three estimates, one error, and one of the others")
        let encoder = codec.decode(in: CANFrame(id: 0x24, data: [4, 0, 0, 0, 0, 0, 0, 0]))
        #expect(encoder?.fault == 4 && encoder?.axis == .yaw)
        #expect(codec.decode(in: CANFrame(id: 0x7D, data: [1, 0, 0, 0, 0, 0, 0, 0]))?.fault == 1)
        let none = codec.decode(in: CANFrame(id: 0x7D, data: [UInt8](repeating: 0, count: 8)))
        #expect(none != nil && none?.fault == nil)
    }

    // MARK: GM6020

    @Test("the currents of up to four GM6020 are in one frame, highest byte first")
    func gm6020Current() {
        var codec = GM6020Codec(ids: Self.ids, mode: .current)
        let torque = AxisVector(yaw: 3 * 0.741, roll: -1.5 * 0.741, pitch: 9)
        #expect(
            frames(&codec, torque: torque)
                == [CANFrame(id: 0x1FE, data: [0x40, 0, 0xE0, 0, 0x40, 0, 0, 0])])
        #expect(
            frames(&codec, enabled: false, torque: torque)
                == [CANFrame(id: 0x1FE, data: [0, 0, 0, 0, 0, 0, 0, 0])])
    }

    @Test("identifiers 5 to 7 are in the second frame")
    func gm6020Groups() {
        var codec = GM6020Codec(ids: DriveIDs(yaw: 5, roll: 4, pitch: 7), mode: .current)
        let sent = frames(&codec, torque: AxisVector(yaw: 2.223, roll: 2.223, pitch: 2.223))
        #expect(
            sent == [
                CANFrame(id: 0x1FE, data: [0, 0, 0, 0, 0, 0, 0x40, 0]),
                CANFrame(id: 0x2FE, data: [0x40, 0, 0, 0, 0x40, 0, 0, 0]),
            ])
    }

    @Test("a low supply raises a voltage command, but not a current command")
    func gm6020Supply() {
        for (mode, factor) in [(GM6020Codec.Mode.voltage, 1.25), (.current, 1.0)] {
            var codec = GM6020Codec(ids: Self.ids, mode: mode)
            func counts(_ factor: Double) -> Double {
                var command = DriveCommand(
                    isEnabled: true, torque: AxisVector(yaw: 0.5, roll: 0, pitch: 0),
                    states: PerAxis(DriveState()), now: Instant(nanoseconds: 0))
                command.supplyFactor = factor
                var frames: [CANFrame] = []
                codec.compose(command, into: &frames)
                return frames.first?.big16(at: 0).map { Double(Int16(bitPattern: $0)) } ?? 0
            }
            let nominal = counts(1)
            #expect(nominal > 1000)
            #expect(abs(counts(1.25) - factor * nominal) <= 1)
        }
    }

    @Test("a voltage contains the induced voltage of the rotor's rate")
    func gm6020Voltage() throws {
        var codec = GM6020Codec(ids: Self.ids, mode: .voltage)
        var turning = DriveState()
        turning.rate = 133.3 * 2 * .pi / 60
        let sent = try #require(
            frames(&codec, states: PerAxis(turning)).first)
        // A rate of 133.3 rpm at 13.33 rpm/V induces 10 V of 24 V.
        #expect(sent.id == 0x1FF)
        #expect(sent.big16(at: 0) == UInt16((10.0 / 24 * 25000).rounded()))
    }

    @Test("a GM6020's angle, rate and temperature are read")
    func gm6020News() throws {
        let codec = GM6020Codec(ids: Self.ids, mode: .current)
        let news = try #require(
            codec.decode(in: CANFrame(id: 0x206, data: [0x10, 0, 0xFF, 0xC4, 0, 0, 41, 0])))
        #expect(news.axis == .roll && news.temperature == 41 && news.isRunning == nil)
        #expect(abs((news.angle ?? 0) - .pi) < 1e-9)
        #expect(abs((news.rate ?? 0) + 2 * .pi) < 1e-9)
        // An angle has 13 bits.
        #expect(codec.decode(in: CANFrame(id: 0x206, data: [0x20, 0, 0, 0, 0, 0, 41, 0])) == nil)
    }

    // MARK: CyberGear

    @Test("a CyberGear's identifier contains type, torque and drive")
    func cyberGear() {
        var codec = CyberGearCodec(ids: DriveIDs(yaw: 0x7F, roll: 2, pitch: 3), host: 0)
        let sent = frames(&codec, torque: AxisVector(yaw: 12, roll: -12, pitch: 0))
        #expect(!sent.contains { !$0.isExtended })
        #expect(
            sent[1]
                == CANFrame(
                    id: 0x01FF_FF7F, isExtended: true, data: [0x80, 0, 0x80, 0, 0, 0, 0, 0]))
        #expect(sent[3].id == 0x0100_0002)
        #expect(
            frames(&codec, at: 0.002)[0]
                == CANFrame(id: 0x0300_007F, isExtended: true, data: [0, 0, 0, 0, 0, 0, 0, 0]))
        let off = frames(&codec, enabled: false, at: 0.004)
        #expect(off.map(\.id) == [0x0400_007F, 0x0400_0002, 0x0400_0003])
    }

    @Test(
        "a CyberGear gets the mode for torques one period before each request to switch on, and not while it is on"
    )
    func cyberGearMode() {
        var codec = CyberGearCodec(ids: Self.ids, host: 0xFD)
        // Type 18 writes run_mode (0x7005): 0 is the operation control mode, 2 would be that for speeds.
        let mode = CANFrame(
            id: 0x1200_FD02, isExtended: true, data: [0x05, 0x70, 0, 0, 0, 0, 0, 0])
        func toRoll(enabled: Bool, at seconds: Double) -> [CANFrame] {
            frames(&codec, enabled: enabled, at: seconds).filter { $0.id & 0xFF == 2 }
        }
        #expect(!toRoll(enabled: false, at: 0).contains(mode))
        for start in [0.002, 0.01] {
            let first = toRoll(enabled: true, at: start)
            #expect(first.first == mode && first.map { $0.id >> 24 } == [18, 1])
            #expect(toRoll(enabled: true, at: start + 0.002).map { $0.id >> 24 } == [3, 1])
            #expect(toRoll(enabled: true, at: start + 0.004).map { $0.id >> 24 } == [1])
            _ = toRoll(enabled: false, at: start + 0.006)
        }
    }

    @Test("a CyberGear's fault is cleared by the first byte of a stop")
    func cyberGearClear() {
        var codec = CyberGearCodec(ids: Self.ids, host: 0)
        var bad = DriveState()
        bad.fault = 4
        func first(at seconds: Double) -> [UInt8] {
            frames(&codec, enabled: false, states: PerAxis(bad), at: seconds)[0].data
        }
        #expect(first(at: 10)[0] == 0 && first(at: 10.9)[0] == 0)
        #expect(first(at: 11) == [1, 0, 0, 0, 0, 0, 0, 0])
    }

    @Test("a CyberGear's answer is read: mode, faults, angle, rate, temperature")
    func cyberGearNews() throws {
        let codec = CyberGearCodec(ids: Self.ids, host: 0xFD)
        let data: [UInt8] = [0xFF, 0xFE, 0x00, 0x00, 0x80, 0x00, 0x01, 0x2C]
        let news = try #require(
            codec.decode(in: CANFrame(id: 0x0284_02FD, isExtended: true, data: data)))
        #expect(news.axis == .roll && news.isRunning == true && news.fault == 4)
        #expect(abs((news.angle ?? 0) - 12.5) < 1e-3 && abs((news.rate ?? 0) + 30) < 1e-9)
        #expect(news.temperature == 30)
    }
}
