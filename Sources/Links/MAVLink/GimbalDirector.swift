import Configuration
import GimbalCore
import Port
import Wire

/// Gimbal manager: decides which MAVLink peers are in control, and executes the requests of these
/// peers.
struct GimbalDirector {
    /// Timeout of a peer, s: five heartbeat intervals without a message.
    static let silenceSeconds = 5.0

    /// The primary peer in control; `.none` if no peer is in control.
    private(set) var primary = MAVLinkAddress.none
    /// The secondary peer in control.
    private(set) var secondary = MAVLinkAddress.none
    /// Source of the heading of the vehicle that carries the gimbal.
    var vehicle = VehicleHeading()
    /// Region of interest at which the camera is pointed.
    var region = RegionOfInterest()
    /// Last requested direction of the region of interest.
    var lookedAt: RegionOfInterest.Direction?

    private let port: any GimbalPort
    private let link: CommandSource.Link
    /// Held yaw, relative to north, rad; nil if the camera does not hold a yaw relative to north.
    private var heldYaw: Double?
    /// True if `heldYaw` is relative to the heading at power-on, because the yaw was requested relative
    /// to the vehicle before north was known.
    private var isHeldWithoutNorth = false
    /// Largest rate of the turn to `heldYaw`, rad/s; 0 means that only the general limits apply.
    private var heldRate = 0.0
    /// Last requested heading, in the loop's frame, rad.
    private var askedYaw = 0.0
    private var wasEnabled = false
    /// True if the camera holds a requested yaw relative to the vehicle.
    private var isFollowing = false
    /// Last requested lead angle, rad. The lead angle compensates the turn that the autopilot has
    /// announced.
    private var askedLead = 0.0

    /// Creates a director.
    ///
    /// - Parameters:
    ///   - port: Port through which the director accesses the gimbal.
    ///   - link: Link over which the peers' frames arrive.
    init(port: any GimbalPort, link: CommandSource.Link) { (self.port, self.link) = (port, link) }

    /// State of the control loop; nil before the first sample.
    var snapshot: StabilizerSnapshot? { port.snapshot }

    /// The peer as a source of requests to the `Commander`.
    private func client(_ peer: MAVLinkAddress) -> CommandSource {
        CommandSource(peer, link: link)
    }

    /// True if a MAVLink peer is in control.
    func isInControl(_ peer: MAVLinkAddress) -> Bool {
        peer != .none && (peer == primary || peer == secondary)
    }

    /// The peer that is the source of requests to the `Commander`: the primary peer, or the
    /// secondary peer if there is no primary peer.
    var source: MAVLinkAddress { primary != .none ? primary : secondary }

    // MARK: Control

    /// Executes MAV_CMD_DO_GIMBAL_MANAGER_CONFIGURE: 0 means that no peer is in control, -1 leaves
    /// control unchanged, -2 gives control to the sender, -3 removes the sender's control.
    ///
    /// As on every link, a peer cannot take control from a peer of equal rank. Only the peer in
    /// control can transfer or release control. A change of the secondary peer does not change the
    /// primary peer.
    ///
    /// - Parameters:
    ///   - params: Parameters of the command: primary system and component, secondary system and
    ///     component.
    ///   - sender: The requesting component.
    ///   - isHeard: Function that returns true if a component has sent a message recently. Only a
    ///     component that has sent a message recently can get control.
    ///   - now: Time of the receipt.
    /// - Throws: The reason why control has not changed.
    mutating func configure(
        _ params: [Float], from sender: MAVLinkAddress, isHeard: (MAVLinkAddress) -> Bool,
        now: Instant
    ) throws(Refusal) {
        guard let primary = Self.chosen(params[0], params[1], self.primary, sender),
            let secondary = Self.chosen(params[2], params[3], self.secondary, sender)
        else { throw Refusal(.refused, "The requested system or component does not exist.") }
        if (primary, secondary) == (self.primary, self.secondary) {
            // Only a peer in control can prolong its control.
            if isInControl(sender) { try port.request(.take, from: client(source), now: now) }
            return
        }
        let owner = self.primary != .none ? self.primary : self.secondary
        let isOwners = owner == .none || owner == sender
        guard isOwners || (sender == self.secondary && primary == self.primary) else {
            throw Refusal(.held, "\(owner) is in control of the gimbal.")
        }
        for chosen in [primary, secondary]
        where chosen != .none && chosen != sender && !isInControl(chosen) && !isHeard(chosen) {
            throw Refusal(.refused, "\(chosen) is unknown, because it has not sent any message.")
        }
        let before = source
        let after = primary != .none ? primary : secondary
        if before != after, before != .none {
            try port.request(.release, from: client(before), now: now)
        }
        if after != .none {
            do {
                try port.request(.take, from: client(after), now: now)
            } catch {
                // Control has been released, so no peer of the component is in control.
                (self.primary, self.secondary) = (.none, .none)
                throw error
            }
        }
        if before != after { forgetYaw() }
        (self.primary, self.secondary) = (primary, secondary)
    }

