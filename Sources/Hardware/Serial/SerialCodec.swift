internal import GimbalCore

/// Content of the next bytes that a serial line has received.
enum SerialItem: Equatable {
    /// A reply of a servo or of the board.
    case reply
    /// A valid packet that is not a reply, such as the echo of a request.
    case foreign
    /// Bytes that are not part of a valid packet; the value is the number of removed bytes.
    case damaged(Int)
    /// The bytes are the beginning of a packet, or no bytes have been received.
    case incomplete
}

/// Protocol of three servos, or of a motor board, on a serial line. The protocol converts between
/// commands and bytes. The codec does not access the line; only the motors' thread calls the
/// methods.
///
/// In each period the codec writes one request, which the devices answer. All requests to servos
/// have the broadcast address, so that the echo of a request cannot be mistaken for a reply.
protocol SerialCodec: Sendable {
    /// The joints that have a motor.
    var axes: AxisSet { get }
    /// True if the motors hold angles; false if they exert torques.
    var holdsAngles: Bool { get }
    /// Servos that the last request restarts, which clears their faults. They do not reply
    /// meanwhile.
    var restarting: AxisSet { get }
    /// Number of replies to the last request.
    var expectedReplies: Int { get }
    /// Number of bytes of the replies to the last request.
    var expectedBytes: Int { get }
    /// Length of a reply that contains a motor's angle, bytes.
    var replyBytes: Int { get }
    /// Number of motors whose angles are in one reply.
    var motorsPerReply: Int { get }

    /// Adds the request of one period to an empty list.
    mutating func compose(_ command: DriveCommand, into bytes: inout SerialBytes)

    /// Discards the state of the composed requests, because they could not be sent.
    mutating func forgetRequests()

    /// Makes the next request read whether the motors are on. Some servos report this only in some
    /// periods.
    mutating func readStateNext()

    /// Removes the first item from the received bytes, unless it is incomplete.
    ///
    /// - Parameters:
    ///   - received: Received bytes.
    ///   - take: Function that receives the information about each joint in a reply.
    /// - Returns: The kind of the item.
    mutating func next(in received: inout SerialBytes, _ take: (DriveReading) -> Void) -> SerialItem
}

extension SerialCodec {
    var restarting: AxisSet { .none }
}

/// Causes of a fault that drives, servos and the motor board report, independent of the protocol.
struct DriveCauses: OptionSet, Sendable, Hashable {
    let rawValue: UInt8

    /// The motor is overloaded, or its current is too high.
    static let overload = DriveCauses(rawValue: 1 << 0)
    /// The motor or its driver is too hot.
    static let overheated = DriveCauses(rawValue: 1 << 1)
    /// The supply's voltage is too low or too high.
    static let voltage = DriveCauses(rawValue: 1 << 2)
    /// The encoder has failed.
    static let encoder = DriveCauses(rawValue: 1 << 3)
    /// Any other fault.
    static let other = DriveCauses(rawValue: 1 << 4)
    /// The angle is outside the range that the drive's own configuration permits.
    static let angle = DriveCauses(rawValue: 1 << 5)
}

extension DriveIDs {
    /// Creates the identifiers of servos; a negative number means that the joint has no servo.
    init(servos: AxisVector) {
        func id(_ number: Double) -> UInt32 { number < 0 ? .max : UInt32(number) }
        self.init(yaw: id(servos.yaw), roll: id(servos.roll), pitch: id(servos.pitch))
    }

    /// The joints that have a servo.
    var fitted: AxisSet {
        AxisSet(yaw: self[.yaw] != .max, roll: self[.roll] != .max, pitch: self[.pitch] != .max)
    }
}

/// Servos that must be switched on or off, cleared of a fault, or set up in one period.
struct ServoSwitches: Sendable {
    /// Servos that must switch their motor on.
    var on = AxisSet.none
    /// Servos that must switch their motor off.
    var off = AxisSet.none
    /// Servos whose fault must be cleared.
    var clear = AxisSet.none
    /// Servos that are switched off and have started to answer since the last period.
    var arrived = AxisSet.none
    /// True if a servo has not reported the required state.
    var isPending = false

    /// Time after which a request to switch on is repeated if the servo reports that it is off, s.
    /// A request to switch off is repeated in each period, because bytes can be damaged, until the
    /// servo reports that it is off. A servo whose state is unknown may be on.
    private static let patience = 0.08

    /// Finds the servos that a command must switch. Updates `requests`, and `known` (the servos
    /// that have been set up).
    static func due(
        _ command: DriveCommand, _ axes: AxisSet, _ requests: inout PerAxis<DriveRequests>,
        known: inout AxisSet
    ) -> ServoSwitches {
        var result = ServoSwitches()
        axes.forEach { axis in
            let (state, on) = (command.states[axis], command.isOn(axis))
            if state.isRunning != on { result.isPending = true }
            if requests[axis].isSwitchDue(
                on: on, isRunning: state.isRunning ?? (on ? nil : true), now: command.now,
                patience: on ? patience : 0)
            {
                if on { result.on.insert(AxisSet(axis)) } else { result.off.insert(AxisSet(axis)) }
            }
            if !on, requests[axis].isClearDue(fault: state.fault, now: command.now) {
                result.clear.insert(AxisSet(axis))
            }
            if state.isRunning == nil { known = known.subtracting(AxisSet(axis)) }
            if state.isRunning == false, !known.contains(axis) {
                known.insert(AxisSet(axis))
                result.arrived.insert(AxisSet(axis))
            }
        }
        return result
    }
}

extension AxisSet {
    /// Number of axes.
    var number: Int {
        (contains(.yaw) ? 1 : 0) + (contains(.roll) ? 1 : 0) + (contains(.pitch) ? 1 : 0)
    }

    /// Calls `body` with each axis of the set, in the order yaw, roll, pitch.
    func forEach(_ body: (GimbalAxis) -> Void) {
        if contains(.yaw) { body(.yaw) }
        if contains(.roll) { body(.roll) }
        if contains(.pitch) { body(.pitch) }
    }
}
