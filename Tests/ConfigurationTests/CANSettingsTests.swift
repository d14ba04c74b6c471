import GimbalCore
import Testing

@testable import Configuration

@Suite("Settings of CAN drives")
struct CANSettingsTests {
    /// Settings of a gimbal with three CAN drives, modified by `change`.
    private static func settings(_ change: (inout Settings) -> Void = { _ in }) -> Settings {
        var settings = Settings()
        settings.hardware.backend = .linux
        settings.hardware.linux.motors = .can
        settings.hardware.linux.encoders = .drives
        settings.hardware.linux.canId = AxisVector(yaw: 1, roll: 2, pitch: 3)
        settings.motors.type = .torque
        settings.loop.rateHz = 500
        change(&settings)
        return settings
    }

    /// Problems of these settings, as if all settings were in a file.
    private static func complaints(_ settings: Settings) -> [String] {
        ConfigurationRule.all.compactMap { rule in
            rule.problem(in: settings, origin: { _ in .file("a.toml", line: 1) })?
                .description
        }
    }

    @Test(
        "three drives with their own encoders are a valid configuration",
        arguments: DriveProtocol.allCases)
    func good(name: DriveProtocol) {
        #expect(Self.complaints(Self.settings { $0.hardware.linux.canProtocol = name }) == [])
    }

    @Test(
        "a missing, duplicate, fractional or impossible CAN ID is refused",
        arguments: [
            ([1, 2, -1], DriveProtocol.odrive, "does not contain a CAN ID for the drive of every"),
            ([-1, -1, -1], .moteus, "does not contain a CAN ID for the drive of every"),
            ([1, 2, 2], .odrive, "contains the same CAN ID twice"),
            ([1, 2, 2.5], .odrive, "must be three whole numbers from 0 to 63"),
            ([1, 2, 64], .odrive, "from 0 to 63"), ([1, 2, 8], .gm6020, "from 1 to 7"),
            ([0, 1, 2], .gm6020Voltage, "from 1 to 7"), ([1, 2, 16], .mit, "from 1 to 15"),
            ([0, 1, 2], .cybergear, "from 1 to 127"), ([0, 1, 2], .moteus, "from 1 to 127"),
        ] as [([Double], DriveProtocol, String)])
    func ids(ids: [Double], name: DriveProtocol, complaint: String) {
        let found = Self.complaints(
            Self.settings {
                $0.hardware.linux.canId = AxisVector(yaw: ids[0], roll: ids[1], pitch: ids[2])
                $0.hardware.linux.canProtocol = name
            })
        #expect(found.contains { $0.contains(complaint) }, "\(found)")
    }

    @Test("an invalid combination is refused, and the message names the setting to change")
    func combinations() {
        let cases: [(String, (inout Settings) -> Void)] = [
            ("because the drives receive torques", { $0.motors.type = .servo }),
            ("hardware.linux.encoders = \"drives\"", { $0.hardware.linux.encoders = .none }),
            ("needs drives on a CAN bus", { $0.hardware.linux.motors = .pca9685 }),
            (
                "set motors.direction",
                {
                    $0.hardware.linux.encoderDirection = AxisVector(yaw: -1, roll: 1, pitch: 1)
                }
            ),
            (
                "must be the name of a CAN interface",
                { $0.hardware.linux.canInterface = "/dev/can" }
            ),
            (
                "is also the CAN ID of a drive",
                {
                    $0.hardware.linux.canProtocol = .moteus
                    $0.hardware.linux.canHostId = 2
                }
            ),
            (
                "must be at most 127",
                {
                    $0.hardware.linux.canProtocol = .cybergear
                    $0.hardware.linux.canHostId = 500
                }
            ),
        ]
        for (words, change) in cases {
            let found = Self.complaints(Self.settings(change))
            #expect(found.contains { $0.contains(words) }, "\(words): \(found)")
        }
    }

