import GimbalCore
import Testing

@testable import Hardware

@Suite("The motors' supply voltage, from the battery's thread to the motors")
struct SupplyMonitorTests {
    private static func at(_ seconds: Double) -> Instant {
        Instant(nanoseconds: 0).advanced(bySeconds: 100 + seconds)
    }

    /// Runs the sensors' thread for a time, with a reading of the battery every 2 s.
    private static func run(
        _ monitor: inout SupplyMonitor, _ reports: DriveReports, battery: Double?,
        _ times: Range<Int>
    ) {
        for tick in times {
            let now = at(Double(tick) * 0.01)
            if let battery, tick % 200 == 0 { reports.supply.note(battery: battery, now: now) }
            monitor.step(now: now)
        }
    }

    @Test("the battery's voltage sets the factor and the conditions, and expires after 10 s")
    func battery() {
        let reports = DriveReports()
        var monitor = SupplyMonitor(
            SupplyWiring(
                limits: SupplyWatch.Limits(low: 10, empty: 9), nominal: 11.1, isBattery: true),
            reports: reports)
        Self.run(&monitor, reports, battery: nil, 0..<100)
        #expect(reports.supply.factor == 1 && reports.supply.voltage.isNaN)
        Self.run(&monitor, reports, battery: 9.6, 200..<2000)
        #expect(abs(reports.supply.factor - 11.1 / 9.6) < 1e-3)
        #expect(abs(reports.supply.voltage - 9.6) < 1e-3)
        #expect(monitor.watch.conditions == .supplyLow)
        Self.run(&monitor, reports, battery: nil, 2000..<4000)
        #expect(abs(reports.supply.factor - 1) < 1e-3 && reports.supply.voltage.isNaN)
    }

    @Test("a single wrong reading of the battery has no effect, two low readings have")
    func wrongReading() {
        let reports = DriveReports()
        var monitor = SupplyMonitor(
            SupplyWiring(
                limits: SupplyWatch.Limits(low: 10, empty: 9), nominal: 11.1, isBattery: true),
            reports: reports)
        Self.run(&monitor, reports, battery: 11.5, 0..<2000)
        for tick in 2000..<4000 {
            let battery = tick < 2200 ? 5 : 11.5
            Self.run(&monitor, reports, battery: battery, tick..<tick + 1)
            #expect(monitor.watch.conditions == .none)
            #expect(abs(reports.supply.voltage - 11.5) < 0.01)
        }
        Self.run(&monitor, reports, battery: 5, 4000..<4600)
        #expect(monitor.watch.conditions.intersects(.supplyEmpty))
    }

    @Test("without a battery the voltage is the lowest that any motor reports")
    func motors() {
        let reports = DriveReports()
        var monitor = SupplyMonitor(SupplyWiring(), reports: reports)
        for (axis, voltage) in zip(GimbalAxis.allCases, [12.0, 11.5, 11.8]) {
            var news = DriveReading(axis: axis)
            news.voltage = voltage
            reports[axis].note(news)
            reports[axis].note(isSilent: false)
        }
        Self.run(&monitor, reports, battery: 9, 0..<1000)
        #expect(abs(reports.supply.voltage - 11.5) < 1e-3 && reports.supply.factor == 1)
    }

    @Test("motors on a PCA9685 get larger duty cycles at a lower supply voltage")
    func phases() {
        let supply = SupplyReport()
        let motor = PhaseMotor(polePairs: 7, peakTorque: 0.2)
        for hasEncoders in [true, false] {
            let phases = PCA9685Phases(
                outputs: PCA9685Outputs(
                    bus: I2CBus(path: "/dev/null"), address: 0x40, channels: Array(0..<9),
                    chip: PCA9685(frameRate: 1000, oscillator: 25e6)),
                motors: PhaseMotors(yaw: motor, roll: motor, pitch: motor),
                hasEncoders: hasEncoders, supply: supply)
            /// Largest voltage between two terminals, as a fraction of the supply voltage.
            func strength(_ output: MotorOutput) -> Double {
                let duties = phases.duties(motor, output, .pitch)
                return max(duties.a, duties.b, duties.c) - min(duties.a, duties.b, duties.c)
            }
            let output = MotorOutput(
                enabled: true, torque: AxisVector(repeating: 0.1),
                power: AxisVector(repeating: hasEncoders ? 1 : 0.5))
            supply.note(voltage: 11.1, factor: 1)
            let nominal = strength(output)
            supply.note(voltage: 9.25, factor: 1.2)
            #expect(abs(strength(output) / nominal - 1.2) < 1e-9)
            supply.note(voltage: 5, factor: 1.5)
            var full = output
            full.torque = AxisVector(repeating: 0.2)
            full.power = AxisVector(repeating: 1)
            #expect(strength(full) <= 1, "at most the whole supply voltage")
        }
    }
}
