internal import Configuration
internal import GimbalCore

/// ODrive's protocol CANSimple. Identifier: node number in bits 5...10, command in bits 0...4; all
/// values are little-endian (ODrive documentation, "CAN Protocol", firmware 0.5 and 0.6).
///
/// The codec requests the encoder's estimates with a remote frame in each period. Therefore the
/// estimates do not depend on the drive's configured interval. Every command that a drive receives
/// restarts its watchdog (firmware 0.5: `CANSimple::do_command`). The codec sends a torque in each
/// period, even while the drive is idle.
///
/// Firmware 0.6 reads and writes every parameter with the commands RxSdo and TxSdo: operation (0 reads,
/// 1 writes), number of the endpoint (16 bits), a byte 0, and the value (ODrive documentation, "CAN
/// Protocol", "Arbitrary parameter access", and the vendor's example `can_restore_config.py`). The
/// numbers change with the firmware. Therefore the codec writes the watchdog only if the settings
/// contain the numbers, and the drive reports the firmware version to which they belong. A write
/// changes only the drive's RAM.
struct ODriveCodec: DriveCodec {
    /// Commands of CANSimple.
    enum Command {
        static let version: UInt32 = 0x00
        static let heartbeat: UInt32 = 0x01
        static let error: UInt32 = 0x03
        static let encoderError: UInt32 = 0x04
        /// Firmware 0.6 uses the numbers of `encoderError` and `controllerError` for other
        /// commands: RxSdo, with which any program on the bus reads a parameter, and Get_Powers,
        /// which the drive sends periodically if `powers_msg_rate_ms` is set.
        static let rxSdo: UInt32 = 0x04
        static let txSdo: UInt32 = 0x05
        static let axisState: UInt32 = 0x07
        static let encoder: UInt32 = 0x09
        static let controllerMode: UInt32 = 0x0B
        static let inputTorque: UInt32 = 0x0E
        static let temperature: UInt32 = 0x15
        static let busVoltage: UInt32 = 0x17
        static let clearErrors: UInt32 = 0x18
        static let controllerError: UInt32 = 0x1D
    }

    /// States of an axis.
    enum AxisState {
        static let idle: UInt32 = 1
        static let closedLoop: UInt32 = 8
    }

    /// Operations of RxSdo.
    enum Operation {
        static let read: UInt8 = 0
        static let write: UInt8 = 1
    }

    /// Codes of the control mode "torque" and of the input mode "passthrough".
    private static let torqueControl: UInt32 = 1
    private static let passthrough: UInt32 = 1
    /// Number of error requests after which the codec also requests an axis's voltage, and its
    /// temperature or version.
    private static let slowPeriods = 50
    /// Number of unanswered requests for the version after which a drive counts as one with firmware
    /// 0.5, which does not answer them.
    private static let mostUnanswered = 3
    /// Largest number of frames that `setWatchdogs` adds.
    private static let watchdogFrames = 4
    /// Largest number of frames that `poll` adds.
    private static let pollFrames = 2

    private let ids: DriveIDs
    private let endpoints: ODriveEndpoints?
    private let watchdog: Double?
    private var schedule = WatchdogSchedule()
    private var requests = PerAxis(DriveRequests())
    private var period = 0
    /// Number of periods in which the codec has requested an error.
    private var polls = 0
    /// Numbers of requests for the version that a drive has not answered.
    private var unanswered = PerAxis(0)

    /// Creates the codec of three axes.
    ///
    /// - Parameters:
    ///   - ids: Node numbers of the axes, 0...63.
    ///   - endpoints: Numbers of the watchdog's endpoints; nil leaves the watchdogs unchanged.
    ///   - watchdog: Timeout of the watchdogs, s; nil leaves the watchdogs unchanged.
    init(ids: DriveIDs, endpoints: ODriveEndpoints? = nil, watchdog: Double? = nil) {
        self.ids = ids
        self.endpoints = watchdog == nil ? nil : endpoints
        self.watchdog = endpoints == nil ? nil : watchdog
    }

    var watchdogTimeout: Double? { watchdog }

    func isGuarded(_ state: DriveState) -> Bool {
        guard let watchdog else { return true }
        return state.isWatchdogOn == true && state.isGuarded(timeout: watchdog)
    }

    var filters: [CANFilter] {
        // The socket also receives the frames of airframed's sending socket. Therefore the filters
        // accept only commands that drives send, and no remote frames.
        // With endpoints, all drives have firmware 0.6, and the socket would receive the frames RxSdo
        // of airframed as errors of encoders.
        let commands =
            [
                Command.version, Command.heartbeat, Command.error, Command.encoder,
                Command.temperature, Command.busVoltage,
            ]
            + (endpoints == nil
                ? [Command.encoderError, Command.controllerError] : [Command.txSdo])
        return ids.all.flatMap { node in
            commands.map { CANFilter(id: node << 5 | $0, mask: CANFilter.data | 0x7FF) }
        }
    }

