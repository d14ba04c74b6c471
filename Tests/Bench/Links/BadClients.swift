import FakeBlueZ
import GimbalCore
import Glibc
import Realtime

/// Hostile clients of every link. On the socket, the first client sends requests without pause, the
/// second client never reads, and the third client never completes a line. A phone writes invalid
/// bytes at full speed to both Bluetooth services. Other senders flood the UDP ports and a serial
/// line with invalid or truncated frames.
final class BadClients {
    /// Numbers of actions by the hostile clients.
    struct Counts {
        var requests = 0
        var dropped = 0
        var halves = 0
        var writes = 0
        var datagrams = 0
        var serialBytes = 0

        mutating func add(_ other: Counts) {
            requests += other.requests
            dropped += other.dropped
            halves += other.halves
            writes += other.writes
            datagrams += other.datagrams
            serialBytes += other.serialBytes
        }
    }

    private(set) var counts = Counts()
    private let path: String
    private let radio: FakeBlueZ
    /// Client of the socket that requests all settings repeatedly, and never reads a reply.
    private var flood: BenchClient?
    /// Client of the socket that subscribes to two variables at the highest rate, and never reads a
    /// message.
    private var deaf: BenchClient?
    /// Client of the socket that sends a byte from time to time, but no end of line.
    private var half: BenchClient?

    private let strangers: [BenchSocket]
    /// Serial line whose output is never read.
    private let line: BenchSerialLine

    /// Creates the clients.
    ///
    /// - Parameters:
    ///   - path: The diagnostics socket.
    ///   - radio: The fake bluetoothd.
    ///   - ports: UDP ports of this computer.
    ///   - line: The bench's end of the daemon's serial line.
    init(_ path: String, _ radio: FakeBlueZ, ports: [UInt16], line: BenchSerialLine) {
        self.path = path
        self.radio = radio
        self.line = line
        strangers = ports.compactMap { try? BenchSocket(to: $0) }
    }

    /// Runs the clients for `seconds`.
    func live(seconds: Double) {
        radio.connect(FakeBlueZ.phone, true)
        let deadline = MonotonicClock.now.advanced(bySeconds: seconds)
        var turn = 0
        while MonotonicClock.now < deadline {
            turn += 1
            onTheSocket(turn)
            overTheRadio(turn)
            overTheNetwork(turn)
            overTheLine(turn)
            usleep(200)
        }
        flood = nil
        deaf = nil
        half = nil
    }

    private func onTheSocket(_ turn: Int) {
        // From time to time the requesting client disconnects while its requests are unanswered.
        if flood == nil || turn % 200 == 0 { flood = BenchClient(path) }
        for _ in 0..<10 {
            guard let flood, flood.send(#"{"id":1,"method":"get"}"#) else { break }
            counts.requests += 1
        }
        if flood?.isClosed == true {
            counts.dropped += 1
            flood = nil
        }
        if deaf == nil || turn % 500 == 0 {
            deaf = BenchClient(path)
            _ = deaf?.send(
                #"{"id":1,"method":"subscribe","params":{"names":["attitude.yaw","state"],"rate":1000}}"#
            )
        }
        if half == nil || turn % 1000 == 0 { half = BenchClient(path) }
        if half?.sendPart(#"{"id":1,"meth"#) == true { counts.halves += 1 }
        if half?.isClosed == true { half = nil }
    }

    private func overTheRadio(_ turn: Int) {
        let places = radio.characteristics
        guard !places.isEmpty else { return }
        let place = places[turn % places.count]
        if turn % 10 == 0 {
            radio.callWrongly(place, turn / 10 % 4)
        } else {
            radio.write(place, Self.nonsense(turn))
        }
        counts.writes += 1
        radio.process()
    }

    /// Invalid beginnings of MAVLink frames, and malformed datagrams for the remote control's port.
    private static let beginnings: [[UInt8]] = [
        [0xFD, 0xFF], Array("1e999,".utf8), Array("{\"left\":".utf8),
    ]

    private func overTheNetwork(_ turn: Int) {
        for stranger in strangers {
            stranger.send(Self.beginnings[turn % Self.beginnings.count] + Self.nonsense(turn))
            counts.datagrams += 1
        }
    }

    private func overTheLine(_ turn: Int) {
        counts.serialBytes += line.send(Self.beginnings[0] + Self.nonsense(turn))
    }

    private static func nonsense(_ turn: Int) -> [UInt8] {
        (0..<(turn % 40)).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ turn) }
    }
}
