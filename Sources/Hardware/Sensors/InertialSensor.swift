internal import GimbalCore
internal import Realtime

/// The camera's inertial sensor, for the bus thread.
protocol CameraSensor: AnyObject {
    /// Executes one period: reads new samples, or continues the set-up.
    ///
    /// - Parameters:
    ///   - samples: Array to which the new samples are appended, in the sensor's own axes.
    ///   - time: Best known time of the sample, for a sensor whose samples have no time stamp.
    ///   - now: Time of the call.
    /// - Throws: The error of the failed transfer.
    func read(into samples: inout SampleBatch, time: Instant, now: Instant) throws(BusError)

    /// True if the settings name a magnetometer, or a chip with a magnetometer, which must deliver
    /// measurements.
    var expectsMagneticField: Bool { get }

    /// Searches for a missing part without which the sensor works, such as a magnetometer. A search
    /// takes several milliseconds. Therefore the bus thread calls the method only while the motors
    /// are off, once per period.
    func findMissingParts(now: Instant)
}

extension CameraSensor {
    var expectsMagneticField: Bool { false }
    func findMissingParts(now: Instant) {}
}

/// Inertial sensor on its bus. The driver sets the sensor up step by step, while the bus thread
/// continues to service the motors. After the set-up, the driver reads and monitors the sensor in
/// every period. The driver sets the sensor up again if the sensor has lost its configuration, does
/// not answer, or does not measure. After the creation of an `InertialSensor`, only the bus thread
/// uses it, and its methods allocate no memory.
///
/// Measurements from before a set-up of the sensor are ignored. The self-test is part of each set-up
/// until a set-up has succeeded. Later set-ups omit it, because it fails while a person carries the
/// camera.
final class InertialSensor: CameraSensor {
    private let link: any ChipLink
    private var chip: any IMUChip
    private let report: SensorReport
    private let expected: [(read: RegisterRead, mask: UInt8, value: UInt8)]
    private var setUp: SetUpRun
    /// Set-up without the self-test, which replaces `setUp` after a successful set-up.
    private var laterSetUp: SetUpRun
    private var hasBeenUp = false
    /// True if the sensor delivers samples.
    private(set) var isUp = false
    /// True if the sensor works without its magnetometer, which did not answer during the set-up.
    private var lacksMagnetometer = false
    private var notBefore = Instant(nanoseconds: .min / 2)
    private var lastAudit = Instant(nanoseconds: .min / 2)
    private var lastSample = Instant(nanoseconds: .min / 2)
    /// True if the FIFO must be emptied: a read of its data has failed, or the writes that empty it
    /// have not all succeeded yet.
    private var isEmptying = false
    /// True if the FIFO was full, and has delivered no sample since then.
    private var hasOverflowed = false
    /// Indices in `expected`, one for each part of the chip; a reset changes the values of these
    /// registers. Every second check of the configuration reads a register whose value a reset
    /// changes.
    private let telling: [Int]
    private var audits = 0
    private var failures = 0
    /// Time of the last failed burst or set-up; nil without a failure. Measurements before this
    /// time are ignored.
    private var failed: Instant?
    /// The chip's FIFO, and the clock of its samples; nil if the FIFO is not used.
    private let buffer: SampleBuffer?
    private var clock: SampleClock
    private let wallClock: @Sendable () -> Instant

    /// Pause after a failed set-up of the sensor, s.
    private static let retrySeconds = 0.2
    /// Shortest interval between two reads of a configuration register, s. At loop rates of 200 Hz
    /// and above, the driver reads one configuration register every 4 or 5 ms, so that it detects a
    /// reset within 20 ms.
    private static let auditSeconds = 0.0035
    /// Number of consecutive failed bursts after which the chip is set up again.
    private static let patience = 3
    /// Time without a measurement after which a sensor that answers is set up again, s.
    private static let stallSeconds = 0.1

