import Configuration
import GimbalCore
import Logging
import Policy
import Realtime
import ServiceLifecycle
import SystemPackage
import Wire

/// Service that shows the state of the gimbal with a light, a buzzer and a vibration. Light and
/// buzzer are LED devices of the kernel; an input device, such as a gamepad, generates the
/// vibration. A separate thread writes to the devices, because a write to a light on an I2C bus is
/// slow.
struct SignalService: Service {
    /// Interval between two checks of the state, s.
    private static let period = 0.05

    let hub: TelemetryHub
    let battery: BatteryMonitor
    let settings: @Sendable () -> Settings.Signals
    let log: Logger

    func run() async throws {
        let (hub, battery, settings, log) = (hub, battery, settings, log)
        let bell = Doorbell()
        let thread = try RealtimeThread(ThreadTable.signals) {
            var signals = SignalWriter(log: log)
            repeat {
                let now = MonotonicClock.now
                let code = SignalCode(
                    hub.view?.record.snapshot,
                    isBatteryLow: battery.status(now: now)?.isLow ?? false)
                signals.show(code, settings(), now: now)
            } while bell.wait(until: MonotonicClock.now.advanced(bySeconds: Self.period)) != .rung
            signals.end()
        }
        try? await gracefulShutdown()
        bell.ring()
        if thread.join(until: MonotonicClock.now.advanced(bySeconds: 1)) { bell.deallocate() }
    }
}

/// Writer of the gimbal's state to the devices. Only one thread can use the writer; callers pass
/// the time as an argument.
struct SignalWriter {
    private var code = SignalCode.starting
    private var since: Instant?
    /// State whose sounds the buzzer plays. The state `ready` continues during a motion, because a
    /// tone after each motion would sound about once per second while the camera follows the handle.
    private var sounding = SignalCode.starting
    private var soundingSince: Instant?
    private var light: LEDDevice
    private var buzzer: LEDDevice
    private var feedback: FeedbackDevice

    /// Creates a writer.
    ///
    /// - Parameters:
    ///   - directory: Directory of the LED devices.
    ///   - feedback: The input device that repeats the buzzer's signals; nil for the kernel's devices.
    ///   - log: Log for devices that cannot be used.
    init(
        directory: FilePath = "/sys/class/leds", feedback: FeedbackDevice? = nil, log: Logger
    ) {
        self.feedback = feedback ?? FeedbackDevice(log: log)
        light = LEDDevice(directory: directory, log: log)
        buzzer = LEDDevice(directory: directory, log: log)
    }

    /// Shows the state. A device is written only if its state changes.
    mutating func show(_ code: SignalCode, _ settings: Settings.Signals, now: Instant) {
        if code != self.code || since == nil {
            self.code = code
            since = now
        }
        let heard: SignalCode = code == .moving && sounding == .ready ? .ready : code
        if heard != sounding || soundingSince == nil {
            sounding = heard
            soundingSince = now
        }
        light.set(
            code.isLit(at: since.map { now.seconds(since: $0) } ?? 0), name: settings.led, now: now)
        let isSounding = sounding.isSounding(
            at: soundingSince.map { now.seconds(since: $0) } ?? 0)
        buzzer.set(isSounding, name: settings.buzzer, now: now)
        feedback.set(isSounding, name: settings.feedbackDevice)
    }

    /// Switches all devices off.
    mutating func end() {
        light.turnOff()
        buzzer.turnOff()
        feedback.turnOff()
    }
}

/// A device of the kernel's LED class (Documentation/leds/leds-class.rst).
struct LEDDevice {
    private let directory: FilePath
    private let log: Logger
    private var name = "off"
    private var isOn: Bool?
    /// Time of the last failed write; nil after a success.
    private var failedAt: Instant?

    /// Pause after a failed write, s. The device can appear later, for example at the start of the
    /// computer.
    private static let pause = 1.0

    init(directory: FilePath, log: Logger) {
        self.directory = directory
        self.log = log
    }

    /// Switches the device on or off.
    ///
    /// - Parameters:
    ///   - isOn: True if the device must be on.
    ///   - name: Name of the device; `off` for none.
    ///   - now: Present time.
    mutating func set(_ isOn: Bool, name: String, now: Instant) {
        if name != self.name {
            turnOff()
            self.name = name
            failedAt = nil
        }
        guard name != "off", isOn != self.isOn,
            failedAt.map({ now.seconds(since: $0) >= Self.pause }) ?? true
        else { return }
        do {
            // The kernel can also use the LED, for example to show the processor's load.
            if self.isOn == nil { _ = try? write("none", to: "trigger") }
            try write(isOn ? brightest : "0", to: "brightness")
            self.isOn = isOn
            failedAt = nil
        } catch {
            defer { failedAt = now }
            guard failedAt == nil else { return }
            log.warning(
                "signals: \(path("brightness")) cannot be written: \(error). Check the name of the LED, and install the systemd drop-in signals.conf."
            )
        }
    }

    /// Switches the device off.
    mutating func turnOff() {
        if isOn == true { try? write("0", to: "brightness") }
        isOn = nil
    }

    /// The highest brightness of the device.
    private var brightest: String {
        let digits = firstLine(of: path("max_brightness").string)?.prefix { $0.isWholeNumber } ?? ""
        return digits.isEmpty ? "1" : String(digits)
    }

    private func path(_ file: String) -> FilePath {
        directory.appending(name).appending(file)
    }

    private func write(_ text: String, to file: String) throws {
        let file = try FileDescriptor.open(path(file), .writeOnly, options: .closeOnExec)
        try file.closeAfter { _ = try file.writeAll(text.utf8) }
    }
}
