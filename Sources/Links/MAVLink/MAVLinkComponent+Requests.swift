import Configuration
import GimbalCore
import Port
import Wire

// Handling of messages without an answer: set-points for the gimbal manager and the gimbal device,
// and the autopilot's state.
extension MAVLinkComponent {
    /// Ends the control of the peers if another source has taken control since the last call. Call
    /// this method before every request of a peer, because the other source can have left already:
    /// a request would then be granted, and would end the motion that the other source has started.
    func yieldControl() {
        guard director.source != .none,
            let (loser, winner) = director.yield(in: port.control)
        else { return }
        tell("\(loser) has lost control of the gimbal to \(winner).", severity: 4)
    }

    /// Executes a MAVLink message that requests motion; the protocol defines no answer to the
    /// message.
    ///
    /// - Parameters:
    ///   - frame: An accepted frame of any kind.
    ///   - now: Time at which the frame was received.
    /// - Returns: True if the frame contained a message that requests motion.
    func receiveRequest(_ frame: MAVLinkFrame, now: Instant) -> Bool {
        if let message = frame.message(GimbalManagerSetPitchYaw.self) {
            manage(message.target, message.device, GimbalRequest(message), frame.sender, now)
        } else if let message = frame.message(GimbalManagerSetAttitude.self) {
            manage(message.target, message.device, GimbalRequest(message), frame.sender, now)
        } else if let message = frame.message(GimbalManagerSetManualControl.self) {
            let range = port.settings.motion.rangeDeg
            let wanted = GimbalRequest(
                message, lower: range.lower * (.pi / 180), upper: range.upper * (.pi / 180))
            manage(message.target, message.device, wanted, frame.sender, now)
        } else if let message = frame.message(GimbalDeviceSetAttitude.self) {
            guard isForUs(message.target), isOfOurSystem(frame.sender) else { return true }
            count { () throws(Refusal) in
                try director.steerUnmanaged(GimbalRequest(message), from: frame.sender, now: now)
            }
        } else if let message = frame.message(AutopilotStateForGimbalDevice.self) {
            guard isForUs(message.target), isOfOurSystem(frame.sender),
                let snapshot = port.snapshot
            else { return true }
            director.vehicle.learn(message, snapshot, now: now)
            director.leadVehicle(now: now)
        } else if let message = frame.message(GlobalPosition.self) {
            counters.handled += 1
            let system = frame.sender.system
            if director.region.note(
                message, from: system, isOwn: system == address.system, now: now)
            {
                director.watchRegion(now: now)
            }
        } else if let message = frame.message(GPSPosition.self) {
            guard isOfOurSystem(frame.sender) else { return true }
            counters.handled += 1
            if director.region.noteOwn(message, now: now) { director.watchRegion(now: now) }
        } else {
            return false
        }
        return true
    }

    private func manage(
        _ target: MAVLinkAddress, _ device: UInt8, _ wanted: GimbalRequest,
        _ sender: MAVLinkAddress,
        _ now: Instant
    ) {
        guard isForUs(target), configuration.isManager else { return }
        guard isOurDevice(Float(device)) else {
            counters.wrongTarget += 1
            return
        }
        count { () throws(Refusal) in
            try director.steer(wanted, from: sender, now: now)
        }
    }

    /// True if a device number addresses this gimbal. The number is the gimbal's device ID, its
    /// component ID, or 0 (all devices).
    func isOurDevice(_ device: Float) -> Bool {
        [0, Float(MAVLinkConfiguration.device), Float(address.component)].contains(device)
    }

    /// True if the sender belongs to the gimbal's own system; counts other senders.
    func isOfOurSystem(_ sender: MAVLinkAddress) -> Bool {
        if sender.system == address.system { return true }
        counters.foreign += 1
        return false
    }

    private func count(_ body: () throws(Refusal) -> Void) {
        do throws(Refusal) { try body() } catch { count(error) }
    }

    func count(_ refusal: Refusal) {
        if refusal.code == .notInControl {
            counters.notInControl += 1
        } else {
            counters.refused += 1
        }
    }
}
