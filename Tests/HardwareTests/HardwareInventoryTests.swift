import Configuration
import GimbalCore
import Glibc
import Testing

@testable import Hardware

@Suite("Search for hardware") struct HardwareInventoryTests {
    /// Temporary folder with the folders `sys` and `dev` of a simulated board.
    final class Machine {
        let root: String

        init() {
            var path = Array("/tmp/airframe-machine-XXXXXX".utf8CString)
            precondition(mkdtemp(&path) != nil)
            root = String(decoding: path.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }

        deinit { MadeUpIIO.remove(root) }

        func add(_ file: String, _ text: String = "") {
            var folder = root
            for part in file.split(separator: "/").dropLast() {
                folder += "/\(part)"
                mkdir(folder, 0o755)
            }
            let handle = fopen("\(root)/\(file)", "w")
            precondition(handle != nil, file)
            fputs(text + "\n", handle)
            fclose(handle)
        }

        func addBus(_ number: Int) {
            add("sys/bus/i2c/devices/i2c-\(number)/name", "bcm2835 (i2c@7e80400\(number))")
            add("dev/i2c-\(number)")
        }
    }

    private static func report(
        _ machine: Machine, _ wires: [String: I2CWire], mayRead: () -> Bool = { true }
    ) -> HardwareReport {
        HardwareInventory(root: machine.root).report(
            includesSPI: false, mayRead: mayRead,
            bus: { path in
                (wires[String(path.dropFirst(machine.root.count))] ?? I2CWire()).bus()
            }, device: { SPIDevice(path: $0) })
    }

    private static func search(_ wire: I2CWire, mayRead: @escaping () -> Bool = { true }) -> (
        chips: [HardwareReport.Chip], problem: String?
    ) { ChipSearch(mayRead: mayRead, rest: {}).search(wire.bus()) }

    @Test(
        "recognises each sensor on I2C by its identity register",
        arguments: [
            (SensorChip.mpu6050, 0x75, 0x68), (.mpu6500, 0x75, 0x70), (.mpu9250, 0x75, 0x71),
            (.mpu9250, 0x75, 0x73), (.icm42688p, 0x75, 0x47), (.icm20948, 0x00, 0xEA),
        ] as [(SensorChip, Int, UInt8)])
    func sensors(chip: SensorChip, register: Int, identity: UInt8) {
        for address in [0x68, 0x69] {
            let wire = I2CWire()
            wire[UInt16(address), register] = identity
            let found = Self.search(wire)
            #expect(
                found.chips == [
                    .init(name: chip.rawValue, addresses: [address], isCertain: true)
                ])
            #expect(found.problem == nil)
        }
    }

