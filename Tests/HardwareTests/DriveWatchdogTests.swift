import Configuration
import GimbalCore
import Testing

@testable import Hardware

@Suite("Watchdogs of drives on a CAN bus")
struct DriveWatchdogTests {
    static let ids = DriveCodecTests.ids
    static let endpoints = ODriveEndpoints(firmware: 0x00_0609, timeout: 0x0123, enable: 0x0124)

    /// Frames to the watchdogs in one second with the outputs in the given state.
    private func requests<Codec: DriveCodec>(
        _ codec: inout Codec, _ state: DriveState, enabled: Bool = false, from start: Double = 0,
        where isRequest: (CANFrame) -> Bool
    ) -> [CANFrame] {
        var sent: [CANFrame] = []
        for number in 0..<500 {
            let now = start + 0.002 * Double(number)
            sent += frames(&codec, enabled: enabled, states: PerAxis(state), at: now)
        }
        return sent.filter(isRequest)
    }

    // MARK: ODrive

    private static func isSdo(_ frame: CANFrame) -> Bool { frame.id & 0x1F == 4 && !frame.isRemote }

    @Test(
        "an ODrive of another or of an unknown firmware is asked for its version, and not written")
    func odriveVersion() {
        for version: UInt32 in [0, 0x00_0608, 0x00_060A] {
            var codec = ODriveCodec(ids: Self.ids, endpoints: Self.endpoints, watchdog: 0.025)
            var state = DriveState()
            state.firmware = version
            #expect(requests(&codec, state, where: Self.isSdo).isEmpty)
            let asked = frames(&codec, enabled: false, states: PerAxis(state), at: 2)
            #expect(asked.contains { $0.isRemote && $0.id & 0x1F == 0 })
        }
    }

