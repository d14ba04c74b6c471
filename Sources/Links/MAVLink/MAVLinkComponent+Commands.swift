import GimbalCore
import Logging
import Port
import Synchronization
import Wire

/// Command from a COMMAND_LONG or COMMAND_INT message.
struct Order {
    /// ID of the command, a value of MAV_CMD.
    var number: UInt16
    /// The seven parameters of the command.
    var params: [Float]
    /// The addressed component.
    var target: MAVLinkAddress
    /// Latitude and longitude, degrees, and MAV_FRAME of the coordinates; in COMMAND_INT, these
    /// fields are more precise than `params`.
    private(set) var place: (latitude: Double, longitude: Double, frame: UInt8)

    /// Value of the second parameter of MAV_CMD_COMPONENT_ARM_DISARM; with this value, the command
    /// is executed in every state.
    static let forced: Float = 21196

    /// Creates the command of a frame; nil if the frame contains no command.
    init?(_ frame: MAVLinkFrame) {
        if let message = frame.message(CommandLong.self) {
            (number, params, target) = (message.command, message.params, message.target)
            place = (Double(params[4]), Double(params[5]), MAVFrame.global)
        } else if let message = frame.message(CommandInt.self) {
            (number, target) = (message.command, message.target)
            params = message.params + [Float(message.x), Float(message.y), message.z]
            place = (Double(message.x) * 1e-7, Double(message.y) * 1e-7, message.frame)
        } else {
            return nil
        }
    }

    /// True if the command is an emergency stop of the component at `address`. A forced disarm that
    /// is sent to all components is meant for the vehicle.
    func isStop(for address: MAVLinkAddress) -> Bool {
        switch MAVLinkCommand(rawValue: number) {
        case .flightTermination: params[0] > 0.5 && target.reaches(address)
        case .armDisarm: params[0] == 0 && params[1] == Self.forced && target == address
        default: false
        }
    }
}

extension MAVLinkCommand {
    /// True if the command requests a message, or sets or requests the interval of a message.
    fileprivate var concernsMessage: Bool {
        switch self {
        case .requestMessage, .setMessageInterval, .getMessageInterval: true
        default: false
        }
    }
}

/// Values of MAV_FRAME that a region of interest can have.
enum MAVFrame {
    /// Altitude above sea level.
    static let global: UInt8 = 0
    /// Altitude above home.
    static let relative: UInt8 = 3
    /// Altitude above sea level, in COMMAND_INT.
    static let globalInt: UInt8 = 5
    /// Altitude above home, in COMMAND_INT.
    static let relativeInt: UInt8 = 6

    /// Frames in which airframed accepts a place.
    static let known = [global, relative, globalInt, relativeInt]
}

/// Request to save the parameters; the write to the disk can still be in progress.
final class PendingSave: Sendable {
    let order: Order
    let sender: MAVLinkAddress
    let peer: Int
    /// Result of the write to the disk; nil until the write is complete.
    let outcome = Mutex<Result<Void, Refusal>?>(nil)

    init(order: Order, sender: MAVLinkAddress, peer: Int) {
        self.order = order
        self.sender = sender
        self.peer = peer
    }
}

// MARK: Commands, each of which is answered.
extension MAVLinkComponent {
    func obey(_ order: Order, from sender: MAVLinkAddress, _ peer: Int, now: Instant) {
        guard let command = MAVLinkCommand(rawValue: order.number) else {
            // An unknown command that is sent to all components is meant for another component.
            if order.target == address { acknowledge(order, .unsupported, sender, peer) }
            return
        }
        guard command != .roiLocation || MAVFrame.known.contains(order.place.frame) else {
            counters.refused += 1
            log.info(
                "MAVLink: airframed refused \(command) from \(sender): An altitude must be relative to mean sea level or to the home position."
            )
            return acknowledge(order, .unsupportedFrame, sender, peer)
        }
        var result = MAVLinkResult.accepted
        var request: UInt32?
        do throws(Refusal) {
            switch command {
            case .requestMessage:
                let id = try requested(order.params[0], peer)
                try demandContents(of: id)
                request = id
            case .setMessageInterval: try setInterval(order, for: peer, now: now)
            case .getMessageInterval: request = try requested(order.params[0], peer)
            case .preflightStorage: return try save(order, from: sender, peer)
            default: try move(command, order, from: sender, now: now)
            }
        } catch {
            // A message of another component that is requested from all components is meant for
            // that component.
            if command.concernsMessage, error.code == .unsupported, order.target != address {
                return
            }
            result = MAVLinkResult(error)
            count(error)
            log.info("MAVLink: airframed refused \(command) from \(sender): \(error.message)")
        }
        acknowledge(order, result, sender, peer)
        guard let request else { return }
        if command == .requestMessage {
            _ = report(request, to: peer, now: now)
        } else {
            tellInterval(of: request, to: peer)
        }
    }

    /// Largest number of saves that wait for a slow disk.
    private static let mostSaves = 8