    private static func chosen(
        _ system: Float, _ component: Float, _ present: MAVLinkAddress, _ sender: MAVLinkAddress
    ) -> MAVLinkAddress? {
        switch (system, component) {
        case (-1, _), (_, -1): return present
        case (-3, _), (_, -3): return present == sender ? MAVLinkAddress.none : present
        case (-2, _), (_, -2): return sender
        case (0...255, 0...255):
            guard system > 0 else { return MAVLinkAddress.none }
            return MAVLinkAddress(system: UInt8(system), component: UInt8(component))
        default: return nil
        }
    }

    /// Ends the control of a peer that has left.
    ///
    /// - Returns: True if the peer was in control.
    mutating func left(_ peer: MAVLinkAddress, now: Instant) -> Bool {
        guard isInControl(peer) else { return false }
        if source == peer {
            port.left(client(peer), now: now)
            forgetYaw()
        }
        if primary == peer { primary = .none }
        if secondary == peer { secondary = .none }
        return true
    }

    /// Ends the control of the MAVLink peers after another source has taken control, also if this
    /// source has left since: airframectl exits immediately after its request.
    ///
    /// - Returns: The peer that was in control, and the source that has taken control; nil if no
    ///   control has ended.
    mutating func yield(
        in control: ControlState
    ) -> (loser: MAVLinkAddress, winner: CommandSource)? {
        let holder = control.holder.flatMap { $0 == client(source) ? nil : $0 }
        let mover = control.lastMover.flatMap { $0.link == link ? nil : $0 }
        guard let winner = holder ?? mover else { return nil }
        defer {
            (primary, secondary) = (.none, .none)
            forgetYaw()
        }
        return (source, winner)
    }

    private mutating func forgetYaw() {
        heldYaw = nil
        isFollowing = false
        askedLead = 0
        region.target = nil
    }

    /// Forgets an earlier direction after a stop or a change of mode. Otherwise the camera would turn
    /// there when the motors are on again, or would not move to its rest pose.
    mutating func forgetAfterChangeOfMode() {
        if port.control.mode != .locked { (heldYaw, region.target) = (nil, nil) }
    }

    /// Refuses a component that is not in control.
    func demandControl(of sender: MAVLinkAddress) throws(Refusal) {
        guard isInControl(sender) else {
            throw Refusal(
                .notInControl,
                "\(sender) is not in control; MAV_CMD_DO_GIMBAL_MANAGER_CONFIGURE takes control.")
        }
    }

    /// Gives control to the sender if no peer is in control; otherwise refuses a sender that is not
    /// in control. Call this method for commands from before MAV_CMD_DO_GIMBAL_MANAGER_CONFIGURE.
    mutating func takeUnmanaged(by sender: MAVLinkAddress, now: Instant) throws(Refusal) {
        if source == .none {
            try configure([-2, -2, -1, -1], from: sender, isHeard: { _ in true }, now: now)
        }
        try demandControl(of: sender)
    }

    // MARK: Requests

    /// Executes a peer's request that requires control.
    mutating func steer(
        _ wanted: GimbalRequest, from sender: MAVLinkAddress, now: Instant
    ) throws(Refusal) {
        try demandControl(of: sender)
        try carryOut(wanted, for: source, now: now)
        // A refused request does not end the pointing at a region.
        region.target = nil
    }

    /// Points the camera in a direction on behalf of the peer in control.
    mutating func point(
        _ direction: RegionOfInterest.Direction, now: Instant
    ) throws(Refusal) {
        try carryOut(GimbalRequest(direction), for: source, now: now)
    }

    /// Executes a request of the older gimbal protocol, or a request from a manager to its device.
    /// If no source is in control, the sender takes control.
    mutating func steerUnmanaged(
        _ wanted: GimbalRequest, from sender: MAVLinkAddress, now: Instant
    ) throws(Refusal) {
        try takeUnmanaged(by: sender, now: now)
        try steer(wanted, from: sender, now: now)
    }

