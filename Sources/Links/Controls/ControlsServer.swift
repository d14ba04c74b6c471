import Configuration
public import GimbalCore
import Glibc
public import Logging
import Port
public import ServiceLifecycle
import Synchronization
import SystemPackage
import Threads
public import Wire

/// Link to buttons, sticks, dials and gamepads. The service runs on one ordinary thread,
/// airframed-ctrl. Devices can be connected and disconnected while the service runs.
public final class ControlsServer: Service {
    /// Size of the thread's stack, bytes. The stack is locked into memory.
    private static let stackSize = 256 * 1024
    /// Largest number of devices that are open at the same time.
    static let maximumDevices = 16
    /// Number of events that one read can return.
    private static let eventsPerRead = 64
    /// Intervals between two searches for devices, s: with and without change reports from the
    /// kernel.
    private static let searchSeconds = (reported: 10.0, unreported: 2.0)
    /// Time for which a device file can refuse to be opened before the refusal is reported, s. The
    /// file of a new device belongs to root until udev has set its permissions.
    private static let refusalSeconds = 2.0
    /// The thread's nice value (setpriority(2)), as for the diagnostics socket. A button press must
    /// reach the loop even if ordinary programs use all processors.
    private static let niceness: Int32 = -4
    /// Time before a due action, such as the end of a debounce time, s. During this time, the
    /// thread neither searches for devices nor updates the report: reading files and copying lists
    /// would delay the action.
    private static let quietSeconds = 0.05
    /// Interval between two updates of the report, s.
    private static let reportSeconds = 0.05

    private let port: any GimbalPort
    private let effects: ControlEffects
    private let directory: any InputDirectory
    private let logger: Logger
    private let clock: @Sendable () -> Instant
    private let thread: ServiceThread
    private let bell: WakeupPipe
    private let shared = Mutex(Shared())

    /// State that all threads share.
    private struct Shared {
        /// The newest report.
        var report = ControlsReport()
        /// Requested duration of the identification of a control, s, which the thread has not
        /// processed yet. 0 ends the identification; nil means that there is no request.
        var learning: Double?
    }

    /// Creates a server for the kernel's input devices, which are not opened yet.
    ///
    /// - Parameters:
    ///   - port: Port through which requests reach the gimbal.
    ///   - effects: Actions, other than motion requests, that controls can trigger.
    ///   - logger: Log for messages about devices and refusals.
    ///   - clock: The loop's clock, which must be CLOCK_MONOTONIC.
    /// - Throws: `Errno` if the process has no free descriptors.
    public convenience init(
        port: any GimbalPort, effects: ControlEffects, logger: Logger,
        clock: @escaping @Sendable () -> Instant = LinkClock.now
    ) throws {
        try self.init(
            port: port, effects: effects, directory: KernelInputs(), logger: logger, clock: clock)
    }

    init(
        port: any GimbalPort, effects: ControlEffects, directory: any InputDirectory,
        logger: Logger, clock: @escaping @Sendable () -> Instant
    ) throws {
        self.port = port
        self.effects = effects
        self.directory = directory
        self.logger = logger
        self.clock = clock
        bell = try WakeupPipe()
        thread = try ServiceThread(name: "airframed-ctrl", stackSize: Self.stackSize)
    }

    /// State of the controls, at most 0.05 s old while controls are used. Any thread can read the
    /// property.
    public var report: ControlsReport { shared.withLock { $0.report } }

    /// State for `status`: the devices and the counters; nil if no device is open.
    public var status: LinkStatus? {
        let report = report
        guard !report.devices.isEmpty else { return nil }
        var status = LinkStatus(name: "controls")
        status.peers = report.devices.map(\.name)
        status.counts = report.counts
        return status
    }

    /// Starts the identification of a control. For the given number of seconds, the server reports
    /// the controls that are used, but the controls have no effect; 0 ends the identification. Any
    /// thread can call this method.
    public func learn(seconds: Double) {
        shared.withLock {
            $0.learning = seconds
            $0.report.isLearning = seconds > 0
            $0.report.learned = nil
        }
        bell.ring()
    }

    /// Handles events until airframed shuts down.
    ///
    /// - Throws: `SocketError` if the thread cannot be started.
    public func run() async throws {
        try await thread.run { self.serve() }
    }

