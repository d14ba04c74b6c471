import GimbalCore
import Port
import Robot
import Synchronization
import Testing
import Wire

@testable import Links

@Suite("The UDP port for remote controls of the wheels") struct RiderStationTests {
    /// Wheels that belong to the first client that drives them.
    private let wheels = FakePort()
    private let app = DatagramAddress(host: "192.168.4.2", port: 50001)
    private let stranger = DatagramAddress(host: "192.168.4.3", port: 50001)

    init() { wheels.memory.withLock { $0.isOwned = true } }

    private func send(
        _ text: String, _ seconds: Double, from address: DatagramAddress?,
        _ station: inout RiderStation
    ) throws {
        station.receive(Array(text.utf8), from: try #require(address), now: at(seconds))
    }

    @Test("a new remote control must have its stick in the middle before it can drive")
    func newPort() throws {
        var station = RiderStation(port: wheels, logger: LineLog().logger)
        for second in 0..<5 { try send("83,83,0", Double(second) / 10, from: app, &station) }
        #expect(wheels.asked.isEmpty)
        #expect(station.counters.waitingForZero == 5)
        try send("0,0,0", 0.5, from: app, &station)
        try send("83,83,0", 0.6, from: app, &station)
        #expect(wheels.asked.last == MotionRequest.drive(left: 0.83, right: 0.83).words)
    }

    @Test("after a silence longer than the dead-man time the stick must be in the middle first")
    func zeroFirst() throws {
        var station = RiderStation(port: wheels, logger: LineLog().logger)
        try send("0,0,0", 0, from: app, &station)
        try send("50,50,0", 0.9, from: app, &station)
        try send("50,50,0", 2.0, from: app, &station)
        #expect(station.counters.waitingForZero == 1)
        try send("0,0,0", 2.1, from: app, &station)
        try send("50,50,0", 2.2, from: app, &station)
        #expect(station.counters.accepted == 4)
        #expect(wheels.asked.count == 4)
    }

    @Test("a malformed datagram does not count as a sign of life")
    func malformed() throws {
        var station = RiderStation(port: wheels, logger: LineLog().logger)
        try send("0,0,0", 0, from: app, &station)
        for tenth in 1...11 { try send("rubbish", Double(tenth) / 10, from: app, &station) }
        try send("50,50,0", 1.15, from: app, &station)
        #expect(station.counters.malformed == 11)
        #expect(station.counters.waitingForZero == 1)
    }

    @Test("any number of strangers can neither drive nor displace the present driver")
    func strangers() throws {
        var station = RiderStation(port: wheels, logger: LineLog().logger)
        try send("0,0,0", 0, from: app, &station)
        for port in 1...200 as ClosedRange<UInt16> {
            let other = DatagramAddress(host: "10.0.0.1", port: port)
            try send("0,0,0", 0.001 * Double(port), from: other, &station)
        }
        try send("40,40,0", 0.3, from: app, &station)
        #expect(station.counters.refused == 200)
        #expect(
            wheels.asked == [
                MotionRequest.drive(left: 0, right: 0).words,
                MotionRequest.drive(left: 0.4, right: 0.4).words,
            ])
        #expect(station.peers(now: at(0.3)) == ["192.168.4.2:50001"])
    }

    @Test("a new port of the host continues a silent remote control; another host is refused")
    func reconnection() throws {
        var station = RiderStation(port: wheels, logger: LineLog().logger)
        let reconnected = DatagramAddress(host: "192.168.4.2", port: 50002)
        try send("0,0,0", 0, from: app, &station)
        try send("0,0,0", 0.5, from: reconnected, &station)
        #expect(station.counters.refused == 1)
        try send("0,0,0", 1.1, from: stranger, &station)
        #expect(station.counters.refused == 2)
        #expect(station.peers(now: at(1.1)) == ["192.168.4.2:50001"])
        try send("50,50,0", 1.15, from: reconnected, &station)
        #expect(station.counters.waitingForZero == 1)
        // The wheels belong to the first connection number.
        try send("0,0,0", 1.2, from: reconnected, &station)
        try send("50,50,0", 1.3, from: reconnected, &station)
        #expect(station.counters.accepted == 3)
        #expect(wheels.asked.last == MotionRequest.drive(left: 0.5, right: 0.5).words)
        #expect(station.peers(now: at(1.3)) == ["192.168.4.2:50002"])
        try send("0,0,0", 1.4, from: app, &station)
        try send("0,0,0", 1.4, from: stranger, &station)
        #expect(station.counters.refused == 4)
    }

