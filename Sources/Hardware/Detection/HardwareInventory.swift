internal import Glibc
internal import Realtime

/// Lists the devices that the kernel provides, and searches the buses for known chips. The methods
/// read many files and wait for buses; neither the loop nor a bus thread calls them.
public struct HardwareInventory: Sendable {
    /// Folder that contains `sys` and `dev`; empty for the kernel's folders. Tests use another folder.
    private let root: String

    /// Largest number of devices of each kind in a report.
    private static let most = 64
    /// Type of a CAN interface in /sys/class/net (ARPHRD_CAN in linux/if_arp.h).
    private static let canType = 280.0

    /// Creates the inventory of this computer.
    ///
    /// - Parameter root: Folder that contains the folders `sys` and `dev`.
    public init(root: String = "") { self.root = root }

    /// Name of the board from the device tree or the firmware; "unknown" if it is not available.
    public var board: String {
        for path in ["sys/firmware/devicetree/base/model", "sys/class/dmi/id/product_name"] {
            if let text = firstLine(of: "\(root)/\(path)") { return text }
        }
        return "unknown"
    }

    /// Lists the devices, searches the buses for known chips, and proposes a configuration.
    ///
    /// - Parameters:
    ///   - includesSPI: True if SPI devices are also searched. A read can change the registers of
    ///     chips that are not sensors.
    ///   - mayRead: Function that returns false as soon as the search must not use a bus, because
    ///     the motors are on.
    /// - Returns: The report.
    public func report(includesSPI: Bool, mayRead: () -> Bool) -> HardwareReport {
        report(
            includesSPI: includesSPI, mayRead: mayRead, bus: { I2CBus(path: $0) },
            device: { SPIDevice(path: $0) })
    }

    /// Creates the report while airframed does not answer. A device file that an airframed has open
    /// is not searched, because the motors can be on.
    ///
    /// - Parameter includesSPI: True if SPI devices are also searched.
    /// - Returns: The report.
    public func reportWithoutDaemon(includesSPI: Bool) -> HardwareReport {
        report(
            includesSPI: includesSPI, mayRead: { true },
            bus: { path in
                I2CBus(
                    path: path,
                    open: { DeviceLock.isHeld($0) ? EBUSY : I2CBus.openAdapter($0, $1) })
            },
            device: { path in
                SPIDevice(
                    path: path,
                    open: { DeviceLock.isHeld($0) ? EBUSY : SPIDevice.openDevice($0, $1) })
            })
    }

    /// Creates the report. Tests pass functions that make buses without hardware.
    func report(
        includesSPI: Bool, mayRead: () -> Bool, bus: (String) -> I2CBus,
        device: (String) -> SPIDevice
    ) -> HardwareReport {
        var report = HardwareReport()
        report.board = board
        withoutActuallyEscaping(mayRead) { mayRead in
            let search = ChipSearch(mayRead: mayRead)
            report.i2c = adapters.map { number, name in
                let path = "\(root)/dev/i2c-\(number)"
                let drivers = drivers(of: number)
                var entry = HardwareReport.Bus(path: Self.shown(path, root), name: name)
                entry.drivers = drivers.map { "\($0.name) at \(Self.hex(Int($0.address)))" }
                (entry.chips, entry.problem) = search.search(
                    bus(path), reserved: Set(drivers.map(\.address)))
                return entry
            }
            report.spi = files("dev", "spidev").map { name in
                let path = "\(root)/dev/\(name)"
                var entry = HardwareReport.Bus(path: Self.shown(path, root), name: "")
                if includesSPI {
                    let result = search.search(device(path))
                    entry.chips = [result.chip].compactMap(\.self)
                    entry.problem = result.problem
                } else {
                    entry.problem = "not searched: --spi reads the devices."
                }
                return entry
            }
        }
        list(&report)
        report.proposal = HardwareProposal(report).proposal
        return report
    }