    /// State of the server's thread.
    private struct Round {
        var panel: ControlPanel
        var open: [(id: Int, node: String, descriptor: FileDescriptor, axes: Set<UInt16>)] = []
        /// Names of the devices that are not used or cannot be opened; the keys are the names of
        /// the device files.
        var unused: [String: String] = [:]
        var problems: [String: String] = [:]
        /// Times since which device files refuse to be opened.
        var refusals: [String: Instant] = [:]
        var nextNumber = 1
        var searchDue = Instant(nanoseconds: 0)
        var reportDue = Instant(nanoseconds: 0)
        var wanted = ""
        var mustSearch = true
        /// True if the report must be updated.
        var isNew = true
    }

    private func serve() {
        setpriority(Int32(PRIO_PROCESS.rawValue), 0, Self.niceness)
        var round = Round(panel: ControlPanel(port: port, effects: effects, logger: logger))
        let buffer = UnsafeMutableRawBufferPointer.allocate(
            byteCount: Self.eventsPerRead * InputEvent.size, alignment: 8)
        defer {
            buffer.deallocate()
            round.open.forEach { try? $0.descriptor.close() }
        }
        PollLoop(wake: thread.wake, clock: clock, logger: logger).run { set in
            let now = clock()
            prepare(&round, now: now)
            set.add(bell.descriptor)
            set.add(directory.changes)
            round.open.forEach { set.add($0.descriptor) }
            set.end(by: round.panel.due(now: now))
            // The iteration after a due action does the postponed work.
            if round.searchDue > now { set.end(by: round.searchDue) }
            if round.isNew, round.reportDue > now { set.end(by: round.reportDue) }
        } turn: { set in
            let now = clock()
            if set[1] != 0 {
                bell.silence()
                if let seconds = shared.withLock({ $0.learning.take() }) {
                    if seconds > 0 {
                        round.panel.learn(seconds: seconds, now: now)
                    } else {
                        round.panel.endLearning()
                    }
                }
            }
            if set[2] != 0 {
                drain(directory.changes, buffer)
                round.mustSearch = true
            }
            for (place, device) in round.open.enumerated() where set[place + 3] != 0 {
                read(device.id, device.descriptor, device.axes, buffer, &round, now: now)
            }
            round.panel.advance(now: clock())
            round.isNew = true
        }
    }

    // MARK: Devices

    private func prepare(_ round: inout Round, now: Instant) {
        let settings = port.settings.controls
        let wanted = settings.enabled ? settings.device : ""
        if wanted != round.wanted {
            round.wanted = wanted
            for device in round.open { drop(device.id, &round, now: now) }
            round.mustSearch = true
            round.isNew = true
        }
        let isActionNear =
            round.panel.due(now: now).map { $0.seconds(since: now) < Self.quietSeconds } ?? false
        if round.mustSearch || now >= round.searchDue && !isActionNear {
            search(&round, now: now)
            round.mustSearch = false
            let isReported = directory.changes != nil
            round.searchDue = now.advanced(
                bySeconds: isReported
                    ? Self.searchSeconds.reported : Self.searchSeconds.unreported)
            for refused in round.refusals.values {
                let due = refused.advanced(bySeconds: Self.refusalSeconds)
                if due > now, due < round.searchDue { round.searchDue = due }
            }
            round.isNew = true
        }
        // While a stick turns the camera, an action is always due soon; the report is updated
        // nevertheless.
        let isStick = round.panel.turning != .zero
        if round.isNew, now >= round.reportDue, !isActionNear || isStick {
            publish(&round)
            round.isNew = false
            round.reportDue = now.advanced(bySeconds: Self.reportSeconds)
        }
    }

    private func search(_ round: inout Round, now: Instant) {
        round.unused = [:]
        var problems: [String: String] = [:]
        var refusals: [String: Instant] = [:]
        defer { (round.problems, round.refusals) = (problems, refusals) }
        guard !round.wanted.isEmpty else { return }
        for node in directory.nodes() where !round.open.contains(where: { $0.node == node }) {
            guard let description = directory.description(of: node) else { continue }
            guard description.isUsed(round.wanted) else {
                round.unused[node] = description.name
                continue
            }
            guard round.open.count < Self.maximumDevices else {
                problems[node] = "More than \(Self.maximumDevices) input devices are present."
                continue
            }
            do throws(Errno) {
                let descriptor = try directory.open(node)
                guard let state = directory.state(descriptor, axes: description.axes) else {
                    try? descriptor.close()
                    continue
                }
                let number = round.nextNumber
                round.nextNumber += 1
                round.open.append((number, node, descriptor, description.axes))
                round.panel.connect(
                    number, ControlDevice(description, node: node, state: state, now: now))
            } catch {
                let since = round.refusals[node] ?? now
                refusals[node] = since
                guard now.seconds(since: since) >= Self.refusalSeconds else { continue }
                problems[node] = Self.problem(description.name, node, error)
                if round.problems[node] != problems[node], let problem = problems[node] {
                    logger.warning("\(problem)")
                }
            }
        }
    }

