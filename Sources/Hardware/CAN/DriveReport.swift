public import GimbalCore
import Synchronization

/// State of a drive, which the sensors' bus thread writes and other threads read. Each value is one
/// machine word, so no thread waits for another thread.
public final class DriveReport: Sendable {
    private let frames = Atomic(UInt64(0))
    private let silences = Atomic(UInt64(0))
    private let faults = Atomic(UInt64(0))
    private let silent = Atomic(true)
    private let idle = Atomic(false)
    private let running = Atomic(Running.unknown.rawValue)
    private let code = Atomic(UInt32(0))
    private let rateBits = Atomic(Double.nan.bitPattern)
    private let temperatureBits = Atomic(Double.nan.bitPattern)
    private let voltageBits = Atomic(Double.nan.bitPattern)
    private let answersTemperature = Atomic(false)
    private let causeBits = Atomic(UInt8(0))
    private let loadBits = Atomic(Double.nan.bitPattern)
    private let currentBits = Atomic(Double.nan.bitPattern)
    private let watchdogBits = Atomic(Double.nan.bitPattern)
    private let watchdogSwitch = Atomic(Running.unknown.rawValue)
    private let version = Atomic(UInt32(0))
    private let restartEnd = Atomic(Int64.min)

    private enum Running: UInt8 { case unknown, off, on }

    /// Creates the report of a drive that has sent nothing yet.
    public init() {}

    /// True if the drive has been silent for too long, or has never sent a frame.
    public var isSilent: Bool { silent.load(ordering: .relaxed) }

    /// True if the drive's power stage is still off 0.5 s after the request to switch it on.
    public var isDisobedient: Bool { idle.load(ordering: .relaxed) }

    /// True if the drive's power stage is on; nil if the drive does not report it.
    public var isRunning: Bool? { Self.value(running.load(ordering: .relaxed)) }

    private static func value(_ raw: UInt8) -> Bool? {
        switch Running(rawValue: raw) {
        case .on: true
        case .off: false
        case .unknown, nil: nil
        }
    }

    /// Fault code of the drive; 0 means that there is no fault.
    public var fault: UInt32 { code.load(ordering: .relaxed) }

    /// Number of valid frames that the drive has sent.
    public var frameCount: UInt64 { frames.load(ordering: .relaxed) }

    /// Number of times that the drive has become silent.
    public var silenceCount: UInt64 { silences.load(ordering: .relaxed) }

    /// Number of times that the drive has reported a fault.
    public var faultCount: UInt64 { faults.load(ordering: .relaxed) }

    /// Temperature of the motor or its driver, °C; NaN if it is unknown.
    public var temperature: Double {
        Double(bitPattern: temperatureBits.load(ordering: .relaxed))
    }

    /// Voltage of the drive's supply, V; NaN if it is unknown.
    public var voltage: Double { Double(bitPattern: voltageBits.load(ordering: .relaxed)) }

    /// Load of the motor, as a fraction of the largest load, -1...1; NaN if it is unknown.
    public var load: Double { Double(bitPattern: loadBits.load(ordering: .relaxed)) }

    /// Current of the motor, A; NaN if it is unknown.
    public var current: Double { Double(bitPattern: currentBits.load(ordering: .relaxed)) }

    /// Timeout of the watchdog that the drive has confirmed, s; NaN if it is unknown, or if the
    /// watchdog is switched off.
    public var watchdog: Double { state.isWatchdogOn == false ? .nan : state.watchdog }

    /// Version of the drive's firmware: major, minor and revision, each in one byte; 0 if it is
    /// unknown.
    public var firmware: UInt32 { version.load(ordering: .relaxed) }

    /// Causes of the fault in words, such as "overload"; empty if the protocol does not name them.
    public var faultWords: [String] {
        let words: [(DriveCauses, String)] = [
            (.overload, "overload"), (.overheated, "too hot"), (.voltage, "supply voltage"),
            (.encoder, "encoder"), (.other, "other"),
            (.angle, "angle outside the drive's own limits"),
        ]
        return fault == 0 ? [] : words.filter { causes.contains($0.0) }.map(\.1)
    }

    // MARK: Threads of the buses

    /// Causes of the fault that the protocol reports.
    var causes: DriveCauses { DriveCauses(rawValue: causeBits.load(ordering: .relaxed)) }

    /// The drive's state for its codec.
    var state: DriveState {
        DriveState(
            isRunning: isRunning, fault: fault,
            rate: Double(bitPattern: rateBits.load(ordering: .relaxed)),
            hasTemperature: answersTemperature.load(ordering: .relaxed),
            watchdog: Double(bitPattern: watchdogBits.load(ordering: .relaxed)),
            isWatchdogOn: Self.value(watchdogSwitch.load(ordering: .relaxed)), firmware: firmware)
    }