    /// Writes the parameters to the disk, and acknowledges when the write is complete.
    private func save(
        _ order: Order, from sender: MAVLinkAddress, _ peer: Int
    ) throws(Refusal) {
        try demandOwnAddress(order)
        try director.demandControl(of: sender)
        guard order.params[0] == 1 else {
            throw Refusal(
                .unsupported,
                "This command can only save the parameters; its first parameter must be 1.")
        }
        guard saves.count < Self.mostSaves else {
            throw Refusal(.busy, "The disk is busy with earlier saves. Try again later.")
        }
        let save = PendingSave(order: order, sender: sender, peer: peer)
        try port.tuning.save(
            MAVLinkParameter.keys, with: [], from: source(of: sender),
            ("mavlink \(sender)", "saved its parameters")
        ) { result in save.outcome.withLock { $0 = result } }
        saves.append(save)
        acknowledgeSaves()
    }

    /// Acknowledges completed saves. Call this method ten times per second.
    func acknowledgeSaves() {
        saves.removeAll { save in
            guard let outcome = save.outcome.withLock({ $0 }) else { return false }
            var result = MAVLinkResult.accepted
            if case .failure(let refusal) = outcome {
                result = MAVLinkResult(refusal)
                counters.refused += 1
                log.info(
                    "MAVLink: the parameters of \(save.sender) are not saved: \(refusal.message)")
            }
            acknowledge(save.order, result, save.sender, save.peer)
            return true
        }
    }

    func acknowledge(
        _ order: Order, _ result: MAVLinkResult, _ sender: MAVLinkAddress, _ peer: Int?
    ) {
        counters.commands += 1
        guard let peer else { return }
        var answer = CommandAck()
        answer.command = order.number
        answer.result = result.rawValue
        answer.target = sender
        send(answer, to: peer)
    }

    private func requested(_ number: Float, _ peer: Int) throws(Refusal) -> UInt32 {
        guard number >= 0, number < 0x100_0000 else {
            throw Refusal(.refused, "There is no MAVLink message \(number).")
        }
        let id = UInt32(number)
        let isManagers = [GimbalManagerInformation.format.id, GimbalManagerStatus.format.id]
            .contains(id)
        guard MessageStreams.usual[id] != nil, configuration.isManager || !isManagers,
            speaks(id, to: peer)
        else {
            throw Refusal(.unsupported, "This gimbal does not send message \(id).")
        }
        return id
    }

    /// Refuses a message whose contents are unknown: BATTERY_STATUS without a report of a battery,
    /// and the gimbal's information before the first sample, which shows the gimbal's capabilities.
    func demandContents(of message: UInt32) throws(Refusal) {
        switch message {
        case BatteryReport.format.id:
            guard let battery = configuration.battery() else {
                throw Refusal(.unsupported, "No battery is configured; see the settings `battery`.")
            }
            if let problem = battery.problem { throw Refusal(.noValue, problem) }
        case GimbalManagerInformation.format.id, GimbalDeviceInformation.format.id:
            guard port.snapshot != nil else {
                throw Refusal(.noValue, "The sensor has not delivered a sample yet.")
            }
        default: break
        }
    }

    private func setInterval(_ order: Order, for peer: Int, now: Instant) throws(Refusal) {
        let id = try requested(order.params[0], peer)
        guard MessageStreams.permits(microseconds: order.params[1]) else {
            throw Refusal(.refused, "The interval must be at most 30 minutes.")
        }
        guard id != Heartbeat.format.id || order.params[1] >= 0 else {
            throw Refusal(
                .refused, "The heartbeat cannot be disabled, because it announces the gimbal.")
        }
        setPeriod(of: id, microseconds: Double(order.params[1]), for: peer, now: now)
    }

    private func tellInterval(of id: UInt32, to peer: Int) {
        let period = period(of: id, for: peer)
        var answer = MessageInterval()
        answer.message = UInt16(truncatingIfNeeded: id)
        answer.interval = period > 0 ? Int32(period * 1e6) : -1
        send(answer, to: peer)
    }

