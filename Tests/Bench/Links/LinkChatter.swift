import FakeBlueZ
import GimbalCore
import Glibc
import Wire

/// Ordinary clients that use all links at the same time: two clients of the socket (one with a
/// subscription), a phone that connects and disconnects, a MAVLink ground station, and a remote
/// control of the wheels. The clients take turns in control of the camera and the wheels.
final class LinkChatter {
    /// Number of messages sent, by link.
    var sent: [String: Int] { others.merging(["socket": socket.requests]) { $1 } }

    /// UDP ports on which the daemon must listen, for the remote control and for MAVLink.
    static let riderPort: UInt16 = 45031
    static let mavlinkPort: UInt16 = 45032
    /// Time for which one client is in control, ms.
    private static let turnMilliseconds = 20_000
    /// D-Bus paths of the AirOS service's characteristics for mode and control.
    private static let mode = "/org/airframe/service0/char04"
    private static let control = "/org/airframe/service0/char05"
    private static let station = MAVLinkAddress(system: 255, component: 190)

    private enum Turn: Int, CaseIterable { case socket, phone, station, rider }

    private let radio: FakeBlueZ
    private var socket: SocketChatter
    private var others: [String: Int] = [:]
    private var rider: BenchSocket?
    private var ground: BenchSocket?
    private var sequence: UInt8 = 0
    private var isPhoneHere = false

    /// Creates the clients.
    ///
    /// - Parameters:
    ///   - path: The diagnostics socket.
    ///   - radio: The fake bluetoothd.
    init(path: String, radio: FakeBlueZ) {
        socket = SocketChatter(path: path)
        self.radio = radio
        rider = try? BenchSocket(to: Self.riderPort)
        ground = try? BenchSocket(to: Self.mavlinkPort)
    }

    /// Performs the actions of one millisecond.
    func advance(_ millisecond: Int) {
        let index = millisecond / Self.turnMilliseconds % Turn.allCases.count
        let turn = Turn(rawValue: index) ?? .socket
        if millisecond % 100 == 0 { socket.ask(millisecond / 100, isPointing: turn == .socket) }
        if millisecond % 25 == 0 { phone(millisecond / 25, isInTurn: turn == .phone) }
        if millisecond % 50 == 0 { fly(millisecond / 50, isInTurn: turn == .station) }
        if millisecond % 50 == 0 { drive(millisecond / 50, isInTurn: turn == .rider) }
        if millisecond % 10 == 0 {
            socket.listen()
            while ground?.receive(milliseconds: 0) != nil {}
            radio.process()
        }
    }

    private func phone(_ count: Int, isInTurn: Bool) {
        // From time to time the phone disconnects without warning.
        let isHere = count % 1600 < 1400
        if isHere != isPhoneHere {
            isPhoneHere = isHere
            radio.connect(FakeBlueZ.phone, isHere)
        }
        guard isHere else { return }
        if isInTurn {
            let rate = count % 80 < 40 ? "2.00" : "-2.00"
            if count % 400 == 0 { radio.write(Self.mode, [4]) }
            radio.write(Self.control, Array("track_pan:\(rate)".utf8))
        } else if count % 8 == 0 {
            let places = radio.characteristics
            if !places.isEmpty { radio.read(places[count / 8 % places.count]) }
        }
        others["phone", default: 0] += 1
    }

    private func fly(_ count: Int, isInTurn: Bool) {
        var frames: [[UInt8]] = []
        if count % 20 == 0 {
            frames.append(Heartbeat().frame(from: Self.station, sequence: sequence))
        }
        if isInTurn, count % 4 == 0 {
            var order = CommandLong()
            order.command = MAVLinkCommand.gimbalManagerPitchYaw.rawValue
            order.params = [Float(count % 10 - 5), 0, .nan, .nan, 0, 0, 0]
            order.target = MAVLinkAddress(system: 1, component: 154)
            frames.append(order.frame(from: Self.station, sequence: sequence))
        }
        for frame in frames {
            sequence &+= 1
            ground?.send(frame)
            others["MAVLink", default: 0] += 1
        }
    }

    private func drive(_ count: Int, isInTurn: Bool) {
        let speed = isInTurn ? count % 40 - 20 : 0
        rider?.send(#"{"left":\#(speed),"right":\#(-speed),"timestamp":\#(count)}"#)
        others["rider", default: 0] += 1
    }
}