    func note(_ news: DriveReading) {
        frames.wrappingAdd(1, ordering: .relaxed)
        if let isRunning = news.isRunning {
            running.store((isRunning ? Running.on : .off).rawValue, ordering: .relaxed)
        }
        if let fault = news.fault {
            if fault != 0, code.load(ordering: .relaxed) == 0 {
                faults.wrappingAdd(1, ordering: .relaxed)
            }
            code.store(fault, ordering: .relaxed)
        }
        if let causes = news.causes { causeBits.store(causes.rawValue, ordering: .relaxed) }
        if let load = news.load { loadBits.store(load.bitPattern, ordering: .relaxed) }
        if let value = news.current { currentBits.store(value.bitPattern, ordering: .relaxed) }
        if let rate = news.rate { rateBits.store(rate.bitPattern, ordering: .relaxed) }
        if let value = news.temperature {
            temperatureBits.store(value.bitPattern, ordering: .relaxed)
        }
        if let value = news.voltage { voltageBits.store(value.bitPattern, ordering: .relaxed) }
        if let value = news.watchdog { watchdogBits.store(value.bitPattern, ordering: .relaxed) }
        if let value = news.isWatchdogOn {
            watchdogSwitch.store((value ? Running.on : .off).rawValue, ordering: .relaxed)
        }
        if let value = news.firmware { version.store(value, ordering: .relaxed) }
        if let value = news.hasTemperature { answersTemperature.store(value, ordering: .relaxed) }
    }

    /// Records the time until which the drive can be silent, because it restarts at airframed's
    /// request. If the drive has not sent its angle since an earlier restart, the earlier time
    /// stays valid.
    func noteRestart(until end: Instant) {
        guard restartEnd.load(ordering: .relaxed) == .min else { return }
        restartEnd.store(end.nanoseconds, ordering: .relaxed)
    }

    /// Records that the drive has sent its angle, so that it does not restart any more. Call the
    /// method after the angle has been published.
    func noteRestarted() { restartEnd.store(.min, ordering: .releasing) }

    /// True if the drive restarts at airframed's request, so that it need not answer.
    func isRestarting(now: Instant) -> Bool {
        now.nanoseconds < restartEnd.load(ordering: .acquiring)
    }

    func note(isSilent: Bool) {
        let wasSilent = silent.exchange(isSilent, ordering: .relaxed)
        guard isSilent, !wasSilent else { return }
        silences.wrappingAdd(1, ordering: .relaxed)
        // A silent drive can have lost its supply, so its measured values and the state of its power
        // stage and of its watchdog are unknown.
        temperatureBits.store(Double.nan.bitPattern, ordering: .relaxed)
        voltageBits.store(Double.nan.bitPattern, ordering: .relaxed)
        loadBits.store(Double.nan.bitPattern, ordering: .relaxed)
        currentBits.store(Double.nan.bitPattern, ordering: .relaxed)
        watchdogBits.store(Double.nan.bitPattern, ordering: .relaxed)
        watchdogSwitch.store(Running.unknown.rawValue, ordering: .relaxed)
        version.store(0, ordering: .relaxed)
        running.store(Running.unknown.rawValue, ordering: .relaxed)
        rateBits.store(Double.nan.bitPattern, ordering: .relaxed)
    }

    func note(isDisobedient: Bool) { idle.store(isDisobedient, ordering: .relaxed) }
}

/// States of the three drives, of their bus, and of the motors' supply.
public final class DriveReports: Sendable {
    private let yaw = DriveReport()
    private let roll = DriveReport()
    private let pitch = DriveReport()
    private let wantedBits = Atomic(UInt8(0))
    private let sent = Atomic(UInt64(0))
    private let received = Atomic(UInt64(0))
    private let malformed = Atomic(UInt64(0))
    private let errorFrames = Atomic(UInt64(0))
    private let busOffs = Atomic(UInt64(0))
    private let isOff = Atomic(false)
    private let unguardedBits = Atomic(UInt8(0))
    private let lastErrorNumber = Atomic(Int32(0))
    private let latencyErrorNumber = Atomic(Int32(0))
    private let lastDamageTime = Atomic(Int64.min / 2)
    /// Voltage of the motors' supply.
    public let supply = SupplyReport()
    /// Motions of the joints, for motors on a serial line.
    let cell = JointCell()

    /// Creates reports of drives that have sent nothing yet.
    public init() {}

    /// Report of the drive at the given joint.
    public subscript(axis: GimbalAxis) -> DriveReport {
        switch axis {
        case .yaw: yaw
        case .roll: roll
        case .pitch: pitch
        }
    }

