import GimbalCore
import Links
import Synchronization
import Testing
import Wire

@Suite("RedBearLab's serial service") struct RBLServiceTests {
    /// Sends `length` bytes at each call of `advance`, and records received data.
    private final class Telemetry: SerialRole {
        let name = "telemetry"
        var period = 0.01
        var message = 0
        var length = 36
        var received: [UInt8] = []
        var bauds: [Int] = []
        var gone: [Central] = []
        /// Bytes that are an emergency stop of the role; nil if it has none.
        var stop: [UInt8]?

        func isEmergencyStop(_ bytes: [UInt8]) -> Bool { bytes == stop }
        func receive(
            _ bytes: [UInt8], from central: Central, now: Instant, _ output: inout SerialOutput
        ) { received += bytes }
        func setBaud(_ bitsPerSecond: Int) { bauds.append(bitsPerSecond) }
        func disconnected(_ central: Central, now: Instant) { gone.append(central) }
        func advance(now: Instant, _ output: inout SerialOutput) -> Instant? {
            message += 1
            output.append([UInt8](repeating: UInt8(truncatingIfNeeded: message), count: length))
            return now.advanced(bySeconds: period)
        }
    }

    private let store = FakePort()
    private let radio = FakeRadio()
    private let log = LineLog()

    private func service(_ role: any SerialRole = LoopbackRole()) -> RBLService {
        RBLService(port: store, role: role, logger: log.logger)
    }

    private func uuid(_ characteristic: RBLCharacteristic) -> GATTUUID {
        GATTUUID(characteristic.rawValue)
    }

    private func write(
        _ service: RBLService, _ characteristic: RBLCharacteristic, _ value: [UInt8],
        _ seconds: Double = 0
    ) throws(ATTError) {
        try service.write(uuid(characteristic), value, by: .iPad, now: at(seconds), radio)
    }

    private func text(_ service: RBLService, _ characteristic: RBLCharacteristic) throws -> String {
        String(
            decoding: try service.read(uuid(characteristic), by: .iPad, now: at(0)), as: UTF8.self)
    }

    /// Advances until nothing is due before `end`.
    private func run(_ service: RBLService, from start: Double, to end: Double, mtu: Int = 23) {
        var now = at(start)
        while now < at(end) {
            guard let next = service.advance(now: now, mtu: mtu, radio) else { return }
            now = max(next, now.advanced(bySeconds: 1e-4))
        }
    }