    @Test("the bus load limits the loop rate, and a slower bus limits it further")
    func load() {
        var settings = Self.settings()
        #expect(BusSchedule(settings).fastest == 600)
        settings.hardware.linux.canKbit = 500
        #expect(BusSchedule(settings).fastest < 350)
        #expect(
            Self.complaints(settings).contains { $0.contains("of the time of can0 at 500 kbit/s") })
        settings.hardware.linux.canProtocol = .moteus
        settings.hardware.linux.canKbit = 1000
        #expect(BusSchedule(settings).fastest > 600)
    }

    @Test(
        "a frame has the number of bits that the CAN standard defines, with the largest number of stuff bits",
        arguments: [(8, false, 135), (4, false, 95), (0, false, 55), (8, true, 160)])
    func bits(bytes: Int, isExtended: Bool, bits: Int) {
        #expect(CANLoad.bits(bytes: bytes, isExtended: isExtended) == bits)
    }

    @Test("airframed sets the watchdogs that the settings allow")
    func watchdogs() {
        func sets(_ name: DriveProtocol, _ change: (inout Settings) -> Void = { _ in }) -> Bool {
            Self.settings {
                $0.hardware.linux.canProtocol = name
                change(&$0)
            }.hardware.linux.setsDriveWatchdogs
        }
        #expect(sets(.moteus) && sets(.cybergear) && sets(.mit))
        #expect(!sets(.odrive) && !sets(.gm6020) && !sets(.gm6020Voltage))
        #expect(!sets(.mit) { $0.hardware.linux.mitVariant = .cubemars })
        #expect(!sets(.cybergear) { $0.hardware.linux.canWatchdogMs = 0 })
        #expect(
            sets(.odrive) {
                $0.hardware.linux.odriveFirmware = "0.6.11"
                $0.hardware.linux.odriveTimeoutId = 214
                $0.hardware.linux.odriveEnableId = 215
            })
    }

    @Test("a watchdog that airframed sets lasts at least two periods of the loop")
    func watchdogPeriods() {
        func found(_ rateHz: Int, _ name: DriveProtocol = .moteus, ms: Double = 25) -> [String] {
            Self.complaints(
                Self.settings {
                    $0.loop.rateHz = rateHz
                    $0.imu.timeoutMs = 40
                    $0.control.fit(rateHz: rateHz)
                    $0.hardware.linux.canProtocol = name
                    $0.hardware.linux.canWatchdogMs = ms
                })
        }
        #expect(found(80) == [] && found(60, ms: 34) == [])
        #expect(found(79).contains { $0.contains("Set can_watchdog_ms to at least 26") })
        #expect(found(60, ms: 33).contains { $0.contains("loop.rate_hz to at least 61") })
        #expect(found(60, .cybergear, ms: 0) == [] && found(60, .gm6020) == [])
        // 2000 divided by such a time does not fit into an integer.
        for ms in [1e-17, Double.leastNonzeroMagnitude, 9] {
            let complaints = found(80, ms: ms)
            #expect(complaints.count == 1, "\(ms)")
            #expect(complaints.contains { $0.contains("must be 0, or at least 10") }, "\(ms)")
        }
    }

    @Test("an endless yaw needs drives whose angles repeat after a whole number of turns")
    func endlessYaw() {
        func found(_ name: DriveProtocol, _ angle: Double = 12.5, end: Double = 360) -> [String] {
            Self.complaints(
                Self.settings {
                    $0.joints.rangeDeg.lower.yaw = -end
                    $0.joints.rangeDeg.upper.yaw = end
                    $0.hardware.linux.canProtocol = name
                    $0.hardware.linux.mitAngleRad = angle
                })
        }
        #expect(found(.mit).contains { $0.contains("mit_angle_rad to 12.566") })
        #expect(found(.mit, 12.566) == [] && found(.mit, 3 * .pi) == [])
        #expect(found(.cybergear, 12.566).contains { $0.contains("Limit the range of yaw") })
        #expect(found(.odrive) == [] && found(.moteus) == [] && found(.gm6020) == [])
        #expect(found(.mit, end: 350) == [] && found(.cybergear, end: 350) == [])
    }

    @Test("an incomplete or impossible setting of the watchdogs is refused")
    func refusedWatchdogs() {
        func found(_ change: (inout Settings.Linux) -> Void) -> [String] {
            Self.complaints(Self.settings { change(&$0.hardware.linux) })
        }
        #expect(
            found { $0.canWatchdogMs = 5 }.contains { $0.contains("must be 0, or at least 10") })
        #expect(found { $0.canWatchdogMs = 0 } == [])
        let moteus = found {
            $0.canProtocol = .moteus
            $0.canWatchdogMs = 0
        }
        #expect(moteus.contains { $0.contains("must not be 0 for protocol moteus") })
        for (firmware, timeout, enable) in [
            ("0.6.9", 0, 215), ("0.6.9", 214, 0), ("none", 214, 215), ("0.6", 214, 215),
            ("0.6.9.1", 214, 215), ("0.6.x", 214, 215), ("0.6.256", 214, 215),
        ] {
            let complaints = found {
                $0.odriveFirmware = firmware
                $0.odriveTimeoutId = timeout
                $0.odriveEnableId = enable
            }
            #expect(complaints.contains { $0.contains("odrive_timeout_id") }, "\(firmware)")
        }
    }
}