    mutating func compose(_ command: DriveCommand, into frames: inout [CANFrame]) {
        compose(command, .yaw, into: &frames)
        compose(command, .roll, into: &frames)
        compose(command, .pitch, into: &frames)
        let commands = frames.count
        // The requests to the watchdogs and for errors are in different periods. Otherwise the frames
        // of one period would not fit into the transmit queue.
        let hasRoom = commands + Self.watchdogFrames <= TransmitQueue.length
        if !command.isEnabled, hasRoom, period.isMultiple(of: 2) {
            setWatchdogs(command, into: &frames)
        }
        if frames.count == commands, commands + Self.pollFrames <= TransmitQueue.length {
            poll(command, into: &frames)
        }
        period &+= 1
    }

    /// Reads the watchdog of one drive and, if it differs from the settings, writes it first.
    private mutating func setWatchdogs(_ command: DriveCommand, into frames: inout [CANFrame]) {
        guard let endpoints, let watchdog, let axis = schedule.next(now: command.now) else {
            return
        }
        let (node, state) = (ids[axis], command.states[axis])
        guard state.firmware == endpoints.firmware else {
            return frames.append(remote(node, Command.version))
        }
        let isGuarded = isGuarded(state)
        let isKnown = !state.watchdog.isNaN && state.isWatchdogOn != nil
        if schedule.isWriteDue(axis, isKnown: isKnown, isGuarded: isGuarded) {
            // The timeout is written first, because a watchdog with the timeout 0 expires at once.
            var timeout = sdo(Operation.write, node, endpoints.timeout)
            timeout.append(float: watchdog)
            frames.append(timeout)
            var enable = sdo(Operation.write, node, endpoints.enable)
            enable.append(1)
            frames.append(enable)
        }
        guard !isGuarded else { return }
        frames.append(sdo(Operation.read, node, endpoints.timeout))
        frames.append(sdo(Operation.read, node, endpoints.enable))
    }

    /// Request to an endpoint, without a value.
    private func sdo(_ operation: UInt8, _ node: UInt32, _ endpoint: UInt16) -> CANFrame {
        var request = frame(node, Command.rxSdo)
        request.append(operation)
        request.append(UInt8(truncatingIfNeeded: endpoint))
        request.append(UInt8(truncatingIfNeeded: endpoint >> 8))
        request.append(0)
        return request
    }

    /// Adds the torque and the requests for one drive. At most one drive per period gets its mode,
    /// or gets its fault cleared; it is switched on one period after its mode. All drives are
    /// switched off in the same period.
    private mutating func compose(
        _ command: DriveCommand, _ axis: GimbalAxis, into frames: inout [CANFrame]
    ) {
        let (node, state, on) = (ids[axis], command.states[axis], command.isEnabled)
        let isTurn = Int(axis.rawValue) == period % 3
        if !on, isTurn, requests[axis].isClearDue(fault: state.fault, now: command.now) {
            frames.append(frame(node, Command.clearErrors))
        }
        if on {
            switch requests[axis].stepOn(
                isRunning: state.isRunning, canBegin: isTurn, now: command.now)
            {
            case .mode:
                var mode = frame(node, Command.controllerMode)
                mode.append(little: Self.torqueControl)
                mode.append(little: Self.passthrough)
                frames.append(mode)
            case .on: frames.append(request(of: AxisState.closedLoop, node))
            case nil: break
            }
        } else if requests[axis].isSwitchDue(
            on: false, isRunning: state.isRunning, now: command.now)
        {
            frames.append(request(of: AxisState.idle, node))
        }
        var torque = frame(node, Command.inputTorque)
        torque.append(float: on ? command.torque[axis] : 0)
        frames.append(torque)
        frames.append(remote(node, Command.encoder))
    }