    private static func problem(_ name: String, _ node: String, _ error: Errno) -> String {
        let remedy =
            error == .permissionDenied || error == .notPermitted
            ? " Add the user that runs airframed to the group input, and restart airframed." : ""
        return "/dev/input/\(node) (\(name)) cannot be opened: \(error).\(remedy)"
    }

    private func drop(_ id: Int, _ round: inout Round, now: Instant) {
        guard let place = round.open.firstIndex(where: { $0.id == id }) else { return }
        try? round.open[place].descriptor.close()
        round.open.remove(at: place)
        round.panel.disconnect(id, now: now)
    }

    // MARK: Events

    private func read(
        _ id: Int, _ descriptor: FileDescriptor, _ axes: Set<UInt16>,
        _ buffer: UnsafeMutableRawBufferPointer, _ round: inout Round, now: Instant
    ) {
        let count: Int
        do {
            count = try descriptor.read(into: buffer)
        } catch Errno.wouldBlock, Errno.interrupted {
            return
        } catch {
            // ENODEV: the device was unplugged.
            return drop(id, &round, now: now)
        }
        guard count > 0 else { return drop(id, &round, now: now) }
        for start in stride(from: 0, through: count - InputEvent.size, by: InputEvent.size) {
            let event = InputEvent(
                UnsafeRawBufferPointer(rebasing: buffer[start..<start + InputEvent.size]))
            if round.panel.isDropping(id) {
                guard event.kind == .report else { continue }
                guard let state = directory.state(descriptor, axes: axes) else {
                    return drop(id, &round, now: now)
                }
                // The rest of the buffer is older than the state. Reading the state has also removed
                // key events from the kernel's queue, such as the release of a press in the buffer.
                return round.panel.resume(id, state, now: now)
            }
            round.panel.handle(event, from: id, now: now)
        }
    }

    private func drain(
        _ descriptor: FileDescriptor?, _ buffer: UnsafeMutableRawBufferPointer
    ) {
        while let count = try? descriptor?.read(into: buffer), count > 0 {}
    }

    // MARK: Report

    private func publish(_ round: inout Round) {
        let panel = round.panel
        var report = ControlsReport()
        report.isEnabled = !round.wanted.isEmpty
        report.problem = round.problems.sorted { $0.key < $1.key }.first?.value
        report.devices = panel.devices.sorted { $0.key < $1.key }.map { _, device in
            ControlsReport.Device(
                name: device.description.name, node: device.node,
                controls: Self.entries(of: device, panel, port.settings.controls))
        }
        report.unused = round.unused.values.sorted()
        report.events = panel.events
        let rates = panel.turning
        report.rateDps = [Number(rates.yaw), Number(rates.roll), Number(rates.pitch)]
        report.isLearning = panel.isLearning
        report.learned = panel.learned
        report.counts = [
            "granted": panel.counters.granted, "refused": panel.counters.refused,
            "glitches": panel.counters.glitches, "stuck": panel.counters.stuck,
            "dropped": panel.counters.dropped,
        ]
        shared.withLock { [report] shared in
            let earlier = shared.report
            shared.report = report
            // The report must keep an identification request that the thread has not processed yet.
            if shared.learning != nil {
                shared.report.isLearning = earlier.isLearning
                shared.report.learned = earlier.learned
            }
        }
    }

    private static func entries(
        of device: ControlDevice, _ panel: ControlPanel, _ settings: Settings.Controls
    ) -> [ControlsReport.Entry] {
        var seen: Set<Control> = []
        return settings.bindings.compactMap { binding in
            guard device.has(binding.control), seen.insert(binding.control).inserted else {
                return nil
            }
            var deflection: Number?
            if case .stick(let code) = binding.control, let stick = device.sticks[code],
                stick.centre != nil
            {
                deflection = Number(stick.deflection(deadZone: settings.deadZone))
            }
            return ControlsReport.Entry(
                control: "\(binding.control)", deflection: deflection,
                actions: panel.actions(of: binding.control))
        }
    }
}

extension ControlDevice {
    /// True if the device has the given control.
    fileprivate func has(_ control: Control) -> Bool {
        switch control {
        case .button(let code): description.keys.contains(code)
        case .end(let code, _), .stick(let code): description.axes.contains(code)
        case .dial(let code, _): description.dials.contains(code)
        }
    }
}
