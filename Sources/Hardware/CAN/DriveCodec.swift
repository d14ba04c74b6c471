internal import GimbalCore

/// Command to the three drives of one bus for one period. All values have the drives' own signs.
struct DriveCommand: Sendable {
    /// Whether the drives' power stages are on; if false, the torques are ignored.
    var isEnabled: Bool
    /// Torque of each drive, N·m.
    var torque: AxisVector
    /// Newest state of each drive.
    var states: PerAxis<DriveState>
    /// Time of the command.
    var now: Instant
}

/// State of a drive that its codec needs to compose commands.
struct DriveState: Sendable, BitwiseCopyable, Equatable {
    /// Whether the power stage is on; nil if the drive does not report it.
    var isRunning: Bool?
    /// Fault code of the drive; 0 means that there is no fault.
    var fault: UInt32 = 0
    /// Rate of the rotor, rad/s; NaN if it is unknown.
    var rate = Double.nan
    /// Whether the drive answers requests of its temperature.
    var hasTemperature = false
}

/// Information in one frame of a drive. A value that the frame does not contain is nil.
struct DriveNews: Sendable, Equatable {
    /// Joint of the drive.
    var axis: GimbalAxis
    /// Angle of the rotor, rad, not limited to one turn.
    var angle: Double?
    /// Rate of the rotor, rad/s.
    var rate: Double?
    /// Whether the power stage is on.
    var isRunning: Bool?
    /// Fault code; 0 means that there is no fault.
    var fault: UInt32?
    /// Temperature of the motor or its driver, °C.
    var temperature: Double?
    /// Voltage of the supply, V.
    var voltage: Double?
    /// Whether the drive's firmware answers requests of its temperature.
    var hasTemperature: Bool?
}

/// Protocol of a drive: conversion between commands and frames. Pure; only the thread of the bus
/// calls `compose`.
protocol DriveCodec: Sendable {
    /// Filters for the frames that the drives send.
    var filters: [CANFilter] { get }
    /// Whether the protocol uses CAN FD.
    static var usesFD: Bool { get }
    /// Interval of the frames that a drive sends without a request, s; 0 if a drive answers each
    /// command.
    static var interval: Double { get }

    /// Adds the frames of one period to an empty list.
    mutating func compose(_ command: DriveCommand, into frames: inout [CANFrame])

    /// Forgets the requests that were made, because a frame was not sent; the next call of `compose`
    /// makes them again.
    mutating func forgetRequests()

    /// Reads a frame; nil for a frame that is not from one of the drives, or is malformed.
    func news(in frame: CANFrame) -> DriveNews?
}

extension DriveCodec {
    static var usesFD: Bool { false }
    static var interval: Double { 0 }
    mutating func forgetRequests() {}
}

/// Identifiers of the three drives on their bus.
struct DriveIDs: Sendable, Equatable {
    private let ids: PerAxis<UInt32>

    /// Creates the identifiers of the drives of yaw, roll and pitch.
    init(yaw: UInt32, roll: UInt32, pitch: UInt32) {
        ids = PerAxis(yaw: yaw, roll: roll, pitch: pitch)
    }

    /// Identifier of one drive.
    subscript(axis: GimbalAxis) -> UInt32 { ids[axis] }

    /// Joint of the drive with this identifier; nil for a foreign identifier.
    func axis(of id: UInt32) -> GimbalAxis? {
        if ids.yaw == id { return .yaw }
        if ids.roll == id { return .roll }
        return ids.pitch == id ? .pitch : nil
    }

    /// The three identifiers.
    var all: [UInt32] { [ids.yaw, ids.roll, ids.pitch] }
}

/// Times at which a drive was told to change its state, so that a request is repeated only after
/// the drive had time to report the change.
struct DriveRequests: Sendable, BitwiseCopyable {
    private var lastSwitch = Instant(nanoseconds: .min / 2)
    private var lastClear = Instant(nanoseconds: .min / 2)
    private var wasEnabled: Bool?
    private var faultSince: Instant?
    /// Number of times that faults were cleared in succession.
    private var clears = 0

    /// Time after which an ignored request is repeated, s: more than two heartbeats of an ODrive.
    private static let patience = 0.25
    /// Interval of attempts to clear a fault, s, and their largest number in succession; the number
    /// starts again after a minute.
    private static let clearSeconds = (wait: 1.0, forget: 60.0)
    private static let mostClears = 3

    /// Forgets the last request, so that it is made again.
    mutating func forget() { wasEnabled = nil }

    /// Whether the drive must be told now to switch its power stage on or off.
    mutating func isSwitchDue(on: Bool, isRunning: Bool?, now: Instant) -> Bool {
        let isNew = wasEnabled != on
        wasEnabled = on
        let isIgnored = isRunning != nil && isRunning != on
        guard isNew || isIgnored && now.seconds(since: lastSwitch) >= Self.patience else {
            return false
        }
        lastSwitch = now
        return true
    }

    /// Whether a drive that is off must be told now to clear its fault. The fault stays for a second,
    /// so that it can be seen.
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