    /// Requests the error of one axis and, after every 50 requests, the axis's voltage, and its
    /// temperature or version. In firmware 0.5, the error is only that of the motor.
    /// Therefore the errors of the encoder and of the controller are requested alternately. Firmware
    /// 0.6 uses their numbers for other commands.
    private mutating func poll(_ command: DriveCommand, into frames: inout [CANFrame]) {
        let axis = GimbalAxis(rawValue: UInt8(polls % 3)) ?? .yaw
        let node = ids[axis]
        frames.append(remote(node, Command.error))
        let turn = polls / 3 % Self.slowPeriods
        polls &+= 1
        switch turn {
        case 0: frames.append(remote(node, Command.busVoltage))
        case 1 where command.states[axis].hasTemperature:
            frames.append(remote(node, Command.temperature))
        case 1:
            frames.append(remote(node, Command.version))
            if command.states[axis].isRunning != nil { unanswered[axis] += 1 }
        case _ where isOld(command.states[axis], axis):
            frames.append(
                remote(
                    node, turn.isMultiple(of: 2) ? Command.encoderError : Command.controllerError))
        default: break
        }
    }

    /// True if the drive has firmware 0.5.
    private func isOld(_ state: DriveState, _ axis: GimbalAxis) -> Bool {
        endpoints == nil && !state.hasTemperature && state.isRunning != nil
            && unanswered[axis] >= Self.mostUnanswered
    }

    /// Request that changes the state of an axis.
    private func request(of state: UInt32, _ node: UInt32) -> CANFrame {
        var request = frame(node, Command.axisState)
        request.append(little: state)
        return request
    }

    private func frame(_ node: UInt32, _ command: UInt32) -> CANFrame {
        CANFrame(id: node << 5 | command)
    }

    private func remote(_ node: UInt32, _ command: UInt32) -> CANFrame {
        CANFrame(id: node << 5 | command, isRemote: true)
    }

    mutating func forgetRequests() { requests.forget() }

    mutating func forgetRequests(of frame: CANFrame) {
        if let axis = ids.axis(of: frame.id >> 5) { requests[axis].forget() }
    }

    func decode(in frame: CANFrame) -> DriveReading? {
        guard !frame.isExtended, !frame.isRemote, !frame.isError, !frame.isFD,
            let axis = ids.axis(of: frame.id >> 5)
        else { return nil }
        var news = DriveReading(axis: axis)
        switch frame.id & 0x1F {
        case Command.heartbeat:
            guard let error = frame.little32(at: 0), frame.count >= 5 else { return nil }
            news.fault = error
            news.isRunning = UInt32(frame[4]) == AxisState.closedLoop
        case Command.error:
            // In firmware 0.5, the frame contains the motor's error in 64 bits. In firmware 0.6,
            // the frame contains the axis's error and the reason for the last disarming; the reason
            // does not indicate a present fault.
            guard let error = frame.little32(at: 0) else { return nil }
            guard error != 0 else { return news }
            news.fault = error
        case Command.txSdo:
            guard let endpoints else { return nil }
            return value(of: endpoints, in: frame, axis)
        case Command.encoderError where endpoints == nil, Command.controllerError:
            guard let error = frame.little32(at: 0) else { return nil }
            guard error != 0 else { return news }
            news.fault = error
        case Command.encoder:
            guard let turns = frame.float(at: 0), let rate = frame.float(at: 4) else { return nil }
            news.angle = turns * 2 * .pi
            news.rate = rate * 2 * .pi
        case Command.temperature:
            guard frame.count == 8 else { return nil }
            // The temperature of a motor without a thermistor can be NaN.
            let (driver, motor) = (frame.float(at: 0), frame.float(at: 4))
            news.temperature = driver.map { max($0, motor ?? $0) } ?? motor
        case Command.busVoltage:
            guard let voltage = frame.float(at: 0) else { return nil }
            news.voltage = voltage
        case Command.version:
            // Only firmware 0.6 has the command 0x15, which contains the temperature.
            guard frame.count == 8 else { return nil }
            news.hasTemperature = true
            news.firmware = UInt32(frame[4]) << 16 | UInt32(frame[5]) << 8 | UInt32(frame[6])
        default: return nil
        }
        return news
    }

    func isValid(_ frame: CANFrame, from state: DriveState) -> Bool {
        // Only firmware 0.6 replies to the request for the version.
        let command = frame.id & 0x1F
        return !state.hasTemperature
            || command != Command.encoderError && command != Command.controllerError
    }

    /// Reads the value of a watchdog's endpoint. A reply about another endpoint contains no value.
    private func value(
        of endpoints: ODriveEndpoints, in frame: CANFrame, _ axis: GimbalAxis
    ) -> DriveReading? {
        guard frame.count >= 4 else { return nil }
        var news = DriveReading(axis: axis)
        switch UInt16(frame[2]) << 8 | UInt16(frame[1]) {
        case endpoints.timeout:
            guard let seconds = frame.float(at: 4) else { return nil }
            news.watchdog = seconds
        case endpoints.enable:
            guard frame.count >= 5 else { return nil }
            news.isWatchdogOn = frame[4] != 0
        default: break
        }
        return news
    }
}