    @Test("has the table of BLE Mini, and the speed can be written without response")
    func table() {
        let service = service()
        #expect(service.uuid.description == "713d0000-503e-4c75-ba94-3148f18d941e")
        #expect(service.advertisedName == "AirOS Gimbal")
        #expect(
            service.characteristics.map(\.properties) == [
                [.notify], [.writeWithoutResponse], [.read, .write, .writeWithoutResponse],
                [.read, .write], [.read], [.read, .write],
            ])
        #expect(service.characteristics.map(\.name) == (2...7).map { "Characteristic \($0)" })
    }

    @Test("a value that is written as a byte is read as text")
    func values() throws {
        let service = service()
        #expect(try text(service, .baud) == "BAUD_57600")
        #expect(try text(service, .name) == "AirOS Gimbal")
        #expect(try text(service, .version) == "Biscuit_2.0")
        #expect(try text(service, .transmitPower) == "0 dBm")
        try write(service, .baud, [4])
        try write(service, .name, Array("Turm 2 ö".utf8))
        try write(service, .transmitPower, [3])
        #expect(try text(service, .baud) == "BAUD_115200")
        #expect(try text(service, .name) == "Turm 2 ö")
        #expect(service.advertisedName == "Turm 2 ö")
        #expect(try text(service, .transmitPower) == "+4 dBm")
    }

    @Test("refuses the same values as the firmware, and counts invalid speeds")
    func refusals() throws {
        let service = service()
        #expect(throws: ATTError.outOfRange) { try write(service, .baud, [5]) }
        #expect(throws: ATTError.invalidLength) { try write(service, .baud, []) }
        #expect(throws: ATTError.invalidLength) { try write(service, .baud, [3, 0]) }
        #expect(throws: ATTError.outOfRange) { try write(service, .transmitPower, [4]) }
        #expect(throws: ATTError.invalidLength) { try write(service, .name, []) }
        #expect(throws: ATTError.invalidLength) {
            try write(service, .name, [UInt8](repeating: 0x61, count: 21))
        }
        #expect(throws: ATTError.malformed) { try write(service, .name, [0xFF]) }
        #expect(throws: ATTError.notSupported) { try write(service, .version, [1]) }
        #expect(throws: ATTError.notSupported) { try write(service, .transmit, [1]) }
        #expect(throws: ATTError.notSupported) { try text(service, .receive) }
        #expect(service.counters.invalidBauds == 3)
        #expect(service.counts["invalid_bauds"] == 3)
        #expect(service.counters.refusals == 10)
        #expect(log.lines.count == 10)
        #expect(store.memory.withLock { $0.saves.count } == 0)
        #expect(try text(service, .baud) == "BAUD_57600")
    }

    @Test("writing an unchanged speed at every connection does not write to the disk")
    func unchangedBaud() throws {
        let role = Telemetry()
        let service = service(role)
        for _ in 0..<100 { try write(service, .baud, [3]) }
        try write(service, .name, Array("AirOS Gimbal".utf8))
        #expect(store.memory.withLock { $0.saves.count } == 0)
        #expect(role.bauds.last == 57600)
    }

    @Test("loopback returns a client's bytes in order, in pieces of 20 bytes")
    func loopback() throws {
        let service = service()
        service.subscription(uuid(.transmit), isOn: true, now: at(0))
        let sent = (0..<100).map { UInt8($0) }
        for start in stride(from: 0, to: 100, by: 20) {
            try write(service, .receive, Array(sent[start..<(start + 20)]))
        }
        run(service, from: 0, to: 1)
        #expect(radio.sent.map(\.value.count) == [20, 20, 20, 20, 20])
        #expect(radio.sent.allSatisfy { $0.uuid == uuid(.transmit) })
        #expect(radio.takeBytes() == sent)
        #expect(service.counters.receivedBytes == 100)
        #expect(service.counters.output.sentBytes == 100)
    }

    @Test(
        "a notification is as long as the MTU allows, but not longer than 512 bytes",
        arguments: [(23, 20), (185, 182), (517, 512)])
    func mtu(mtu: Int, longest: Int) throws {
        let service = service()
        service.subscription(uuid(.transmit), isOn: true, now: at(0))
        for _ in 0..<2 { try write(service, .receive, [UInt8](repeating: 1, count: 400)) }
        run(service, from: 0, to: 2, mtu: mtu)
        #expect(radio.sent.map(\.value.count).max() == longest)
        #expect(radio.takeBytes().count == 800)
    }

    @Test("without a listener no data are queued and no deadline is set")
    func silence() throws {
        let role = Telemetry()
        let service = service(role)
        #expect(service.advance(now: at(0), mtu: 23, radio) == nil)
        #expect(role.message == 0)
        service.subscription(uuid(.transmit), isOn: true, now: at(1))
        run(service, from: 1, to: 1.1)
        #expect(!radio.take().isEmpty)
        service.subscription(uuid(.transmit), isOn: false, now: at(1.1))
        #expect(service.advance(now: at(2), mtu: 23, radio) == nil)
        service.subscription(uuid(.transmit), isOn: true, now: at(3))
        _ = service.advance(now: at(3), mtu: 23, radio)
        // A new listener first gets the message of that moment.
        #expect(radio.sent.first?.value.first == UInt8(role.message))
    }

    @Test(
        "a role that sends too much loses the oldest whole messages, and delivered data are recent")
    func backPressure() {
        let role = Telemetry()
        role.period = 0.002
        let service = service(role)
        service.subscription(uuid(.transmit), isOn: true, now: at(0))
        run(service, from: 0, to: 10)
        let pieces = radio.sent.count
        #expect(abs(Double(pieces) - 10 * RBLService.piecesPerSecond) <= 5, "\(pieces)")
        let bytes = radio.takeBytes()
        // Every message arrives complete, in runs of exactly 36 bytes, except for the last one.
        var runs: [(value: UInt8, count: Int)] = []
        for byte in bytes {
            if runs.last?.value == byte {
                runs[runs.count - 1].count += 1
            } else {
                runs.append((byte, 1))
            }
        }
        #expect(runs.dropLast().allSatisfy { $0.count == 36 })
        let counters = service.counters.output
        #expect(counters.droppedMessages > 4000)
        #expect(counters.droppedBytes == 36 * counters.droppedMessages)
        // The last message that was sent is at most as old as the queue's content plus one pause of
        // 8 ms.
        let age = role.message - (role.message & ~0xFF | Int(runs.last?.value ?? 0))
        #expect(age >= 0 && age <= 1024 / 36 + 6, "\(age)")
    }

    @Test("the messages of a flight display at 50 Hz fit into notifications of 20 bytes")
    func fastDisplay() {
        let role = FlightDisplayRole(
            configuration: MAVLinkConfiguration(), port: store, attitudeHz: 50,
            logger: log.logger, now: at(0))
        let service = service(role)
        service.subscription(uuid(.transmit), isOn: true, now: at(0))
        // An excess of 17 bytes per second would fill the queue of 1024 bytes after a minute.
        run(service, from: 0, to: 100)
        #expect(service.counters.output.droppedMessages == 0)
        var parser = MAVLinkParser()
        var attitudes = 0
        for piece in radio.take() {
            parser.append(piece.value)
            while let item = parser.next() {
                if case .frame(let frame, _) = item, frame.id == AttitudeReport.format.id {
                    attitudes += 1
                }
            }
        }
        #expect(abs(attitudes - 5000) <= 5, "\(attitudes)")
    }

    @Test("after a pause a message of two notifications is sent immediately")
    func burst() {
        let role = Telemetry()
        role.period = 1
        let service = service(role)
        service.subscription(uuid(.transmit), isOn: true, now: at(0))
        _ = service.advance(now: at(0), mtu: 23, radio)
        #expect(radio.take().map(\.value.count) == [20, 16])
    }

    @Test("a message longer than the queue is dropped, and other messages are kept")
    func giant() {
        var output = SerialOutput(capacity: 100)
        output.append([1, 2, 3])
        output.append([UInt8](repeating: 0, count: 101))
        #expect(output.count == 3)
        #expect(output.counters.droppedMessages == 1)
        #expect(output.next(20) == [1, 2, 3])
        #expect(output.count == 0)
    }

    @Test("a message that has been sent partly is completed, regardless of later messages")
    func begun() {
        var output = SerialOutput(capacity: 60)
        output.append([UInt8](repeating: 1, count: 40))
        #expect(output.next(20) == [UInt8](repeating: 1, count: 20))
        output.append([UInt8](repeating: 2, count: 30))
        output.append([UInt8](repeating: 3, count: 30))
        #expect(output.next(20) == [UInt8](repeating: 1, count: 20))
        #expect(output.next(60) == [UInt8](repeating: 3, count: 30))
        #expect(output.counters.droppedBytes == 30)
    }

    @Test("the first byte from each client selects MAVLink or robot commands")
    func auto() throws {
        let mavlink = Telemetry()
        let robot = Telemetry()
        let role = AutoRole(mavlink: mavlink, robot: robot)
        var output = SerialOutput()
        func receive(_ bytes: [UInt8], _ central: Central) {
            role.receive(bytes, from: central, now: at(0), &output)
        }
        receive([0x00, 0xFE], .iPad)
        receive(Array("x>".utf8), .iPad)
        #expect(mavlink.received.isEmpty && robot.received.isEmpty)
        receive([0xFE, 9], .iPad)
        receive(Array("F>".utf8), .iPad)
        #expect(mavlink.received == [0xFE, 9] + Array("F>".utf8))
        for letter in "FBSRLUD".utf8 {
            let client = Central(address: "", connection: 10 + Int(letter))
            receive([letter], client)
        }
        #expect(robot.received == Array("FBSRLUD".utf8))
        role.disconnected(.iPad, now: at(1))
        #expect(mavlink.gone == [.iPad] && robot.gone == [.iPad])
        receive(Array("L-45>".utf8), .iPad)
        #expect(robot.received.suffix(5) == Array("L-45>".utf8))
        // Line ends between commands have no meaning, also before the first command.
        receive(Array("\r\nE>".utf8), .iPhone)
        #expect(robot.received.suffix(4) == Array("\r\nE>".utf8))
        // The last byte of a MAVLink frame can equal a line end.
        let phone = Central(address: "", connection: 9)
        receive([0xFE], phone)
        receive([0x0A], phone)
        #expect(mavlink.received.suffix(2) == [0xFE, 0x0A])
    }

    @Test("with the role auto, an emergency stop of the other kind is executed, too")
    func stopOfOtherKind() {
        let (mavlink, robot) = (Telemetry(), Telemetry())
        mavlink.stop = [0xFE, 1]
        let role = AutoRole(mavlink: mavlink, robot: robot)
        var output = SerialOutput()
        func receive(_ bytes: [UInt8], _ central: Central) {
            role.receive(bytes, from: central, now: at(0), &output)
        }
        receive([0xFE, 9], .iPad)
        receive(Array("\nE>".utf8), .iPad)
        #expect(robot.received == Array("\nE>".utf8))
        // A part of a frame that contains the bytes of the command.
        receive([0, 7] + Array(">E>".utf8), .iPad)
        receive(Array("E>".utf8) + [0], .iPad)
        #expect(robot.received.count == 3 && mavlink.received.count == 2 + 5 + 3)
        receive(Array("F>".utf8), .iPhone)
        receive([0xFE, 1], .iPhone)
        #expect(mavlink.received.suffix(2) == [0xFE, 1])
        receive(Array("S>".utf8), .iPhone)
        #expect(robot.received.suffix(4) == Array("F>S>".utf8))
    }

    @Test("random bytes do not crash the service, and no piece exceeds 20 bytes")
    func random() {
        let service = service()
        service.subscription(uuid(.transmit), isOn: true, now: at(0))
        var generator = SystemRandomNumberGenerator()
        for index in 0..<20_000 {
            let count = Int.random(in: 0...64, using: &generator)
            let value = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
            let target = RBLCharacteristic.allCases[index % 6]
            try? write(service, target, value, Double(index) / 1000)
            _ = try? service.read(uuid(target), by: .iPhone, now: at(Double(index) / 1000))
            _ = service.advance(now: at(Double(index) / 1000), mtu: 23, radio)
        }
        #expect((1...20).contains(service.advertisedName.utf8.count))
        #expect(radio.sent.allSatisfy { $0.value.count <= 20 })
    }
}