    /// Creates a sensor.
    ///
    /// - Parameters:
    ///   - chip: Description of the chip.
    ///   - link: Link to the sensor.
    ///   - report: Report of the sensor's state, for other threads.
    ///   - usesBuffer: True if the samples are read from the chip's FIFO, each with its own time.
    ///   - wallClock: Clock that measures the duration of a transfer.
    init(
        chip: any IMUChip, link: any ChipLink, report: SensorReport, usesBuffer: Bool = false,
        wallClock: @escaping @Sendable () -> Instant = { MonotonicClock.now }
    ) {
        self.wallClock = wallClock
        buffer = usesBuffer ? chip.buffer : nil
        clock = SampleClock(period: chip.buffer?.period ?? 1e-3)
        self.chip = chip
        self.link = link
        self.report = report
        expected = chip.audit
        telling = Set(expected.map(\.read.part)).sorted().compactMap { part in
            chip.audit.firstIndex { $0.read.part == part }
        }
        setUp = SetUpRun(chip.setUp + (buffer?.start ?? []))
        var tested = chip
        tested.testsItself = false
        laterSetUp = SetUpRun(tested.setUp + (buffer?.start ?? []))
        link.prepare(chip.burst)
    }

    var expectsMagneticField: Bool { chip.hasMagnetometer }

    /// Executes one period: reads new samples, or continues the set-up.
    ///
    /// - Parameters:
    ///   - samples: Array to which the new samples are appended, in the chip's own axes.
    ///   - time: Best estimate of the time at which the sensor measured the sample.
    ///   - now: Time of the call.
    /// - Throws: The error of the failed transfer. The caller can repeat the transfer immediately;
    ///   otherwise the next period repeats it.
    func read(
        into samples: inout SampleBatch, time: Instant, now: Instant
    ) throws(BusError) {
        guard isUp else { return try bringUp(now: now) }
        do {
            let isSilent =
                if let buffer {
                    try !readBuffer(buffer, into: &samples, now: now)
                } else {
                    try !readBurst(into: &samples, time: time, now: now)
                }
            failed = nil
            // A missing chip, or a chip that has just been reset, returns no data. A read of the
            // chip's configuration reveals if the chip is missing or has been reset.
            if isSilent { try compare(0, now: now) }
            guard isUp else { return }
            guard now.seconds(since: lastSample) <= Self.stallSeconds else {
                report.stalled()
                return restart(now: now, after: 0)
            }
            if now.seconds(since: lastAudit) > Self.auditSeconds { try audit(now: now) }
        } catch {
            report.transferFailed()
            failed = now
            failures += 1
            if failures >= Self.patience {
                report.stoppedAnswering()
                restart(now: now, after: 0)
            }
            throw BusError(
                operation: .read, device: link.device, address: link.place(of: 0),
                code: error.code)
        }
    }

    /// Reads the newest sample of the sensor.
    ///
    /// - Returns: True if the chip answers.
    private func readBurst(
        into samples: inout SampleBatch, time: Instant, now: Instant
    ) throws(BusErrno) -> Bool {
        let bytes = try link.burst()
        failures = 0
        if isBlank(bytes) { return false }
        if var sample = chip.sample(bytes, now: time) {
            if lacksMagnetometer { sample.contents.remove(.magneticField) }
            // A failed burst can be repeated in the same period. If the bursts before and after a
            // failure are in different periods, the burst after the failure adds no sample.
            if failed == nil || failed == now { samples.append(sample) }
            lastSample = now
        }
        return true
    }

    /// Reads every sample in the FIFO, oldest first. An empty FIFO does not prove that the chip
    /// answers, because the FIFO of a faulty chip can stay empty permanently.
    ///
    /// - Returns: True if the chip answers.
    private func readBuffer(
        _ buffer: SampleBuffer, into samples: inout SampleBatch, now: Instant
    ) throws(BusErrno) -> Bool {
        if isEmptying || failed != nil && failed != now { return try empty(buffer) }
        let began = wallClock()
        let word = try link.read(buffer.level, count: 2, part: 0)
        let level = Int(word & 0xFF) << 8 | Int(word >> 8 & 0xFF)
        // The read cache of an ICM-42688-P can hold two more packets (data sheet, section 6.3).
        guard level <= buffer.capacity + 2 * buffer.packet else { return false }
        if level > buffer.capacity - buffer.packet {
            report.bufferOverflowed()
            // The thread was blocked, so the age of the last sample does not prove a stall. A FIFO
            // that is full again without a sample was not emptied.
            if !hasOverflowed { lastSample = now }
            hasOverflowed = true
            return try empty(buffer)
        }
        let available = level / buffer.packet
        let taken = min(
            available, SampleBatch.capacity - samples.count, ChipLinkLimits.stream / buffer.packet)
        guard taken > 0 else {
            failures = 0
            return true
        }
        let took = wallClock().seconds(since: began)
        // A read that fails has possibly removed a part of a packet. Without emptying, every later
        // packet would then be shifted.
        isEmptying = true
        let bytes = try link.stream(buffer.data, count: taken * buffer.packet)
        isEmptying = false
        failures = 0
        clock.note(available: available, before: now, after: now.advanced(bySeconds: took))
        report.note(clockErrorPPM: clock.errorPPM)
        for index in 0..<taken {
            let packet = UnsafeRawBufferPointer(
                rebasing: bytes[index * buffer.packet..<(index + 1) * buffer.packet])
            if let sample = chip.sample(packet: packet, time: clock.next()) {
                samples.append(sample)
                lastSample = now
                hasOverflowed = false
            }
        }
        return true
    }

