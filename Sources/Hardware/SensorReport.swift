import Synchronization

/// State of a sensor, which the bus thread writes and other threads read. Each value is one machine
/// word, so no thread waits for another thread.
public final class SensorReport: Sendable {
    private let resets = Atomic(UInt64(0))
    private let outageCount = Atomic(UInt64(0))
    private let stallCount = Atomic(UInt64(0))
    private let failedTransferCount = Atomic(UInt64(0))
    private let missedEdgeCount = Atomic(UInt64(0))
    private let lateEdgeCount = Atomic(UInt64(0))
    private let overflowCount = Atomic(UInt64(0))
    private let wrongTimeCount = Atomic(UInt64(0))
    private let clockError = Atomic(Double.nan.bitPattern)
    private let ignored = Atomic(UInt(0))
    private let running = Atomic(false)
    /// Address of the text about the last failure; 0 if no failure has occurred. The text is a
    /// static NUL-terminated string, so its address is sufficient.
    private let failure = Atomic(UInt(0))

    /// Creates the report of a sensor before its set-up.
    public init() {}

    /// True if the sensor is set up and answers.
    public var isRunning: Bool { running.load(ordering: .relaxed) }

    /// Number of times that the sensor lost its configuration during operation.
    public var lostConfigurations: UInt64 { resets.load(ordering: .relaxed) }

    /// Number of times that the sensor stopped answering.
    public var outages: UInt64 { outageCount.load(ordering: .relaxed) }

    /// Number of times that the sensor answered, but delivered no new measurement.
    public var stalls: UInt64 { stallCount.load(ordering: .relaxed) }

    /// Number of failed transfers to the sensor.
    public var failedTransfers: UInt64 { failedTransferCount.load(ordering: .relaxed) }

    /// Number of edges of the data-ready line that were missed.
    public var missedEdges: UInt64 { missedEdgeCount.load(ordering: .relaxed) }

    /// Number of periods without an edge of the data-ready line while the sensor was set up, also
    /// because the line cannot be requested.
    public var lateEdges: UInt64 { lateEdgeCount.load(ordering: .relaxed) }

    /// Number of times that the sensor's FIFO was full, and samples were lost.
    public var bufferOverflows: UInt64 { overflowCount.load(ordering: .relaxed) }

    /// Number of samples whose time is not plausible on the monotonic clock.
    public var wrongTimes: UInt64 { wrongTimeCount.load(ordering: .relaxed) }

    /// Relative error of the sensor's clock, parts per million. The error is positive for a slow
    /// clock, and NaN if the error has not been measured.
    public var clockErrorPPM: Double { Double(bitPattern: clockError.load(ordering: .relaxed)) }

    /// Reason why the last set-up of the sensor failed, such as "is not the gyroscope of a BMI088
    /// (chip id)"; nil after a successful set-up.
    public var lastFailure: String? {
        UnsafePointer<UInt8>(bitPattern: failure.load(ordering: .relaxed))
            .map { String(cString: $0) }
    }

    /// Keys of the settings that the sensor's driver in the kernel cannot use, so that they have no
    /// effect; empty before the first set-up, and for a chip without a driver in the kernel.
    public var ignoredSettings: [String] {
        IIOIgnored(rawValue: ignored.load(ordering: .relaxed)).keys
    }

    /// Every counter of the report with its name.
    public var counters: [String: Int] {
        [
            "lost_configuration": Int(lostConfigurations), "outage": Int(outages),
            "stall": Int(stalls), "failed_transfer": Int(failedTransfers),
            "missed_edge": Int(missedEdges), "late_edge": Int(lateEdges),
            "fifo_overflow": Int(bufferOverflows), "wrong_time": Int(wrongTimes),
        ]
    }

    // MARK: Bus thread

    func isUp() {
        failure.store(0, ordering: .relaxed)
        running.store(true, ordering: .relaxed)
    }

    func note(ignored settings: IIOIgnored) {
        ignored.store(settings.rawValue, ordering: .relaxed)
    }

    func lostConfiguration() { add(resets) }

    func stoppedAnswering() { add(outageCount) }

    func stalled() { add(stallCount) }

    func bufferOverflowed() { overflowCount.wrappingAdd(1, ordering: .relaxed) }

    func note(clockErrorPPM: Double) {
        clockError.store(clockErrorPPM.bitPattern, ordering: .relaxed)
    }

    func noteWrongTime() { wrongTimeCount.wrappingAdd(1, ordering: .relaxed) }

    func transferFailed() { failedTransferCount.wrappingAdd(1, ordering: .relaxed) }

    func missed(edges: UInt64) { missedEdgeCount.store(edges, ordering: .relaxed) }

    func edgeWasLate() { lateEdgeCount.wrappingAdd(1, ordering: .relaxed) }

    func failed(_ words: StaticString) {
        failure.store(UInt(bitPattern: words.utf8Start), ordering: .relaxed)
    }

    private func add(_ counter: borrowing Atomic<UInt64>) {
        counter.wrappingAdd(1, ordering: .relaxed)
        running.store(false, ordering: .relaxed)
    }
}