    private mutating func carryOut(
        _ wanted: GimbalRequest, for peer: MAVLinkAddress, now: Instant
    ) throws(Refusal) {
        guard !wanted.isContradictory else {
            throw Refusal(
                .refused, "Yaw cannot be relative to the vehicle and to north at the same time.")
        }
        guard let snapshot = port.snapshot else {
            throw Refusal(.noValue, "The sensor has not delivered a sample yet.")
        }
        if wanted.flags.contains(.retract) || wanted.flags.contains(.neutral) {
            let isRest = wanted.flags.contains(.retract)
            try port.stay(in: isRest ? .retract : .neutral, for: client(peer), now: now)
            return forgetYaw()
        }
        let isLocked = wanted.flags.contains(.yawLock)
        guard wanted.angles.isRequested || !wanted.rates.isRequested else {
            try port.turn(
                wanted.rates.orZero, isFollowing: !isLocked, for: client(peer), now: now)
            return forgetYaw()
        }
        guard !wanted.isMixed else {
            throw Refusal(
                .refused, "A request must contain angles for all axes that move, or only rates.")
        }
        let heading = VehicleHeading.heading(in: snapshot) ?? 0
        var angles = wanted.angles
        if isLocked {
            if wanted.isYawFromVehicle { angles.yaw += heading } else { angles.yaw -= north }
            angles.yaw = Self.wrapped(angles.yaw)
            try port.lock(angles, rate: wanted.rates.fastest, for: client(peer), now: now)
            isFollowing = false
            if !angles.yaw.isNaN {
                (heldYaw, heldRate) = (angles.yaw + north, wanted.rates.fastest)
                askedYaw = angles.yaw
                isHeldWithoutNorth = wanted.isYawFromVehicle && vehicle.north == nil
            }
        } else {
            if !wanted.isYawFromVehicle { angles.yaw -= heading + north }
            angles.yaw = Self.wrapped(angles.yaw)
            let follows = isFollowing || !angles.yaw.isNaN
            let wantedLead = angles.yaw.isNaN ? askedLead : lead
            try port.follow(
                angles, lead: follows ? wantedLead : 0, rate: wanted.rates.fastest,
                for: client(peer), now: now)
            heldYaw = nil
            (isFollowing, askedLead) = (follows, wantedLead)
        }
    }

    /// Heading relative to north minus heading in the loop's frame, rad; 0 while it is unknown. If
    /// the difference is unknown, angles are relative to the heading at power-on.
    private var north: Double { vehicle.north ?? 0 }

    /// Wraps an angle to -π...π rad; NaN is returned unchanged.
    private static func wrapped(_ angle: Double) -> Double {
        angle.isFinite ? angle.remainder(dividingBy: 2 * .pi) : .nan
    }

    /// Lead angle that compensates the lag behind a turn of the vehicle, rad, limited to 30°.
    private var lead: Double {
        let most = Angle.degrees(30).radians
        let turn = vehicle.feedForward * port.settings.modeParameters.follow.smoothing.yaw
        return min(max(turn, -most), most)
    }

    /// If the yaw follows the vehicle, corrects the yaw for the vehicle's announced turn. With this
    /// correction, the camera turns without lag.
    mutating func leadVehicle(now: Instant) {
        guard isFollowing, source != .none else { return }
        // After a change of mode, such as a restart of the motors, yaw no longer follows the vehicle.
        guard port.control.mode == .panFollow else {
            isFollowing = false
            return
        }
        let lead = lead
        guard abs(lead - askedLead) > Angle.degrees(0.2).radians else { return }
        do throws(Refusal) {
            try port.follow(.unknown, lead: lead, rate: 0, for: client(source), now: now)
            askedLead = lead
        } catch {
            isFollowing = false
        }
    }

    /// Corrects the held heading for the drift of the loop's heading, so that the camera's heading
    /// stays constant relative to north.
    mutating func holdHeading(now: Instant) {
        forgetAfterChangeOfMode()
        let isEnabled = port.snapshot?.output.enabled ?? false
        // The control loop drops the requested heading when the motors are switched off. Therefore
        // the request is repeated when the motors are switched on.
        let isBack = isEnabled && !wasEnabled
        wasEnabled = isEnabled
        if isBack { lookAgain() }
        if isHeldWithoutNorth, vehicle.north != nil {
            // The first direction of north does not turn the camera.
            if heldYaw != nil { heldYaw = askedYaw + north }
            isHeldWithoutNorth = false
        }
        guard let heldYaw, source != .none else { return }
        let yaw = Self.wrapped(heldYaw - north)
        let error = Angle(radians: askedYaw).shortestArc(to: .radians(yaw)).radians
        guard isBack || abs(error) > Angle.degrees(0.1).radians else { return }
        let angles = AxisVector(yaw: yaw, roll: .nan, pitch: .nan)
        do throws(Refusal) {
            try port.lock(angles, rate: heldRate, for: client(source), now: now)
            askedYaw = yaw
        } catch {
            // After a stop or a change of mode, the held heading no longer applies.
            self.heldYaw = nil
        }
    }
}
