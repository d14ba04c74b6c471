import Configuration
import Testing

@testable import Hardware

@Suite("Batteries and supplies of the kernel")
struct BatteryReaderTests {
    /// Simulated /sys/class.
    private let kernel = MadeUpIIO()

    private var roots: BatteryReader.Roots {
        var roots = BatteryReader.Roots()
        roots.powerSupply = "\(kernel.tree.devices)/power_supply"
        roots.hwmon = "\(kernel.tree.devices)/hwmon"
        return roots
    }

    private func add(_ folder: String, _ files: [String: String]) {
        for (name, text) in files { kernel.write(text, to: "\(folder)/\(name)") }
    }

    private func read(
        _ source: BatterySource, _ change: (inout Settings.Battery) -> Void = { _ in }
    ) throws(BatteryReader.Failure) -> BatteryReading? {
        var settings = Settings().battery
        settings.source = source
        change(&settings)
        return try BatteryReader(settings, roots: roots).read()
    }

    @Test("a fuel gauge's values are read in the units of the ABI; a mouse's battery is ignored")
    func fuelGauge() throws {
        add("power_supply/AC", ["type": "Mains", "online": "1"])
        add("power_supply/Amouse", ["type": "Battery", "scope": "Device", "capacity": "3"])
        add(
            "power_supply/max17042",
            [
                "type": "Battery", "status": "Discharging", "present": "1", "capacity": "81",
                "voltage_now": "7654000", "current_now": "-512000", "temp": "-53",
                "time_to_empty_now": "5400",
            ])
        let reading = try #require(try read(.powerSupply))
        var expected = BatteryReading()
        (expected.name, expected.state) = ("max17042", .discharging)
        (expected.voltage, expected.current, expected.percent) = (7.654, 0.512, 81)
        (expected.temperature, expected.secondsLeft) = (-5.3, 5400)
        #expect(abs((reading.temperature ?? 0) + 5.3) < 1e-9)
        expected.temperature = reading.temperature
        #expect(reading == expected)
        #expect(try read(.none) == nil)
    }

    @Test(
        "the current is positive while the battery is discharged, regardless of the driver's sign",
        arguments: [
            ("Discharging", "500000", 0.5), ("Discharging", "-500000", 0.5),
            ("Charging", "500000", -0.5), ("Charging", "-500000", -0.5),
            ("Unknown", "-500000", 0.5), ("Full", "0", 0),
        ])
    func current(status: String, text: String, amperes: Double) throws {
        add(
            "power_supply/b",
            ["type": "Battery", "status": status, "capacity": "50", "current_now": text])
        #expect(try read(.powerSupply)?.current == amperes)
    }

    @Test("impossible values are left out, and a missing charge is estimated from the voltage")
    func impossible() throws {
        add(
            "power_supply/b",
            [
                "type": "UPS", "status": "?", "capacity": "255", "voltage_now": "7200000",
                "temp": "99999", "current_now": "x", "power_now": "3600000",
            ])
        let reading = try #require(try read(.powerSupply))
        #expect(reading.percent == nil && reading.temperature == nil)
        #expect(reading.current == -0.5, "power by voltage; unknown state")
        let estimated = try read(.powerSupply) { ($0.emptyV, $0.fullV) = (6.4, 8.4) }
        #expect(abs((estimated?.percent ?? 0) - 40) < 1e-9)
    }

    @Test("a monitor of voltage and current is found by its channels, its name or its number")
    func monitor() throws {
        add("hwmon/hwmon0", ["name": "cpu_thermal", "temp1_input": "45000"])
        add(
            "hwmon/hwmon1",
            ["name": "ina226", "in0_input": "12", "in1_input": "12100", "curr1_input": "850"])
        add("hwmon/hwmon2", ["name": "ltc2945", "in2_input": "24000"])
        let found = try #require(try read(.hwmon))
        #expect(found.name == "ina226" && found.voltage == 12.1 && found.current == 0.85)
        #expect(found.state == .discharging)
        #expect(try read(.hwmon) { $0.device = "hwmon1" }?.voltage == 12.1)
        let other = try read(.hwmon) { ($0.device, $0.voltageChannel) = ("ltc2945", "in2") }
        #expect(other?.voltage == 24 && other?.current == nil)
        #expect(BatteryReader.offers(roots) == ["hwmon ina226"])
    }

    @Test("a missing device is reported")
    func missing() {
        #expect {
            try read(.powerSupply)
        } throws: {
            ($0 as? BatteryReader.Failure)?.problem == "the kernel reports no battery"
        }
        #expect {
            try read(.hwmon) { $0.device = "ina219" }
        } throws: {
            ($0 as? BatteryReader.Failure)?.problem == "there is no hwmon device ina219"
        }
        add("power_supply/b", ["type": "Battery", "present": "0", "capacity": "50"])
        #expect {
            try read(.powerSupply)
        } throws: {
            ($0 as? BatteryReader.Failure)?.problem == "the battery b is not present"
        }
        add("power_supply/b", ["present": "1", "capacity": ""])
        #expect {
            try read(.powerSupply)
        } throws: {
            ($0 as? BatteryReader.Failure)?.problem.contains("neither a voltage nor") == true
        }
    }
}