    /// Executes a command that moves the gimbal or changes control.
    private func move(
        _ command: MAVLinkCommand, _ order: Order, from sender: MAVLinkAddress, now: Instant
    ) throws(Refusal) {
        let params = order.params
        switch command {
        case .gimbalManagerConfigure:
            try checkManager(device: params[6])
            try director.configure(params, from: sender, isHeard: isHeard, now: now)
            log.notice(
                "MAVLink: \(director.primary) has primary control of the gimbal, \(director.secondary) has secondary control."
            )
        case .gimbalManagerPitchYaw:
            try checkManager(device: params[6])
            try director.steer(GimbalRequest(pitchYaw: params), from: sender, now: now)
        case .roiLocation:
            try checkManager(device: params[0])
            try director.look(at: .place(try place(of: order, now: now)), from: sender, now: now)
        case .roiSystem:
            try checkManager(device: params[1])
            guard let system = UInt8(exactly: params[0]), system != 0, system != address.system
            else { throw Refusal(.refused, "The camera cannot follow system \(params[0]).") }
            try director.look(at: .system(system), from: sender, now: now)
        case .roiNone:
            try checkManager(device: params[0])
            try director.lookAhead(from: sender, now: now)
        case .mountControl:
            try checkManager(device: .nan)
            try director.steerUnmanaged(try Self.mount(params), from: sender, now: now)
        case .mountConfigure:
            try checkManager(device: .nan)
            // Mount mode 0 retracts the camera, and mode 1 centres it, as for
            // MAV_CMD_DO_MOUNT_CONTROL. The command's other parameters are ignored, because the
            // gimbal always holds the horizon.
            guard let wanted = Self.mountMode(params[0]) else { return }
            try director.steerUnmanaged(wanted, from: sender, now: now)
        case .preflightCalibration:
            try demandOwnAddress(order)
            try demandManager(sender)
            guard params[0] == 1 else {
                throw Refusal(
                    .unsupported,
                    "This command can only calibrate the gyroscope; its first parameter must be 1.")
            }
            try director.takeUnmanaged(by: sender, now: now)
            try port.calibrateGyro(for: source(of: director.source), now: now)
        case .flightTermination:
            // A flight termination with a valid parameter is an emergency stop, which was executed
            // before this function was called.
            throw Refusal(
                .refused,
                "This command cannot reset an emergency stop; a forced arm command resets the stop."
            )
        case .armDisarm:
            try arm(order, from: sender, now: now)
        case .getMessageInterval, .setMessageInterval, .requestMessage, .preflightStorage: break
        }
    }

    /// Location of a region of interest.
    private func place(of order: Order, now: Instant) throws(Refusal) -> RegionOfInterest.Place {
        var place = RegionOfInterest.Place(
            latitude: order.place.latitude, longitude: order.place.longitude,
            altitude: Double(order.params[6]))
        if [MAVFrame.relative, MAVFrame.relativeInt].contains(order.place.frame) {
            guard let home = director.region.home(now: now) else {
                throw Refusal(.noValue, "The altitude of home is not known.")
            }
            place.altitude += home
        }
        guard place.isValid else {
            throw Refusal(.refused, "The latitude, longitude or altitude is outside its range.")
        }
        return place
    }

    private func checkManager(device: Float) throws(Refusal) {
        guard configuration.isManager else {
            throw Refusal(
                .unsupported,
                "The autopilot is the manager of this gimbal, so the gimbal does not accept this command."
            )
        }
        guard device.isNaN || isOurDevice(device) else {
            throw Refusal(.refused, "There is no gimbal device \(device).")
        }
    }

    /// Refuses a sender of another system while an autopilot is the manager, because only the
    /// gimbal's own vehicle can then control the gimbal.
    private func demandManager(_ sender: MAVLinkAddress) throws(Refusal) {
        guard configuration.isManager || isOfOurSystem(sender) else {
            throw Refusal(
                .refused,
                "The autopilot is the manager of this gimbal, so only components of system \(address.system) can send this command."
            )
        }
    }

    /// Refuses a broadcast command, because the command is meant for the vehicle's motors and
    /// sensors.
    private func demandOwnAddress(_ order: Order) throws(Refusal) {
        guard order.target == address else {
            throw Refusal(.unsupported, "This command must be sent to the gimbal's own address.")
        }
    }

    /// Switches the gimbal's motors; a command for the vehicle's motors does not affect them.
    private func arm(_ order: Order, from sender: MAVLinkAddress, now: Instant)
        throws(Refusal)
    {
        try demandOwnAddress(order)
        let isForced = order.params[1] == Order.forced
        // Nothing moves after the reset of a stop, so the reset depends only on the stop's source.
        if !isForced { try demandManager(sender) }
        switch (order.params[0], isForced) {
        case (1, true): try port.request(.resetEmergencyStop, from: source(of: sender), now: now)
        case (1, false), (0, false):
            try director.takeUnmanaged(by: sender, now: now)
            let mode: Mode = order.params[0] == 1 ? .locked : .inactive
            try port.request(.mode(mode), from: source(of: director.source), now: now)
        default:
            throw Refusal(.refused, "The first parameter must be 1 (motors on) or 0 (motors off).")
        }
    }

    /// Parses a command of the older gimbal protocol: pitch, roll and yaw in degrees, and the mount
    /// mode in the seventh parameter. Yaw is relative to the vehicle.
    private static func mount(_ params: [Float]) throws(Refusal) -> GimbalRequest {
        if let wanted = mountMode(params[6]) { return wanted }
        guard params[6] == 2 else {
            throw Refusal(
                .unsupported, "Of the mount modes, only retract, neutral and angles are supported.")
        }
        func radians(_ degrees: Float) -> Double { Angle.degrees(Double(degrees)).radians }
        return GimbalRequest(
            flags: [.rollLock, .pitchLock, .yawInVehicleFrame],
            angles: AxisVector(
                yaw: radians(params[2]), roll: radians(params[1]), pitch: radians(params[0])))
    }

    /// The request for the MAV_MOUNT_MODE 0 or 1; nil for other modes.
    private static func mountMode(_ mode: Float) -> GimbalRequest? {
        switch mode {
        case 0: GimbalRequest(flags: .retract)
        case 1: GimbalRequest(flags: .neutral)
        default: nil
        }
    }
}
