internal import GimbalCore

/// Command to the three drives of one bus for one period. Torques and rates are positive in the
/// drives' directions, not in the joints' directions.
struct DriveCommand: Sendable {
    /// Joints whose power stages are switched on while `isEnabled` is true.
    var powered = AxisSet(yaw: true, roll: true, pitch: true)
    /// Angle of each position servo relative to the zero of its encoder, rad.
    var angle = AxisVector.zero
    /// True if the drives' power stages are on; if false, the torques are ignored.
    var isEnabled: Bool
    /// Torque of each drive, N·m.
    var torque: AxisVector
    /// Newest state of each drive.
    var states: PerAxis<DriveState>
    /// Time of the command.
    var now: Instant
    /// Scale factor for the voltages of drives whose output is a fraction of their supply voltage,
    /// 0.5...1.5.
    var supplyFactor = 1.0

    /// Creates a command of torques.
    init(
        isEnabled: Bool, torque: AxisVector, states: PerAxis<DriveState>, now: Instant
    ) {
        self.isEnabled = isEnabled
        self.torque = torque
        self.states = states
        self.now = now
    }

    /// True if the power stage of the joint is on.
    func isOn(_ axis: GimbalAxis) -> Bool { isEnabled && powered.contains(axis) }
}

/// State of a drive, which its codec needs to compose commands.
struct DriveState: Sendable, BitwiseCopyable, Equatable {
    /// True if the power stage is on; nil if the drive does not report it.
    var isRunning: Bool?
    /// Fault code of the drive; 0 means that there is no fault.
    var fault: UInt32 = 0
    /// Rate of the rotor, rad/s; NaN if it is unknown.
    var rate = Double.nan
    /// True if the drive replies to requests for its temperature.
    var hasTemperature = false
    /// Timeout of the watchdog that the drive has confirmed, s; NaN if it is unknown.
    var watchdog = Double.nan
    /// True if the drive's watchdog is switched on; nil if the drive does not report it.
    var isWatchdogOn: Bool?
    /// Version of the drive's firmware: major, minor and revision, each in one byte; 0 if it is
    /// unknown.
    var firmware: UInt32 = 0

    /// True if the drive has confirmed this timeout of its watchdog, s.
    func isGuarded(timeout: Double) -> Bool { abs(watchdog - timeout) < 0.001 }
}

/// Values that one frame of a drive contains. Each value that the frame does not contain is nil.
struct DriveReading: Sendable, Equatable {
    /// Joint of the drive.
    var axis: GimbalAxis
    /// Angle of the rotor, rad, not limited to one turn.
    var angle: Double?
    /// Rate of the rotor, rad/s.
    var rate: Double?
    /// True if the power stage is on.
    var isRunning: Bool?
    /// Fault code; 0 means that there is no fault.
    var fault: UInt32?
    /// Causes of the fault that the protocol reports.
    var causes: DriveCauses?
    /// Load of the motor, as a fraction of the largest load, -1...1.
    var load: Double?
    /// Current of the motor, A.
    var current: Double?
    /// Temperature of the motor or its driver, °C.
    var temperature: Double?
    /// Voltage of the supply, V.
    var voltage: Double?
    /// True if the drive's firmware replies to requests for its temperature.
    var hasTemperature: Bool?
    /// Timeout of the drive's watchdog, s.
    var watchdog: Double?
    /// True if the drive's watchdog is switched on.
    var isWatchdogOn: Bool?
    /// Version of the drive's firmware: major, minor and revision, each in one byte.
    var firmware: UInt32?
}

/// Protocol of a drive: conversion between commands and frames. A codec uses no socket and no
/// clock; only the bus's thread calls `compose`.
protocol DriveCodec: Sendable {
    /// Filters for the frames that the drives send.
    var filters: [CANFilter] { get }
    /// True if the protocol uses CAN FD.
    static var usesFD: Bool { get }
    /// Interval of the drive's periodic frames, s; 0 if the drive only answers commands.
    static var interval: Double { get }

    /// Timeout of the drives' watchdogs that the codec sets with a request, s. The outputs stay off
    /// until each drive has confirmed the timeout. nil if the protocol has no such request.
    var watchdogTimeout: Double? { get }

    /// True if the drive in this state has confirmed its watchdog, or if the codec does not set it.
    func isGuarded(_ state: DriveState) -> Bool

    /// Adds the frames of one period to an empty list, at most `TransmitQueue.length`.
    mutating func compose(_ command: DriveCommand, into frames: inout [CANFrame])

    /// Discards the records of the last requests; the next calls of `compose` repeat the requests.
    mutating func forgetRequests()

    /// Discards the record of the last requests to the drive of this frame, because the frame could
    /// not be sent.
    mutating func forgetRequests(of frame: CANFrame)

    /// Decodes a frame. The result is nil if the frame is malformed, or does not come from one of
    /// the drives.
    func decode(in frame: CANFrame) -> DriveReading?

    /// True if the frame, which `decode` has read, has this meaning for a drive in the given state.
    /// The meaning of an identifier can depend on the drive's firmware.
    func isValid(_ frame: CANFrame, from state: DriveState) -> Bool
}

