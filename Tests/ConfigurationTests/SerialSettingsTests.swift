import GimbalCore
import Testing

@testable import Configuration

@Suite("Settings of servos and motor boards on a serial port")
struct SerialSettingsTests {
    /// Settings of a gimbal with three Feetech servos, modified by `change`.
    private static func settings(_ change: (inout Settings) -> Void = { _ in }) -> Settings {
        var settings = Settings()
        settings.hardware.backend = .linux
        settings.hardware.linux.motors = .busServo
        settings.hardware.linux.encoders = .drives
        settings.hardware.linux.encoderZeroDeg = AxisVector(repeating: 180)
        settings.joints.rangeDeg = AxisRanges(
            lower: AxisVector(repeating: -100), upper: AxisVector(repeating: 100))
        settings.motors.type = .servo
        settings.servo.frameHz = 250
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

    @Test("servos in position or current mode, and a motor board, are valid configurations")
    func good() {
        let changes: [(inout Settings) -> Void] = [
            { _ in }, { $0.hardware.linux.servoProtocol = .dynamixel2 },
            {
                $0.hardware.linux.servoProtocol = .dynamixel2
                $0.motors.type = .torque
            },
            {
                $0.hardware.linux.motors = .board
                $0.hardware.linux.motorBaud = 921_600
                $0.motors.type = .torque
            },
            {
                $0.hardware.linux.servoId.roll = -1
                $0.joints.rangeDeg.lower.roll = -1
                $0.joints.rangeDeg.upper.roll = 1
            },
        ]
        for change in changes { #expect(Self.complaints(Self.settings(change)) == []) }
    }

    @Test("a loop whose two periods are longer than a motor board's timeout is refused")
    func boardPeriods() {
        func found(_ rateHz: Int) -> [String] {
            Self.complaints(
                Self.settings {
                    $0.hardware.linux.motors = .board
                    $0.motors.type = .torque
                    $0.loop.rateHz = rateHz
                    $0.control.fit(rateHz: rateHz)
                })
        }
        #expect(found(100) == [])
        #expect(found(99).contains { $0.contains("Set loop.rate_hz to at least 100") })
    }

    @Test("separate encoders are refused if the servos' goals need encoder_zero_deg")
    func jointEncoders() {
        func areRefused(_ type: MotorType) -> Bool {
            Self.complaints(
                Self.settings {
                    $0.hardware.linux.servoProtocol = .dynamixel2
                    $0.hardware.linux.encoders = .as5600
                    $0.motors.type = type
                }
            ).contains { $0.contains("is the reading of the servos' own encoders") }
        }
        #expect(areRefused(.servo))
        #expect(!areRefused(.torque))
    }

    @Test("an invalid combination is refused, and the message names the setting to change")
    func combinations() {
        let cases: [(String, (inout Settings) -> Void)] = [
            ("because a servo commutates its own motor", { $0.motors.type = .field }),
            ("does not support torque control", { $0.motors.type = .torque }),
            ("because the drives receive torques", { $0.hardware.linux.motors = .board }),
            ("contains the same identifier twice", { $0.hardware.linux.servoId.pitch = 1 }),
            ("names no servo", { $0.hardware.linux.servoId = AxisVector(repeating: -1) }),
            (
                "from 0 to 252",
                {
                    $0.hardware.linux.servoProtocol = .dynamixel2
                    $0.hardware.linux.servoId.yaw = 253
                }
            ),
            (
                "beyond the servo's travel",
                { $0.hardware.linux.encoderZeroDeg = AxisVector(yaw: 180, roll: 180, pitch: 90) }
            ),
            ("although this joint has no servo", { $0.hardware.linux.servoId.roll = -1 }),
            ("would occupy 304 % of the port's time", { $0.hardware.linux.motorBaud = 57600 }),
            ("set servo.frame_hz to at most 65", { $0.hardware.linux.motorBaud = 57600 }),
            (
                "must be below supply.low_v",
                {
                    $0.supply.lowV = 7
                    $0.supply.emptyV = 7
                }
            ),
            (
                "which battery.source = \"none\" does not provide",
                { $0.supply.source = .battery }
            ),
            (
                "which battery.source = \"drive\" does not provide",
                {
                    $0.supply.source = .battery
                    $0.battery.source = .drive
                }
            ),
            (
                "has no effect, because motors = \"pca9685\" do not report their supply voltage",
                {
                    $0.supply.emptyV = 7
                    $0.hardware.linux.motors = .pca9685
                    $0.hardware.linux.encoders = .none
                }
            ),
            (
                "only on brushless motors on a PCA9685",
                { $0.supply.nominalV = 11.1 }
            ),
            (
                "which these motors do not report",
                {
                    $0.supply.nominalV = 11.1
                    $0.hardware.linux.motors = .pca9685
                    $0.hardware.linux.encoders = .none
                    $0.motors.type = .field
                }
            ),
            (
                "which these motors do not report",
                {
                    $0.supply.nominalV = 24
                    $0.hardware.linux.motors = .can
                    $0.hardware.linux.canProtocol = .gm6020Voltage
                }
            ),
            (
                "hardware.linux.encoders = \"drives\"",
                {
                    $0.hardware.linux.servoProtocol = .dynamixel2
                    $0.motors.type = .torque
                    $0.hardware.linux.encoders = .none
                }
            ),
        ]
        for (words, change) in cases {
            let found = Self.complaints(Self.settings(change))
            #expect(found.contains { $0.contains(words) }, "\(words): \(found)")
        }
    }

    @Test(
        "a switch of the supply needs a GPIO line and motors that report their state; the loop then waits for the boot time"
    )
    func supplySwitch() {
        func settings(_ line: Int, _ motors: MotorChip = .busServo) -> Settings {
            Self.settings {
                $0.hardware.linux.powerLineRole = .supply
                $0.hardware.linux.powerLine = line
                $0.hardware.linux.motors = motors
            }
        }
        let good = settings(17)
        #expect(Self.complaints(good) == [])
        #expect(good.stabilizerParameters.motorSupply.isSwitched)
        #expect(good.stabilizerParameters.motorSupply.bootSeconds == 2)
        #expect(!Self.settings().stabilizerParameters.motorSupply.isSwitched)
        #expect(
            Self.complaints(settings(-1)).contains { $0.contains("no GPIO line is set") })
        #expect(
            Self.complaints(settings(17, .pwm)).contains {
                $0.contains("whose power stages follow the line")
            })
    }

    @Test(
        "the load of the serial port follows from the bytes of each exchange and the rate of the servos"
    )
    func load() throws {
        let servos = try #require(SerialLoad(Self.settings()))
        #expect(servos.bytes == 17 + 11 + 42 && servos.rate == 250)
        #expect(abs(servos.load - 0.175) < 1e-9)
        let board = try #require(
            SerialLoad(
                Self.settings {
                    $0.hardware.linux.motors = .board
                    $0.motors.type = .torque
                }))
        #expect(board.bytes == 21 + 22 + 16 && board.rate == 500)
        #expect(SerialLoad(Settings()) == nil)
    }
}