    @Test(
        "an ODrive is read first; a wrong timeout is written with the switch, at most three times")
    func odriveWrites() {
        var codec = ODriveCodec(ids: Self.ids, endpoints: Self.endpoints, watchdog: 0.025)
        var state = DriveState()
        state.firmware = 0x00_0609
        let reads = requests(&codec, state, where: Self.isSdo).filter { $0.id == 0x24 }
        #expect(Set(reads.map(\.data)) == [[0, 0x23, 1, 0], [0, 0x24, 1, 0]])
        state.watchdog = 0
        state.isWatchdogOn = false
        let sent = requests(&codec, state, from: 2, where: Self.isSdo).filter { $0.id == 0x24 }
        // 0.025 as a float is 0x3CCCCCCD.
        #expect(
            sent.prefix(4).map(\.data) == [
                [1, 0x23, 1, 0, 0xCD, 0xCC, 0xCC, 0x3C], [1, 0x24, 1, 0, 1],
                [0, 0x23, 1, 0], [0, 0x24, 1, 0],
            ])
        #expect(sent.count { $0[0] == 1 && $0[1] == 0x23 } == WatchdogSchedule.mostWrites)
        state.watchdog = 0.025
        state.isWatchdogOn = true
        #expect(requests(&codec, state, from: 4, where: Self.isSdo).isEmpty)
        state.watchdog = 0.1
        #expect(
            requests(&codec, state, from: 6, where: Self.isSdo).contains { $0[0] == 1 },
            "a drive that has confirmed its timeout can be written again")
    }

    @Test("an ODrive's watchdog is neither read nor written while the outputs are on")
    func odriveOn() {
        var codec = ODriveCodec(ids: Self.ids, endpoints: Self.endpoints, watchdog: 0.025)
        var state = DriveState()
        state.firmware = 0x00_0609
        state.watchdog = 0
        state.isWatchdogOn = false
        #expect(requests(&codec, state, enabled: true, where: Self.isSdo).isEmpty)
    }

    @Test("an ODrive is guarded only with the right timeout and the watchdog switched on")
    func odriveGuarded() {
        let codec = ODriveCodec(ids: Self.ids, endpoints: Self.endpoints, watchdog: 0.025)
        for (timeout, isOn, isGuarded) in [
            (0.025, true, true), (0.025, false, false), (0.025, nil, false), (0.1, true, false),
            (.nan, true, false),
        ] as [(Double, Bool?, Bool)] {
            var state = DriveState()
            state.watchdog = timeout
            state.isWatchdogOn = isOn
            #expect(codec.isGuarded(state) == isGuarded, "\(timeout) \(String(describing: isOn))")
        }
        #expect(ODriveCodec(ids: Self.ids).isGuarded(DriveState()))
        #expect(ODriveCodec(ids: Self.ids, endpoints: Self.endpoints).isGuarded(DriveState()))
        #expect(ODriveCodec(ids: Self.ids, watchdog: 0.025).isGuarded(DriveState()))
    }

    @Test("an ODrive's version, timeout and switch are read, and its own requests are not")
    func odriveReplies() {
        let codec = ODriveCodec(ids: Self.ids, endpoints: Self.endpoints, watchdog: 0.025)
        let version = codec.decode(in: CANFrame(id: 0x40, data: [2, 4, 4, 58, 0, 6, 9, 0]))
        #expect(version?.firmware == 0x00_0609 && version?.axis == .roll)
        let timeout = codec.decode(
            in: CANFrame(id: 0x45, data: [0, 0x23, 1, 0, 0xCD, 0xCC, 0xCC, 0x3C]))
        #expect(abs((timeout?.watchdog ?? 0) - 0.025) < 1e-8 && timeout?.isWatchdogOn == nil)
        for (byte, isOn): (UInt8, Bool) in [(1, true), (0, false)] {
            let news = codec.decode(in: CANFrame(id: 0x45, data: [0, 0x24, 1, 0, byte]))
            #expect(news?.isWatchdogOn == isOn && news?.watchdog == nil)
        }
        let other = codec.decode(in: CANFrame(id: 0x45, data: [0, 9, 9, 0, 1, 2, 3, 4]))
        #expect(other != nil && other?.watchdog == nil && other?.isWatchdogOn == nil)
        for short in [[], [0], [0, 0x23, 1, 0], [0, 0x24, 1, 0]] as [[UInt8]] {
            #expect(codec.decode(in: CANFrame(id: 0x45, data: short)) == nil)
        }
        // The socket that receives also gets the frames that airframed sends.
        #expect(codec.decode(in: CANFrame(id: 0x44, data: [1, 0x24, 1, 0, 1])) == nil)
        #expect(!codec.filters.contains { $0.id & 0x1F == 4 })
    }

    // MARK: CyberGear

    private static func isTable(_ frame: CANFrame) -> Bool {
        frame.id >> 24 == 8 || frame.id >> 24 == 9
    }

    @Test("a CyberGear's timeout is read; a wrong timeout is written, at most three times")
    func cyberGearWrites() {
        var codec = CyberGearCodec(ids: Self.ids, host: 0xFD, watchdog: 0.025)
        var state = DriveState()
        let reads = requests(&codec, state, where: Self.isTable).filter { $0.id & 0xFF == 2 }
        #expect(reads.count > 10 && reads.allSatisfy { $0.id == 0x0900_FD02 && $0.isExtended })
        #expect(reads.allSatisfy { $0.data == [0x0C, 0x20, 0, 0, 0, 0, 0, 0] })
        state.watchdog = 0
        let sent = requests(&codec, state, from: 2, where: Self.isTable).filter {
            $0.id & 0xFF == 2
        }
        // 500 units of 50 µs are 25 ms.
        #expect(
            sent.first
                == CANFrame(
                    id: 0x0800_FD02, isExtended: true, data: [0x0C, 0x20, 4, 0, 0xF4, 1, 0, 0]))
        #expect(sent.count { $0.id >> 24 == 8 } == WatchdogSchedule.mostWrites)
        state.watchdog = 0.025
        #expect(requests(&codec, state, from: 4, where: Self.isTable).isEmpty)
        state.watchdog = 0
        #expect(requests(&codec, state, enabled: true, from: 6, where: Self.isTable).isEmpty)
    }

    @Test("a CyberGear's timeout is read from its reply; another parameter is not used")
    func cyberGearReplies() {
        let codec = CyberGearCodec(ids: Self.ids, host: 0xFD, watchdog: 0.025)
        func reply(_ data: [UInt8]) -> DriveReading? {
            codec.decode(in: CANFrame(id: 0x0900_02FD, isExtended: true, data: data))
        }
        let news = reply([0x0C, 0x20, 4, 0, 0xF4, 1, 0, 0])
        #expect(news?.axis == .roll && news?.angle == nil && news?.isRunning == nil)
        #expect(abs((news?.watchdog ?? 0) - 0.025) < 1e-9)
        #expect(reply([0x0D, 0x20, 4, 0, 0xF4, 1, 0, 0]) == nil)
        #expect(reply([0x0C, 0x20, 4, 0, 0xF4, 1, 0]) == nil)
        #expect(codec.filters.contains { 0x0900_02FD & $0.mask == $0.id & $0.mask })
        #expect(
            !CyberGearCodec(ids: Self.ids, host: 0xFD).filters.contains { $0.id >> 24 & 31 == 9 })
    }

    // MARK: Reports

    @Test(
        "the reports name the drives without a confirmed watchdog, until a silent drive has answered again"
    )
    func reports() {
        let codec = ODriveCodec(ids: Self.ids, endpoints: Self.endpoints, watchdog: 0.025)
        let reports = DriveReports()
        reports.noteGuards(of: codec)
        #expect(reports.unguarded == [.yaw, .roll, .pitch])
        for axis in GimbalAxis.allCases {
            var news = DriveReading(axis: axis)
            news.watchdog = 0.025
            news.isWatchdogOn = axis != .roll
            news.firmware = 0x00_0609
            reports[axis].note(news)
            reports[axis].note(isSilent: false)
        }
        reports.noteGuards(of: codec)
        #expect(reports.unguarded == [.roll])
        #expect(reports[.yaw].watchdog == 0.025 && reports[.roll].watchdog.isNaN)
        reports[.yaw].note(isSilent: true)
        reports.noteGuards(of: codec)
        #expect(reports.unguarded == [.yaw, .roll] && reports[.yaw].firmware == 0)
    }
}