extension DriveCodec {
    static var usesFD: Bool { false }
    static var interval: Double { 0 }
    var watchdogTimeout: Double? { nil }
    func isGuarded(_ state: DriveState) -> Bool {
        watchdogTimeout.map { state.isGuarded(timeout: $0) } ?? true
    }
    mutating func forgetRequests() {}
    mutating func forgetRequests(of frame: CANFrame) {}
    func isValid(_ frame: CANFrame, from state: DriveState) -> Bool { true }
}

/// Transmit queue of a CAN interface.
enum TransmitQueue {
    /// Number of frames that fit into the queue with its default length (`txqueuelen`). The codecs
    /// compose at most as many frames per period, so that the queue never overflows in normal
    /// operation.
    static let length = 10
}

/// CAN IDs of the three drives on their bus.
struct DriveIDs: Sendable, Equatable {
    private let ids: PerAxis<UInt32>

    /// Creates the CAN IDs of the yaw, roll and pitch drives.
    init(yaw: UInt32, roll: UInt32, pitch: UInt32) {
        ids = PerAxis(yaw: yaw, roll: roll, pitch: pitch)
    }

    /// CAN ID of one drive.
    subscript(axis: GimbalAxis) -> UInt32 { ids[axis] }

    /// Joint of the drive with this CAN ID; nil if no drive has this CAN ID.
    func axis(of id: UInt32) -> GimbalAxis? {
        if ids.yaw == id { return .yaw }
        if ids.roll == id { return .roll }
        return ids.pitch == id ? .pitch : nil
    }

    /// The three identifiers.
    var all: [UInt32] { [ids.yaw, ids.roll, ids.pitch] }
}

/// Times of the latest requests that ask a drive to change its state. A request is repeated only
/// after the time that a drive needs to report the change.
struct DriveRequests: Sendable, BitwiseCopyable {
    private var lastSwitch = Instant(nanoseconds: .min / 2)
    private var lastClear = Instant(nanoseconds: .min / 2)
    private var wasEnabled: Bool?
    /// True if the last period requested the mode, and the present one switches the power stage on.
    private var isModeRequested = false
    private var faultSince: Instant?
    /// Number of attempts to clear faults; the number is reset after a minute without an attempt.
    private var clears = 0

    /// Time after which a request is repeated if the drive's state has not changed, s; more than
    /// two intervals of an ODrive's heartbeat.
    static let patience = 0.25
    /// Shortest interval between two attempts to clear a fault (`wait`), and time without an
    /// attempt after which the count of attempts is reset (`forget`), s.
    private static let clearSeconds = (wait: 1.0, forget: 60.0)
    /// Largest number of attempts to clear a fault before the count is reset.
    private static let mostClears = 3

    /// Discards the record of the last request; the request is then repeated.
    mutating func forget() {
        wasEnabled = nil
        isModeRequested = false
    }

    /// Requests that switch a power stage on, in consecutive periods.
    enum Step {
        /// The first request selects the kind of commands that the drive obeys.
        case mode
        /// The second request switches the power stage on.
        case on
    }

    /// Decides whether a request to switch the drive's power stage on must be sent now. The mode
    /// has a separate period, because a full transmit queue can accept the second of two frames
    /// although it has rejected the first one, and some adapters send the frame with the lower
    /// identifier first. The drive would then be switched on in another mode.
    ///
    /// - Parameters:
    ///   - isRunning: State that the drive reports; nil if the drive has reported none.
    ///   - canBegin: True if the mode can be requested in this period.
    ///   - now: Time of the command.
    /// - Returns: The request to send; nil if none must be sent.
    mutating func stepOn(isRunning: Bool?, canBegin: Bool = true, now: Instant) -> Step? {
        if isModeRequested {
            isModeRequested = false
            return .on
        }
        guard canBegin, isSwitchDue(on: true, isRunning: isRunning, now: now) else { return nil }
        isModeRequested = true
        return .mode
    }

    /// Decides whether a request to switch the drive's power stage on or off must be sent now.
    ///
    /// - Parameters:
    ///   - on: True if the power stage must be on.
    ///   - isRunning: State that the drive reports; nil if the drive has reported none.
    ///   - now: Time of the command.
    ///   - patience: Time after which an ignored request is repeated, s.
    /// - Returns: True if a request must be sent.
    mutating func isSwitchDue(
        on: Bool, isRunning: Bool?, now: Instant, patience: Double = DriveRequests.patience
    ) -> Bool {
        let isNew = wasEnabled != on
        wasEnabled = on
        isModeRequested = false
        let isIgnored = isRunning != nil && isRunning != on
        guard isNew || isIgnored && now.seconds(since: lastSwitch) >= patience else {
            return false
        }
        lastSwitch = now
        return true
    }

    /// Returns true if a request that clears the fault of a switched-off drive must be sent now. A
    /// fault is cleared only after 1 s, so that clients can read its code.
    mutating func isClearDue(fault: UInt32, now: Instant) -> Bool {
        guard fault != 0 else {
            faultSince = nil
            return false
        }
        let since = faultSince ?? now
        faultSince = since
        let wait = now.seconds(since: lastClear)
        if wait >= Self.clearSeconds.forget { clears = 0 }
        guard clears < Self.mostClears, wait >= Self.clearSeconds.wait,
            now.seconds(since: since) >= Self.clearSeconds.wait
        else { return false }
        lastClear = now
        clears += 1
        return true
    }
}

extension PerAxis<DriveRequests> {
    /// Discards the records of the last requests to all drives.
    mutating func forget() {
        yaw.forget()
        roll.forget()
        pitch.forget()
    }
}