    @Test("a refused remote control needs its stick in the middle once the wheels are free")
    func refusal() throws {
        var station = RiderStation(port: wheels, logger: LineLog().logger)
        try send("0,0,0", 0, from: app, &station)
        wheels.memory.withLock { $0.owner = CommandSource(link: .udp, connection: 99) }
        try send("10,10,0", 0.1, from: app, &station)
        wheels.memory.withLock { $0.owner = nil }
        try send("10,10,0", 0.2, from: app, &station)
        #expect(station.counters.refused == 1)
        #expect(station.counters.waitingForZero == 1)
        try send("0,0,0", 0.3, from: app, &station)
        try send("10,10,0", 0.4, from: app, &station)
        #expect(station.counters.accepted == 3)
    }

    @Test("the first genuine command after a long pause waits for the disk, and is not a forgery")
    func pause() throws {
        let key = SharedKey(passphrase: "correct horse")
        let log = LineLog()
        var saved: UInt64 = 60_000
        // The file gets a greater value after the first request, as in `FreshnessFile`.
        func admits(_ counter: UInt64) -> Bool {
            defer { saved = max(saved, counter + 60_000) }
            return counter <= saved
        }
        var station = RiderStation(port: wheels, key: key, admits: admits, logger: log.logger)
        for counter: UInt64 in [1000, 600_000, 600_020] {
            let datagram = SealedRiderCommand.datagram(
                counter: counter, command: Array("0,0,0".utf8), key: key)
            station.receive(
                datagram, from: try #require(app), now: at(Double(counter) / 1000))
        }
        #expect(station.counters.accepted == 2 && station.counters.waitingForDisk == 1)
        #expect(station.counters.unsigned == 0)
        #expect(log.lines.contains { $0.contains("sent its first command after a pause") })
        #expect(!log.lines.contains { $0.contains("not signed with the key") })
    }

    @Test("with a key, a command must be authentic and new, but a stop is always accepted")
    func key() throws {
        let key = SharedKey(passphrase: "correct horse")
        var station = RiderStation(
            port: wheels, key: key, newest: 1000, logger: LineLog().logger)
        func send(_ counter: UInt64, _ text: String, _ key: SharedKey) throws {
            let bytes = SealedRiderCommand.datagram(
                counter: counter, command: Array(text.utf8), key: key)
            station.receive(bytes, from: try #require(app), now: at(Double(counter) / 1000))
        }
        try self.send("0,0,0", 0, from: app, &station)
        try send(1000, "0,0,0", key)
        try send(1001, "0,0,0", SharedKey(passphrase: "another"))
        #expect(station.counters.unsigned == 3 && wheels.asked.isEmpty)
        try send(1001, "0,0,0", key)
        try send(1002, #"{"left":40,"right":40}"#, key)
        try send(1002, #"{"left":40,"right":40}"#, key)
        #expect(station.counters.accepted == 2 && station.counters.unsigned == 4)
        #expect(station.newest == 1002)
        try self.send(#"{"command":"reset_emergency_stop"}"#, 1.1, from: stranger, &station)
        try self.send(#"{"command":"emergency_stop"}"#, 1.1, from: app, &station)
        #expect(station.counters.unsigned == 5)
        #expect(wheels.asked.last == MotionRequest.emergencyStop.words)
    }
}
