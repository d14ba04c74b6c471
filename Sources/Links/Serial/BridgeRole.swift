public import GimbalCore
public import Glibc
public import Logging
import Wire

/// A serial port behind the serial service, as on a BLE Mini: what comes from the port is gathered until it pauses and goes to
/// the clients, what they write goes to the port. Thread airframed-ble.
///
/// With a tap the gimbal's own MAVLink shares the way to the clients: the port's bytes are then cut into frames, and ours
/// go between two of them, never into one.
public final class BridgeRole: SerialRole {
    /// Silence of the port after which what has come is handed on, s: as BLE Mini's firmware does.
    private static let idleSeconds = 0.005
    /// Bytes that are handed on without waiting for silence: at 115200 baud a stream may never pause.
    private static let full = 160
    /// A frame whose end does not come within this time is no frame, s; a USB adapter may pause 16 ms within one.
    private static let tornSeconds = 0.1

    /// The name in the configuration.
    public let name = "serial"

    private var port: SerialPort
    private let tap: (any SerialRole)?
    private var parser = MAVLinkParser()
    private var gathered: [UInt8] = []
    private var heard = Instant(nanoseconds: .min)

    /// - Parameters:
    ///   - path: Device file of the port.
    ///   - tap: The gimbal's own MAVLink; nil: the port's bytes go through untouched.
    ///   - logger: When the port comes and goes.
    public init(path: String, tap: (any SerialRole)?, logger: Logger) {
        port = SerialPort(path: path, baud: 57600, log: logger)
        self.tap = tap
    }

    /// The counters by name.
    public var counts: [String: Int] {
        let counters = port.counters
        return [
            "port_received": Int(counters.received), "port_sent": Int(counters.sent),
            "port_dropped": Int(counters.dropped), "port_opened": Int(counters.opened),
        ]
    }

    /// At once, also while bytes travel.
    public func setBaud(_ bitsPerSecond: Int) { port.setBaud(bitsPerSecond) }

    /// The port, while it is there.
    public var entry: pollfd? { port.entry }

    /// Bytes for the port.
    public func receive(
        _ bytes: [UInt8], from central: Central, now: Instant, _ output: inout SerialOutput
    ) {
        _ = port.advance(now: now)
        port.send(bytes)
        tap?.receive(bytes, from: central, now: now, &output)
    }

    /// The port has bytes, or takes some again.
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

    /// Lets go of what the client moves.
    public func disconnected(_ central: Central, now: Instant) {
        tap?.disconnected(central, now: now)
    }

    /// Hands on what has waited long enough, and lets the gimbal speak.
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
        output.append(gathered)
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
