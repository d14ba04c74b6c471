import GimbalCore
import Links
import Logging
import Port
import Robot
import Wire

extension FuzzTargets {
    /// Passes a stream from a MAVLink peer to the parser in two pieces, then to a gimbal that obeys
    /// the peer. The first byte is the length of the first piece.
    public static func mavlink(_ bytes: [UInt8]) {
        guard let first = bytes.first else { return }
        let stream = Array(bytes.dropFirst())
        let cut = min(Int(first), stream.count)
        var parser = MAVLinkParser()
        var passed: [UInt8] = []
        func take() {
            while let item = parser.next() {
                switch item {
                case .frame(let frame, let bytes):
                    precondition(read(frame) == frame.payload.count || frame.version == .v2)
                    passed += bytes
                case .unknown(let bytes), .noise(let bytes): passed += bytes
                }
            }
        }
        for piece in [stream[..<cut], stream[cut...]] {
            parser.append(piece)
            take()
        }
        precondition(
            parser.pending <= MAVLinkFrame.longest, "the parser keeps more bytes than one frame")
        while parser.pending > 0 {
            parser.abandon()
            take()
        }
        // A tap forwards all received bytes unchanged.
        precondition(passed == stream, "a tap would change the bytes")
        let role = FlightDisplayRole(
            configuration: MAVLinkConfiguration(), port: FuzzPort(), attitudeHz: 20,
            logger: Logger(label: "fuzz") { _ in SwiftLogNoOpLogHandler() },
            now: Instant(nanoseconds: 0))
        var output = SerialOutput()
        let central = Central(address: "00:00:00:00:00:00", connection: 1)
        role.receive(stream, from: central, now: Instant(nanoseconds: 1), &output)
        _ = role.advance(now: Instant(nanoseconds: 2), &output)
    }

    /// Decodes the message of a frame and encodes it again. Returns the length of the payload.
    private static func read(_ frame: MAVLinkFrame) -> Int {
        guard let kind = MAVLinkCatalogue.messages.first(where: { $0.format.id == frame.id }) else {
            fatalError("a frame has a type that is not in the catalogue")
        }
        func again<Message: MAVLinkMessage>(_ kind: Message.Type) -> Int {
            guard let message = frame.message(kind) else {
                fatalError("the parser refuses an encoded frame")
            }
            let written = MAVLinkFrame(
                message, from: frame.sender, sequence: 0, version: frame.version)
            precondition(written.payload.count <= MAVLinkFrame.longestPayload, "too long")
            return frame.version == .v1 ? frame.payload.count : written.payload.count
        }
        return again(kind)
    }

    /// Decodes a datagram of a rider's remote control, and the same bytes as commands of a robot.
    public static func rider(_ bytes: [UInt8]) {
        if case .drive(let left, let right) = try? RiderCommand(datagram: bytes) {
            precondition(abs(left) <= 1 && abs(right) <= 1, "a speed exceeds full speed")
        }
        let key = SharedKey(passphrase: "fuzz")
        if let sealed = SealedRiderCommand(datagram: bytes) {
            let again = SealedRiderCommand.datagram(
                counter: sealed.counter, command: sealed.command, key: key)
            precondition(
                SealedRiderCommand(datagram: again)?.isRight(key: key) == true,
                "a received text cannot be authenticated")
        }
        var whole = RobotCommandSplitter()
        var pieces = RobotCommandSplitter()
        precondition(
            whole.append(bytes) == bytes.flatMap { pieces.append([$0]) },
            "the result depends on the pieces in which the bytes arrive")
    }
}
