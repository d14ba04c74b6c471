internal import GimbalCore
internal import Realtime

/// An inertial sensor and motors on one bus of the board. Bus thread only, after it was made.
///
/// The sensor is brought up step by step while the motors are served, and again whenever it has lost its configuration or
/// was away. Nothing that it said before counts as new.
/// `@unchecked Sendable`: handed over once to the bus thread, which alone calls it from then on.
final class LinuxBus: GimbalBus, @unchecked Sendable {
    private let link: any ChipLink
    private var chip: any IMUChip
    private let motors: (any MotorPort)?
    private let report: SensorReport
    private let expected: [(read: RegisterRead, mask: UInt8, value: UInt8)]
    private var setUp: SetUpRun
    private var isUp = false
    private var notBefore = Instant(nanoseconds: .min / 2)
    private var lastAudit = Instant(nanoseconds: .min / 2)
    private var nextAudit = 0
    private var failures = 0

    /// How long the sensor is left alone after its set-up has failed, s.
    private static let retrySeconds = 0.2
    /// One register of the configuration is read back this often, s.
    private static let auditSeconds = 0.02
    /// So many failed bursts in a row, and it is brought up afresh.
    private static let patience = 3

    /// - Parameters:
    ///   - chip: The sensor.
    ///   - link: How it is reached.
    ///   - motors: What is driven on the same bus; nil: nothing.
    ///   - report: Where other threads read how the sensor is.
    init(
        chip: any IMUChip, link: any ChipLink, motors: (any MotorPort)?, report: SensorReport
    ) {
        self.chip = chip
        self.link = link
        self.motors = motors
        self.report = report
        expected = chip.audit
        setUp = SetUpRun(chip.setUp)
        link.prepare(chip.burst)
    }

    func read(into samples: inout SampleBatch, now: Instant) throws(BusError) {
        guard isUp else { return try bringUp(now: now) }
        do {
            let bytes = try link.burst()
            failures = 0
            if let sample = chip.sample(bytes, now: now) { samples.append(sample) }
            try audit(now: now)
        } catch {
            failures += 1
            if failures >= Self.patience { restart(now: now, after: 0) }
            throw BusError(operation: .read, address: link.place(of: 0), code: error.code)
        }
    }

    private func bringUp(now: Instant) throws(BusError) {
        guard now >= notBefore else { return }
        do {
            try setUp.advance(link, now: now)
            guard setUp.isDone else { return }
            isUp = true
            failures = 0
            report.isUp()
        } catch {
            restart(now: now, after: Self.retrySeconds)
            switch error {
            case .chip(let words): report.failed(words)
            case .bus(let error, let part):
                throw BusError(operation: .read, address: link.place(of: part), code: error.code)
            }
        }
    }

    /// Reads one register of the configuration back, another one each time, and in turn with them the temperature.
    private func audit(now: Instant) throws(BusErrno) {
        guard now.seconds(since: lastAudit) > Self.auditSeconds else { return }
        lastAudit = now
        let index = nextAudit
        nextAudit = (nextAudit + 1) % (expected.count + 1)
        guard index < expected.count else {
            if let seldom = chip.seldom {
                chip.take(
                    seldom: try link.read(seldom.register, count: seldom.count, part: seldom.part))
            }
            return
        }
        let (read, mask, value) = expected[index]
        let found = try link.read(read.register, count: 1, part: read.part)
        guard UInt8(truncatingIfNeeded: found) & mask != value else { return }
        report.lostConfiguration()
        restart(now: now, after: 0)
    }

    private func restart(now: Instant, after seconds: Double) {
        isUp = false
        failures = 0
        setUp = SetUpRun(chip.setUp)
        notBefore = now.advanced(bySeconds: seconds)
    }

    func write(_ output: MotorOutput, now: Instant) throws(BusError) {
        guard let motors, try motors.prepare(now: now) else { return }
        try motors.write(output, now: now)
    }

    func allOff() throws(BusError) { try motors?.allOff() }
}
