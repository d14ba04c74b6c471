import ArgumentParser
import Client
import Hardware
import PlainText
import Wire

struct HardwareCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hardware",
        abstract: "List buses, devices and chips, and propose a configuration.",
        discussion: """
            The command lists the devices of the kernel, and searches the I2C buses for the chips that airframed supports. The \
            search only reads, and only while the motors are off. Without a running airframed, the command reads the buses \
            directly, which needs access to their device files. It does not read a bus that an airframed with another socket has open.

            SPI devices are read only with --spi: a read can change the registers of chips that are not sensors.
            """)

    @OptionGroup var options: GlobalOptions
    @Flag(help: "Also read the SPI devices.")
    var spi = false

    func run() throws {
        // If the option `--socket` is set, or the socket is not accessible, airframed can be
        // running. The direct search leaves out the buses of an airframed with another socket.
        let isDirect =
            options.socket == GlobalOptions.usualSocket
            && DaemonClient.isAbsent(at: options.socket)
        let report: HardwareReport =
            isDirect
            ? HardwareInventory().reportWithoutDaemon(includesSPI: spi)
            : try options.connect().request(.hardware, ["spi": .bool(spi)])
        if options.json { return try Output.json(report) }
        HardwareView.lines(report).forEach(Output.line)
    }
}

/// Text output of `airframectl hardware`.
enum HardwareView {
    static func lines(_ report: HardwareReport) -> [String] {
        var lines = ["board       \(report.board)"]
        func add(_ title: String, _ rows: [String]) {
            for (index, row) in rows.enumerated() {
                lines.append(Format.left(index == 0 ? title : "", 12) + row)
            }
        }
        add("I2C", report.i2c.flatMap(rows))
        add("SPI", report.spi.flatMap(rows))
        add("sensors", report.iio)
        add("CAN", report.can.map(row))
        add("serial", report.serial.map(row))
        add("PWM", report.pwm.map(row))
        add("GPIO", report.gpio.map(row))
        add("gamepads", report.gamepads.map(row))
        add("supplies", report.supplies)
        lines += ["", "# Proposal for /etc/airframe/airframed.toml:"] + report.proposal.lines
        if let profile = report.proposal.profile {
            let path = "/usr/share/doc/airframe/examples/\(profile)"
            lines += ["", "Profile of this board, with pins: \(path)"]
        }
        guard !report.proposal.unknown.isEmpty else { return lines }
        lines += ["", "The search cannot find these values:"]
        for sentence in report.proposal.unknown {
            for (index, part) in Format.wrapped(sentence, 76).enumerated() {
                lines.append((index == 0 ? "- " : "  ") + part)
            }
        }
        return lines
    }

    private static func row(_ device: HardwareReport.Device) -> String {
        device.name.isEmpty ? device.path : "\(device.path): \(device.name)"
    }

    /// One line for a bus, then one line for each chip.
    private static func rows(_ bus: HardwareReport.Bus) -> [String] {
        let chips = bus.chips.map { chip in
            let places = chip.addresses.map { "0x" + String($0, radix: 16) }
            return chip.name + (places.isEmpty ? "" : " at " + places.joined(separator: " and "))
                + (chip.isCertain || chip.name == "unknown" ? "" : " (probably)")
        }
        let found = chips + bus.drivers.map { "\($0) (driver in the kernel)" }
        let head = bus.path + (bus.name.isEmpty ? "" : " (\(bus.name))")
        let none = bus.problem == nil ? "no known chip" : ""
        let list = found.isEmpty ? none : found.joined(separator: ", ")
        let words = [list, bus.problem ?? ""].filter { !$0.isEmpty }
        return ["\(head): " + words.joined(separator: "; ")]
    }
}