    /// Joints whose drives have been silent for too long.
    public var silent: AxisSet {
        AxisSet(yaw: yaw.isSilent, roll: roll.isSilent, pitch: pitch.isSilent)
    }

    /// True if no drive sends its angle.
    var areAllSilent: Bool { yaw.isSilent && roll.isSilent && pitch.isSilent }

    /// Joints whose drives report a fault, or remain off although their power stages were
    /// requested.
    public var faulty: AxisSet {
        AxisSet(
            yaw: yaw.fault != 0 || yaw.isDisobedient, roll: roll.fault != 0 || roll.isDisobedient,
            pitch: pitch.fault != 0 || pitch.isDisobedient)
    }

    /// Joints whose drives have not confirmed the watchdog that the codec sets.
    public var unguarded: [GimbalAxis] {
        let set = unguardedSet
        return GimbalAxis.allCases.filter { set.contains($0) }
    }

    /// Joints whose drives have not confirmed the watchdog that the codec sets.
    var unguardedSet: AxisSet { Self.axes(unguardedBits.load(ordering: .relaxed)) }

    private static func axes(_ bits: UInt8) -> AxisSet {
        AxisSet(yaw: bits & 1 != 0, roll: bits & 2 != 0, pitch: bits & 4 != 0)
    }

    /// Finds the drives that have not confirmed the watchdog that the codec sets.
    func noteGuards(of codec: any DriveCodec) {
        let set = AxisSet(
            yaw: !codec.isGuarded(yaw.state), roll: !codec.isGuarded(roll.state),
            pitch: !codec.isGuarded(pitch.state))
        unguardedBits.store(set.rawValue, ordering: .relaxed)
    }

    /// Number of frames sent to the drives.
    public var sentFrames: UInt64 { sent.load(ordering: .relaxed) }

    /// Number of frames received, apart from error reports.
    public var receivedFrames: UInt64 { received.load(ordering: .relaxed) }

    /// Number of received frames that could not be decoded.
    public var malformedFrames: UInt64 { malformed.load(ordering: .relaxed) }

    /// Number of error reports of the CAN controller. After the drives have started to answer, only
    /// later reports count.
    public var errorReports: UInt64 { errorFrames.load(ordering: .relaxed) }

    /// Number of times that the controller entered the bus-off state.
    public var busOffCount: UInt64 { busOffs.load(ordering: .relaxed) }

    /// True if the controller is in the bus-off state, or its network interface is down.
    public var isBusOff: Bool { isOff.load(ordering: .relaxed) }

    /// Errno of the last failure to receive; 0 if there was none.
    public var lastError: Int32 { lastErrorNumber.load(ordering: .relaxed) }

    /// Errno of a serial driver that refuses the low-latency mode; 0 if it did not refuse.
    public var latencyError: Int32 { latencyErrorNumber.load(ordering: .relaxed) }

    // MARK: Threads of the buses

    /// Joints whose power stages must be on, as the motors' thread has requested. A motor test
    /// switches only one position servo on.
    var wanted: AxisSet { Self.axes(wantedBits.load(ordering: .relaxed)) }

    var states: PerAxis<DriveState> {
        PerAxis(yaw: yaw.state, roll: roll.state, pitch: pitch.state)
    }

    func note(wanted: AxisSet) { wantedBits.store(wanted.rawValue, ordering: .relaxed) }

    func noteSent() { sent.wrappingAdd(1, ordering: .relaxed) }

    func noteReceived() { received.wrappingAdd(1, ordering: .relaxed) }

    func noteMalformed() { malformed.wrappingAdd(1, ordering: .relaxed) }

    func noteErrorReport() { errorFrames.wrappingAdd(1, ordering: .relaxed) }

    func forgetErrorReports() { errorFrames.store(0, ordering: .relaxed) }

    /// Records an exchange with damaged bytes on a serial line.
    func noteDamage(now: Instant) {
        noteMalformed()
        lastDamageTime.store(now.nanoseconds, ordering: .relaxed)
    }

    /// Time of the last damaged bytes on a serial line.
    var lastDamage: Instant { Instant(nanoseconds: lastDamageTime.load(ordering: .relaxed)) }

    func note(isBusOff: Bool) {
        let wasOff = isOff.exchange(isBusOff, ordering: .relaxed)
        if isBusOff, !wasOff { busOffs.wrappingAdd(1, ordering: .relaxed) }
    }

    func note(error: Int32) { lastErrorNumber.store(error, ordering: .relaxed) }

    func note(latencyError: Int32) {
        latencyErrorNumber.store(latencyError, ordering: .relaxed)
    }
}
