public import GimbalCore
public import Glibc
public import Logging
import Wire

/// Bridge from the Bluetooth serial service to a serial port, as on a BLE Mini. The bridge collects
/// bytes from the port until the port pauses, then sends them to the clients. The bridge writes the
/// clients' bytes to the port immediately. Only the thread airframed-ble uses this type.
///
/// With the setting `rbl.tap`, the gimbal's own MAVLink messages use the same link to the clients.
/// With this setting, the bridge splits the bytes from the port into frames, and sends the gimbal's
/// frames between the port's frames.
public final class BridgeRole: SerialRole {
    /// Idle time of the port after which the bridge sends the collected bytes, s. The firmware of
    /// the BLE Mini uses the same pause.
    private static let idleSeconds = 0.005
    /// Limit of the collected bytes; at this limit, the bridge sends the bytes without waiting for
    /// a pause. A stream at 115200 baud may have no pauses.
    private static let full = 160
    /// Timeout for the reception of one frame from the port, s; a USB adapter can pause for 16 ms
    /// within a frame.
    private static let tornSeconds = 0.1

    /// Name of the role in the setting `rbl.role`.
    public let name = "serial"

    private var port: SerialPort
    private let tap: (any SerialRole)?
    private var parser = MAVLinkParser()
    private var gathered: [UInt8] = []
    private var heard = Instant(nanoseconds: .min)

    /// - Parameters:
    ///   - path: Device file of the serial port.
    ///   - tap: Role for the gimbal's own MAVLink messages; nil if the port's bytes are passed on
    ///     unchanged.
    ///   - logger: Log for the opening and the loss of the port.
    public init(path: String, tap: (any SerialRole)?, logger: Logger) {
        port = SerialPort(path: path, baud: 57600, log: logger)
        self.tap = tap
    }

    /// The counters of the serial port, by name.
    public var counts: [String: Int] {
        let counters = port.counters
        return [
            "port_received": Int(counters.received), "port_sent": Int(counters.sent),
            "port_dropped": Int(counters.dropped), "port_opened": Int(counters.opened),
        ]
    }

    /// Speed of the serial port; a change takes effect immediately, even during a transfer.
    public func setBaud(_ bitsPerSecond: Int) { port.setBaud(bitsPerSecond) }

    /// Descriptor and events of the serial port for poll(2); nil while the port is closed.
    public var entry: pollfd? { port.entry }

    /// Writes a client's bytes to the serial port.
    public func receive(
        _ bytes: [UInt8], from central: Central, now: Instant, _ output: inout SerialOutput
    ) {
        _ = port.advance(now: now)
        port.send(bytes)
        tap?.receive(bytes, from: central, now: now, &output)
    }

    /// True if the bytes are an emergency stop of the tap, which also receives the clients' bytes.
    public func isEmergencyStop(_ bytes: [UInt8]) -> Bool { tap?.isEmergencyStop(bytes) ?? false }

    /// Reads from or writes to the serial port after an event of poll(2).
    public func ready(now: Instant, _ output: inout SerialOutput) {
        port.flush()
        let bytes = port.receive()
        guard !bytes.isEmpty else { return }
        heard = now
        if tap == nil {
            gathered += bytes
            if gathered.count >= Self.full { handOn(&output) }
        } else {
            parser.append(bytes)
            takeFrames(&output)
        }
    }

    /// Discards the bytes from the port that have not been sent, so that the next subscriber does
    /// not receive old bytes.
    public func discard() {
        gathered = []
        parser = MAVLinkParser()
        tap?.discard()
    }

    /// Ends the motion that the client has requested.
    public func disconnected(_ central: Central, now: Instant) {
        tap?.disconnected(central, now: now)
    }

    /// Sends the port's bytes that have waited long enough, then the gimbal's MAVLink frames.
    public func advance(now: Instant, _ output: inout SerialOutput) -> Instant? {
        var next = [port.advance(now: now), tap?.advance(now: now, &output)]
        if !gathered.isEmpty {
            let idle = heard.advanced(bySeconds: Self.idleSeconds)
            if now >= idle { handOn(&output) } else { next.append(idle) }
        }
        if parser.pending > 0 {
            let torn = heard.advanced(bySeconds: Self.tornSeconds)
            if now >= torn { abandonFrame(&output) } else { next.append(torn) }
        }
        return next.compactMap(\.self).min()
    }

    private func handOn(_ output: inout SerialOutput) {
        // One read can contain more bytes than the queue. In pieces, only the oldest are dropped.
        for start in stride(from: 0, to: gathered.count, by: Self.full) {
            output.append(Array(gathered[start..<min(start + Self.full, gathered.count)]))
        }
        gathered = []
    }

    private func takeFrames(_ output: inout SerialOutput) {
        while let item = parser.next() {
            switch item {
            case .frame(_, let bytes), .unknown(let bytes), .noise(let bytes):
                output.append(bytes)
            }
        }
    }

    private func abandonFrame(_ output: inout SerialOutput) {
        while parser.pending > 0 {
            parser.abandon()
            takeFrames(&output)
        }
    }
}