    @Test("recognises the two parts of a BMI088 at every combination of their address pins")
    func twoParts() {
        for (accel, gyro) in [(0x18, 0x68), (0x19, 0x69), (0x18, 0x69), (0x19, 0x68)] {
            let wire = I2CWire()
            wire[UInt16(accel), 0] = 0x1E
            wire[UInt16(gyro), 0] = 0x0F
            #expect(
                Self.search(wire).chips == [
                    .init(name: "bmi088", addresses: [accel, gyro], isCertain: true)
                ])
        }
    }

    @Test(
        "recognises chips without an ID register by their other registers, and reports unknown chips"
    )
    func others() {
        let wire = I2CWire()
        for (register, value) in [(2, 0xE2), (3, 0xE4), (4, 0xE8), (5, 0xE0)] {
            wire[0x41, register] = UInt8(value)
        }
        wire[0x36, 0x0B] = 0x20
        wire[0x68, 0x75] = 0x12
        // An INA219 has the address of a PCA9685, but other registers.
        wire[0x40, 0] = 0x39
        let found = Self.search(wire).chips
        #expect(
            found == [
                .init(name: "as5600", addresses: [0x36], isCertain: false),
                .init(name: "pca9685", addresses: [0x41], isCertain: false),
                .init(name: "unknown", addresses: [0x40], isCertain: false),
                .init(name: "unknown", addresses: [0x68], isCertain: false),
            ])
    }

    @Test("the search only reads: no message writes more than a register pointer")
    func readsOnly() {
        let wire = I2CWire()
        for address in 3...0x77 {
            for register in 0..<256 { wire[UInt16(address), register] = UInt8(register) }
        }
        _ = Self.search(wire)
        #expect(wire.calls > 10)
        #expect(wire.messages == 2 * wire.calls, "each call: a register pointer, then a read")
        for address in 3...0x77 {
            for register in 0..<256 {
                #expect(wire[UInt16(address), register] == UInt8(register))
            }
        }
    }

    @Test(
        "the search ends when the motors are switched on, and on a bus that is stuck or cannot be opened"
    )
    func ends() {
        let wire = I2CWire()
        wire[0x68, 0x75] = 0x68
        var left = 3
        let ended = Self.search(wire) {
            left -= 1
            return left >= 0
        }
        #expect(wire.calls == 3)
        #expect(ended.problem?.contains("motors are on") == true)
        let off = Self.search(wire) { false }
        #expect(off.chips.isEmpty && wire.calls == 3)

        let stuck = I2CWire()
        stuck.error = ETIMEDOUT
        #expect(Self.search(stuck).problem?.contains("stuck") == true)
        #expect(stuck.calls == 1, "a stuck bus costs one timeout, not one for each address")
        let closed = I2CWire()
        closed.openError = EACCES
        #expect(Self.search(closed).problem?.contains("not permitted") == true)
    }

    @Test("does not search chips that have a kernel driver")
    func reserved() {
        let machine = Machine()
        machine.addBus(1)
        machine.add("sys/bus/i2c/devices/1-0068/name", "ds3231")
        machine.add("sys/bus/i2c/devices/1-0068/driver/module")
        let wire = I2CWire()
        wire[0x68, 0x75] = 0x68
        let bus = Self.report(machine, ["/dev/i2c-1": wire]).i2c.first
        #expect(bus?.chips == [])
        #expect(bus?.drivers == ["ds3231 at 0x68"])
        #expect(bus?.problem == nil)
    }

    @Test("a search without airframed does not read devices that an airframed uses")
    func usedDevices() {
        let machine = Machine()
        machine.addBus(1)
        machine.add("dev/spidev0.0")
        func problems() -> [String] {
            let inventory = HardwareInventory(root: machine.root)
            let report = inventory.reportWithoutDaemon(includesSPI: true)
            return (report.i2c + report.spi).map { $0.problem ?? "none" }
        }
        let files = ["i2c-1", "spidev0.0"].map { open("\(machine.root)/dev/\($0)", O_RDWR) }
        files.forEach(DeviceLock.hold)
        #expect(problems().count == 2)
        #expect(problems().allSatisfy { $0.contains("in use") }, "\(problems())")
        for file in files { close(file) }
        #expect(problems().allSatisfy { !$0.contains("in use") }, "\(problems())")
    }

    @Test("the lock of a device can have several holders, and ends with the last one")
    func deviceLock() {
        let machine = Machine()
        machine.add("dev/i2c-1")
        let path = "\(machine.root)/dev/i2c-1"
        let files = (0..<2).map { _ in open(path, O_RDWR) }
        files.forEach(DeviceLock.hold)
        for file in files {
            #expect(DeviceLock.isHeld(path))
            close(file)
        }
        #expect(!DeviceLock.isHeld(path))
    }

    @Test("recognises sensors on SPI")
    func spi() {
        for (chip, register, value) in [
            ("mpu6500", 0x75, 0x70), ("icm42688p", 0x75, 0x47), ("icm20948", 0, 0xEA),
            ("bmi088_gyro", 0, 0x0F),
        ] {
            let wire = SPITests.Wire()
            wire.registers[register] = UInt8(value)
            let found = ChipSearch(mayRead: { true }, rest: {}).search(wire.device())
            #expect(found.chip?.name == chip)
        }
        let wire = SPITests.Wire()
        #expect(ChipSearch(mayRead: { true }, rest: {}).search(wire.device()).chip == nil)
        let accel = SPITests.Wire()
        accel.registers[0] = 0x1E
        accel.dummies = 1
        let found = ChipSearch(mayRead: { true }, rest: {}).search(accel.device())
        #expect(found.chip?.name == "bmi088_accel")
        #expect(ChipSearch(mayRead: { false }, rest: {}).search(accel.device()).problem != nil)
    }

    @Test("lists the devices of the kernel")
    func devices() {
        let machine = Machine()
        machine.add("sys/firmware/devicetree/base/model", "Raspberry Pi 5 Model B Rev 1.0")
        machine.addBus(1)
        machine.add("dev/spidev0.0")
        machine.add("dev/gpiochip0")
        machine.add("sys/class/net/can0/type", "280")
        machine.add("sys/class/net/can0/operstate", "down")
        machine.add("sys/class/net/eth0/type", "1")
        machine.add("dev/serial/by-id/usb-1a86_USB_Serial-if00-port0")
        machine.add("sys/class/pwm/pwmchip0/npwm", "4")
        machine.add("sys/class/input/event3/device/name", "Wireless Controller")
        // The bit of BTN_SOUTH, 0x130 = 4 * 64 + 48.
        machine.add(
            "sys/class/input/event3/device/capabilities/key", "1000000000000 0 0 0 0")
        machine.add("sys/class/input/event4/device/name", "Keyboard")
        machine.add("sys/class/input/event4/device/capabilities/key", "fffffffffffffffe")
        let report = Self.report(machine, [:])
        #expect(report.board == "Raspberry Pi 5 Model B Rev 1.0")
        #expect(report.i2c.map(\.path) == ["/dev/i2c-1"])
        #expect(report.spi.map(\.path) == ["/dev/spidev0.0"])
        #expect(report.spi.first?.problem?.contains("--spi") == true)
        #expect(report.gpio.map(\.path) == ["/dev/gpiochip0"])
        #expect(report.can == [.init(path: "can0", name: "down")])
        #expect(report.serial.map(\.path) == ["/dev/serial/by-id/usb-1a86_USB_Serial-if00-port0"])
        #expect(report.pwm == [.init(path: "/sys/class/pwm/pwmchip0", name: "4 channels")])
        #expect(
            report.gamepads == [.init(path: "/dev/input/event3", name: "Wireless Controller")])
        #expect(report.proposal.profile == "raspberry-pi-5.toml")
    }

    @Test("proposes lines that load, with the motors off until a person selects their type")
    func proposal() throws {
        let machine = Machine()
        machine.addBus(1)
        machine.addBus(3)
        let (sensors, motors) = (I2CWire(), I2CWire())
        sensors[0x19, 0] = 0x1E
        sensors[0x69, 0] = 0x0F
        for (register, value) in [(2, 0xE2), (3, 0xE4), (4, 0xE8), (5, 0xE0)] {
            motors[0x40, register] = UInt8(value)
        }
        let proposal = Self.report(machine, ["/dev/i2c-1": sensors, "/dev/i2c-3": motors]).proposal
        #expect(
            proposal.lines == [
                "[hardware]", "backend = \"linux\"", "", "[hardware.linux]",
                "bus = \"/dev/i2c-1\"", "imu = \"bmi088\"", "imu_address = 0x19",
                "gyro_address = 0x69", "motors = \"none\"",
                "# When motors.type is set, replace the line above with the lines of your motors:",
                "#motors = \"pca9685\"", "#motor_bus = \"/dev/i2c-3\"", "#motor_address = 0x40",
            ])
        let settings = try Self.load(proposal.lines)
        #expect(settings.hardware.linux.imu == .bmi088)
        #expect(settings.hardware.linux.gyroAddress == 0x69)
        #expect(settings.hardware.linux.motors == .none)
        // The commented lines of the motors also load.
        let chosen = proposal.lines.filter { $0 != "motors = \"none\"" && !$0.hasPrefix("# ") }
            .map { $0.hasPrefix("#") ? String($0.dropFirst()) : $0 }
        let driven = try Self.load(chosen + ["[motors]", "type = \"servo\""])
        #expect(driven.hardware.linux.motors == .pca9685)
        #expect(proposal.unknown.contains { $0.hasPrefix("motors.type") })
        #expect(proposal.unknown.contains { $0.hasPrefix("bus_khz") })
    }

    @Test("without any chip, the proposal states what is missing")
    func nothing() throws {
        let machine = Machine()
        machine.addBus(1)
        let proposal = Self.report(machine, [:]).proposal
        #expect(proposal.unknown.contains { $0.hasPrefix("imu: no known sensor") })
        #expect(proposal.unknown.contains { $0.hasPrefix("motors: no motor driver") })
        #expect(try Self.load(proposal.lines).hardware.linux.motors == .none)
    }

    /// Loads a configuration file with these lines.
    private static func load(_ lines: [String]) throws -> Settings {
        let machine = Machine()
        machine.add("airframed.toml", lines.joined(separator: "\n"))
        return try ConfigurationLoader.load(
            ConfigurationSource(config: "\(machine.root)/airframed.toml", overrides: [])
        ).settings
    }
}