    private func list(_ report: inout HardwareReport) {
        report.iio = Array(
            IIOInventory.lines(
                IIOTree(devices: "\(root)/sys/bus/iio/devices", files: "\(root)/dev")
            ).prefix(Self.most))
        var roots = BatteryReader.Roots()
        roots.powerSupply = "\(root)/sys/class/power_supply"
        roots.hwmon = "\(root)/sys/class/hwmon"
        report.supplies = Array(BatteryReader.offers(roots).prefix(Self.most))
        let net = folder("sys/class/net")
        report.can = net.entries.filter { net.folder($0).number("type") == Self.canType }
            .map { .init(path: $0, name: net.folder($0).text("operstate") ?? "") }
        report.serial =
            files("dev/serial/by-id", "").map { .init(path: "/dev/serial/by-id/\($0)", name: "") }
            + files("dev", "serial").filter { $0 == "serial0" }
            .map { .init(path: "/dev/\($0)", name: "the board's own serial port") }
        let pwm = folder("sys/class/pwm")
        report.pwm = pwm.entries.prefix(Self.most).map {
            let channels = pwm.folder($0).text("npwm") ?? "?"
            return .init(path: "/sys/class/pwm/\($0)", name: "\(channels) channels")
        }
        report.gpio = files("dev", "gpiochip").map { name in
            let chip = folder("sys/bus/gpio/devices/\(name)/../gpio")
            let old = chip.entries.first.map(chip.folder)
            let words = [old?.text("label"), old?.text("ngpio").map { "\($0) lines" }]
            return .init(
                path: "/dev/\(name)", name: words.compactMap(\.self).joined(separator: ", "))
        }
        let input = folder("sys/class/input")
        report.gamepads = input.entries.filter { $0.hasPrefix("event") }.prefix(Self.most)
            .map { ($0, input.folder($0).folder("device")) }
            .filter { isGamepad($0.1.folder("capabilities").text("key")) }
            .map { .init(path: "/dev/input/\($0.0)", name: $0.1.text("name") ?? "") }
    }

    // MARK: I2C adapters (Documentation/i2c/dev-interface.rst)

    private var adapters: [(number: Int, name: String)] {
        let devices = folder("sys/bus/i2c/devices")
        return devices.entries.compactMap { entry in
            guard entry.hasPrefix("i2c-"), let number = Int(entry.dropFirst(4)) else { return nil }
            return (number, devices.folder(entry).text("name") ?? "")
        }.sorted { $0.number < $1.number }.prefix(Self.most).map { $0 }
    }

    /// Chips on an adapter that have a driver in the kernel. Their folders have names such as
    /// `1-0068`: the number of the adapter and the address.
    private func drivers(of adapter: Int) -> [(address: UInt16, name: String)] {
        let devices = folder("sys/bus/i2c/devices")
        return devices.entries.compactMap { entry in
            let parts = entry.split(separator: "-")
            guard parts.count == 2, Int(parts[0]) == adapter, devices.folder(entry).has("driver"),
                let address = UInt16(parts[1], radix: 16)
            else { return nil }
            return (address, devices.folder(entry).text("name") ?? "a chip")
        }
    }

    /// True if the bit field of an input device contains a key of joysticks or gamepads
    /// (BTN_JOYSTICK to BTN_THUMBR, linux/input-event-codes.h).
    private func isGamepad(_ keys: String?) -> Bool {
        (0x120...0x13F).contains { isBitSet($0, in: keys) }
    }

    // MARK: Folders

    private func folder(_ path: String) -> KernelFolder { KernelFolder(path: "\(root)/\(path)") }

    /// Names in a folder that begin with the given text, at most `most` names.
    private func files(_ path: String, _ prefix: String) -> [String] {
        Array(folder(path).entries.filter { $0.hasPrefix(prefix) }.prefix(Self.most))
    }

    private static func shown(_ path: String, _ root: String) -> String {
        String(path.dropFirst(root.count))
    }

    static func hex(_ address: Int) -> String { "0x" + String(address, radix: 16) }
}