    /// Discards the content of the FIFO, because the age of the samples is unknown.
    private func empty(_ buffer: SampleBuffer) throws(BusErrno) -> Bool {
        isEmptying = true
        for write in buffer.empty { try link.write(write.value, to: write.register, part: 0) }
        isEmptying = false
        clock.restart()
        return true
    }

    /// True if all bytes of a burst are 0x00, or if all bytes are 0xFF.
    private func isBlank(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let first = bytes[0]
        guard first == 0 || first == 0xFF else { return false }
        for index in 1..<bytes.count where bytes[index] != first { return false }
        return true
    }

    private func bringUp(now: Instant) throws(BusError) {
        guard now >= notBefore else { return }
        do {
            guard let kept = try advance(now: now) else { return }
            chip.take(kept: kept)
            isUp = true
            hasBeenUp = true
            (isEmptying, hasOverflowed) = (false, false)
            lastSample = now
            failed = now
            clock.restart()
            report.isUp()
        } catch {
            switch error {
            case .chip(let words):
                report.failed(words)
                restart(now: now, after: Self.retrySeconds)
            case .bus(let error, let part):
                report.transferFailed()
                failures += 1
                if failures >= Self.patience { restart(now: now, after: Self.retrySeconds) }
                throw BusError(
                    operation: .read, device: link.device, address: link.place(of: part),
                    code: error.code)
            }
        }
    }

    /// Executes the steps of the set-up that are due in this period.
    ///
    /// - Returns: The register values that the set-up has stored; nil until its last step.
    private func advance(now: Instant) throws(SetUpFailure) -> StoredRegisters? {
        if hasBeenUp {
            try laterSetUp.advance(link, now: now)
        } else {
            try setUp.advance(link, now: now)
        }
        lacksMagnetometer = hasBeenUp ? laterSetUp.hasOmittedPart : setUp.hasOmittedPart
        failures = 0
        guard hasBeenUp else { return setUp.isDone ? setUp.kept : nil }
        return laterSetUp.isDone ? laterSetUp.kept : nil
    }

    /// Reads one register. Every second call reads a configuration register that reveals a reset of
    /// the chip. The other calls read all configuration registers in turn, and then the
    /// temperature.
    private func audit(now: Instant) throws(BusErrno) {
        let turn = audits / 2
        let isForReset = audits % 2 == 0
        audits &+= 1
        if isForReset { return try compare(telling[turn % telling.count], now: now) }
        let index = turn % (expected.count + 1)
        if index < expected.count { return try compare(index, now: now) }
        lastAudit = now
        guard let seldom = chip.seldom else { return }
        chip.take(seldom: try link.read(seldom.register, count: seldom.count, part: seldom.part))
    }

    /// Reads one register. If the register's value differs from the expected value in two readings,
    /// the chip is set up again. The buses have no checksum, and a set-up interrupts the samples for
    /// longer than `imu.timeout_ms`: one damaged byte must not switch the motors off.
    private func compare(_ index: Int, now: Instant) throws(BusErrno) {
        lastAudit = now
        let (read, mask, value) = expected[index]
        for _ in 0..<2 {
            let found = try link.read(read.register, count: 1, part: read.part)
            if UInt8(truncatingIfNeeded: found) & mask == value { return }
        }
        report.lostConfiguration()
        restart(now: now, after: 0)
    }

    private func restart(now: Instant, after seconds: Double) {
        isUp = false
        failures = 0
        if hasBeenUp { laterSetUp.restart() } else { setUp.restart() }
        notBefore = now.advanced(bySeconds: seconds)
    }
}
