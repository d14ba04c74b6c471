import Configuration
import GimbalCore
import Glibc
import Hardware
import Logging
import Realtime
import Synchronization
import Testing
import Wire

@testable import Daemon
@testable import Links

@Suite("Battery in status, log, MAVLink and Bluetooth")
struct BatteryMonitorTests {
    private func at(_ seconds: Double) -> Instant {
        Instant(nanoseconds: 0).advanced(bySeconds: seconds)
    }

    private func write(_ text: String, _ path: String) {
        let file = fopen(path, "w")
        fputs(text + "\n", file)
        if let file { fclose(file) }
    }

    private let supply = SupplyReport()

    /// A monitor of a simulated fuel gauge, and the directory of its files.
    private func makeMonitor() -> (BatteryMonitor, String) {
        var path = Array("/tmp/airframe-battery-XXXXXX".utf8CString)
        _ = mkdtemp(&path)
        let root = String(decoding: path.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let gauge = root + "/gauge"
        mkdir(gauge, 0o755)
        for (name, text) in [
            "type": "Battery", "status": "Discharging", "capacity": "80", "voltage_now": "7600000",
            "current_now": "-500000", "temp": "251",
        ] { write(text, "\(gauge)/\(name)") }
        var roots = BatteryReader.Roots()
        roots.powerSupply = root
        var settings = Settings().battery
        settings.source = .powerSupply
        let monitor = BatteryMonitor(
            settings: { [settings] in settings }, roots: roots, supply: supply)
        return (monitor, gauge)
    }

    @Test("the status contains the battery's values, and the log gets one line per change of state")
    func changes() throws {
        let (monitor, gauge) = makeMonitor()
        #expect(monitor.status(now: at(0))?.problem == "the battery has not been read yet")
        #expect(monitor.look(now: at(1)) == nil)
        let status = try #require(monitor.status(now: at(2)))
        #expect(status.summary == "gauge discharging, 80 %, 7.60 V, 0.50 A, 25 °C")
        #expect(!status.isLow && status.check.level == .ok)
        var motors = Settings()
        motors.hardware.backend = .linux
        motors.supply.source = .battery
        #expect(supply.status(motors)?.summary == "voltage unknown (battery)")
        write("19", "\(gauge)/capacity")
        let low = try #require(monitor.look(now: at(3)))
        #expect(low.level == .warning && low.sentence.contains("19 %"))
        #expect(monitor.look(now: at(5)) == nil, "said once")
        #expect(monitor.status(now: at(5))?.check.level == .warn)
        write("24", "\(gauge)/capacity")
        #expect(monitor.look(now: at(5.2)) == nil, "still low: the charge varies with the load")
        write("25", "\(gauge)/capacity")
        #expect(monitor.look(now: at(5.4))?.level == .notice)
        write("19", "\(gauge)/capacity")
        #expect(monitor.look(now: at(5.6))?.level == .warning)
        write("0", "\(gauge)/present")
        #expect(monitor.look(now: at(7))?.sentence.contains("is not present") == true)
        #expect(monitor.look(now: at(9)) == nil)
        write("1", "\(gauge)/present")
        write("80", "\(gauge)/capacity")
        #expect(monitor.look(now: at(11))?.level == .notice)
        #expect(monitor.status(now: at(22))?.problem == "the battery's driver does not answer")
        for name in ["type", "status", "capacity", "voltage_now", "current_now", "temp", "present"]
        {
            unlink("\(gauge)/\(name)")
        }
        rmdir(gauge)
        rmdir(String(gauge.dropLast("/gauge".count)))
    }

    @Test("a gauge with a loose contact is logged at growing intervals, and finally with its state")
    func looseContact() {
        let charge = Mutex<Double?>(80)
        var settings = Settings().battery
        settings.source = .drive
        let monitor = BatteryMonitor(
            settings: { [settings] in settings }, robot: { charge.withLock(\.self) })
        var said: [String] = []
        // Fails at each second reading for an hour; then it works.
        for number in 0..<3600 {
            charge.withLock { $0 = number < 1800 && number % 2 == 1 ? nil : 80 }
            if let event = monitor.look(now: at(Double(2 * number))) {
                said.append(event.sentence)
            }
        }
        #expect(said.count < 20, "\(said.count)")
        #expect(said.contains { $0.contains(" more times in ") })
        #expect(said.last?.contains("80 %") == true, "\(said.last ?? "none")")
    }

    @Test(
        "a robot's board can report its battery after the start without a warning; a board that does not is reported",
        arguments: [true, false])
    func robot(answers: Bool) {
        let percent = Mutex<Double?>(nil)
        var settings = Settings().battery
        settings.source = .drive
        let monitor = BatteryMonitor(
            settings: { [settings] in settings }, robot: { percent.withLock(\.self) })
        #expect(monitor.look(now: at(0)) == nil)
        #expect(monitor.status(now: at(1))?.problem == "the battery has not been read yet")
        if answers { percent.withLock { $0 = 80 } }
        let level: Logger.Level? = answers ? nil : .warning
        let charge: Double? = answers ? 80 : nil
        #expect(monitor.look(now: at(2))?.level == level)
        let status = monitor.status(now: at(2))
        #expect(status?.percent.known == charge && (status?.problem == nil) == answers)
        // The owner of an XGO robot has already set drive.board.
        #expect(answers || status?.remedy?.contains("Check the robot's switch") == true)
        percent.withLock { $0 = nil }
        let isSaid = monitor.look(now: at(4)) != nil
        #expect(isSaid == answers, "said once")
    }

    @Test("without a configured battery, status contains no battery")
    func none() {
        let monitor = BatteryMonitor { Settings().battery }
        #expect(monitor.look(now: at(1)) == nil && monitor.status(now: at(1)) == nil)
    }

    private func status(percent: Double, state: String = "discharging") -> BatteryStatus {
        var status = BatteryStatus()
        status.state = state
        status.percent = Number(percent)
        status.isLow = percent < 20
        return status
    }

    @Test("BATTERY_STATUS has MAVLink's units, and MAVLink's codes for unknown values")
    func mavlink() {
        var status = status(percent: 80.4)
        status.voltageV = 7.6
        status.currentA = 0.5
        status.temperatureC = 25.1
        status.timeLeftS = 5400
        let message = BatteryReport(status, lowPercent: 20, id: 154)
        #expect(message.id == 154 && message.function == 4)
        #expect(message.voltages[0] == 7600 && message.voltages[1] == .max)
        #expect(message.current == 50 && message.temperature == 2510)
        #expect(message.remaining == 80 && message.timeRemaining == 5400)
        #expect(message.chargeState == 1 && message.consumedCharge == -1)
        status.currentA = -0.01
        #expect(BatteryReport(status, lowPercent: 20, id: 154).current == -2, "-1 means unknown")
        status.currentA = -0.5
        #expect(BatteryReport(status, lowPercent: 20, id: 154).current == -50)
        let empty = BatteryReport(BatteryStatus(), lowPercent: 20, id: 154)
        #expect(empty.voltages[0] == .max && empty.current == -1 && empty.temperature == .max)
        #expect(empty.remaining == -1 && empty.chargeState == 0 && empty.timeRemaining == 0)
        #expect(BatteryReport(self.status(percent: 19), lowPercent: 20, id: 154).chargeState == 2)
        #expect(BatteryReport(self.status(percent: 9), lowPercent: 20, id: 154).chargeState == 3)
        let charging = self.status(percent: 9, state: "charging")
        #expect(BatteryReport(charging, lowPercent: 20, id: 154).chargeState == 7)
        // 100 V needs two 16-bit cells.
        status.voltageV = 100
        let high = BatteryReport(status, lowPercent: 20, id: 154)
        #expect(high.voltages[0] == 65534 && high.voltages[1] == 34466 && high.voltages[2] == .max)
    }

    private final class Phone: GATTNotifier {
        var values: [[UInt8]] = []
        func notify(_ characteristic: GATTUUID, _ value: [UInt8]) { values.append(value) }
    }

    @Test("a phone can read the charge, and receives notifications of changes")
    func bluetooth() throws {
        let percent = Mutex<Double?>(nil)
        let service = BatteryLevelService {
            var status = BatteryStatus()
            status.percent = Number(percent.withLock(\.self) ?? .nan)
            return status
        }
        let central = Central(address: "C0:1A:B0:00:00:02", connection: 1)
        let level = BatteryLevelService.level
        #expect(throws: ATTError.noValue) {
            try service.read(level, by: central, now: at(0))
        }
        percent.withLock { $0 = 80.6 }
        #expect(try service.read(level, by: central, now: at(0)) == [81])
        let phone = Phone()
        #expect(service.advance(now: at(0), mtu: 23, phone) == nil, "no subscriber")
        service.subscription(level, isOn: true, now: at(1))
        #expect(service.advance(now: at(1), mtu: 23, phone) == at(3))
        #expect(service.advance(now: at(3), mtu: 23, phone) == at(5))
        percent.withLock { $0 = 79 }
        _ = service.advance(now: at(5), mtu: 23, phone)
        #expect(phone.values == [[81], [79]])
        #expect(throws: ATTError.notSupported) {
            try service.write(level, [1], by: central, now: at(6), phone)
        }
        service.subscription(level, isOn: false, now: at(7))
        #expect(service.advance(now: at(8), mtu: 23, phone) == nil)
    }
}
