import Configuration
public import GimbalCore
public import Logging
import Port
import Wire

/// Role of the Bluetooth serial service for a flight display with MAVLink. The role uses only
/// MAVLink 1. A flight display treats a frame of version 2 as noise, and can then also lose the
/// next frame. The role sends heartbeat, attitude and head-up display without a request, because a
/// flight display sends no requests. Commands of a client are executed as on every MAVLink link. If
/// signatures are required, the role accepts only an emergency stop, because frames of version 1
/// have no signature. Only the thread airframed-ble uses the role.
public final class FlightDisplayRole: SerialRole {
    /// ID of the role's only peer. The peer represents all subscribers, because every message is
    /// sent to all subscribers.
    private static let peer = 0

    /// Name of the role in the setting `rbl.role`.
    public let name = "mavlink"

    private let component: MAVLinkComponent
    private let attitudeHz: Double
    private let hearsStopsOnly: Bool
    private var parsers: [Central: MAVLinkParser] = [:]

    /// Creates a role.
    ///
    /// - Parameters:
    ///   - configuration: Identity of the gimbal.
    ///   - port: Port through which the role accesses the gimbal.
    ///   - attitudeHz: Rate of the attitude messages, Hz.
    ///   - hearsStopsOnly: True if the role ignores all messages except an emergency stop.
    ///   - logger: Log for changes of control.
    ///   - now: The loop's clock.
    public init(
        configuration: MAVLinkConfiguration, port: any GimbalPort, attitudeHz: Double,
        hearsStopsOnly: Bool = false, logger: Logger, now: Instant
    ) {
        self.attitudeHz = attitudeHz
        self.hearsStopsOnly = hearsStopsOnly
        var configuration = configuration
        configuration.link = .rbl
        component = MAVLinkComponent(
            configuration: configuration, port: port, log: logger, now: now)
        join(now: now)
    }

    /// Adds the role's peer, which receives its messages at the default intervals.
    private func join(now: Instant) {
        component.join(
            Self.peer, streams: MessageStreams(display: attitudeHz, now: now), version: .v1,
            isConfigured: false)
    }

    /// Executes the messages in the received frames of every phone. The phones are one peer, because
    /// all subscribers receive every answer, but a component's address belongs to one phone.
    public func receive(
        _ bytes: [UInt8], from central: Central, now: Instant, _ output: inout SerialOutput
    ) {
        // A stop must not wait for the rest of an incomplete frame before it.
        if isEmergencyStop(bytes) { parsers[central] = nil }
        parsers[central, default: MAVLinkParser()].append(bytes)
        while let item = parsers[central]?.next() {
            guard case .frame(let frame, let bytes) = item,
                component.admits(frame, bytes: bytes, from: Self.peer, now: now), !hearsStopsOnly
            else { continue }
            component.handle(frame, from: Self.peer, owner: central.connection, now: now)
        }
        send(&output)
    }

    /// True if the bytes contain a whole frame with an emergency stop.
    public func isEmergencyStop(_ bytes: [UInt8]) -> Bool {
        var parser = MAVLinkParser()
        parser.append(bytes)
        while let item = parser.next() {
            if case .frame(let frame, _) = item, let order = Order(frame),
                order.isStop(for: component.address)
            {
                return true
            }
        }
        return false
    }

    /// Ends the motion and the control of the phone's MAVLink components, and discards an incomplete
    /// frame. After the last phone that has sent bytes, the messages have their default intervals
    /// again, because a flight display cannot request them.
    public func disconnected(_ central: Central, now: Instant) {
        let hasSent = parsers.removeValue(forKey: central) != nil
        for sender in component.identities.names(by: central.connection) {
            component.drop(sender, "has disconnected", now: now)
        }
        guard hasSent, parsers.isEmpty else { return }
        component.leave(Self.peer)
        join(now: now)
    }

    /// Discards the messages that wait, such as the report that a phone has disconnected.
    public func discard() { _ = component.takeOutgoing() }

    /// Sends the role's messages that are due.
    public func advance(now: Instant, _ output: inout SerialOutput) -> Instant? {
        let next = component.advance(now: now)
        send(&output)
        return next
    }

    private func send(_ output: inout SerialOutput) {
        for outgoing in component.takeOutgoing() { output.append(outgoing.bytes) }
    }
}
