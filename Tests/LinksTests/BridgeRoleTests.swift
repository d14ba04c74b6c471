import CLinuxShim
import Configuration
import GimbalCore
import Glibc
import SystemPackage
import TestSupport
import Testing
import Wire

@testable import Links

@Suite("A serial port connected to the serial service") struct BridgeRoleTests {
    /// The far end of the line: a pseudoterminal behind a symbolic link, as udev makes them.
    private final class Line {
        /// TIOCSPTLCK, TIOCGPTN and FIONREAD, which Swift's Glibc module does not export.
        private static let setLock: UInt = 0x4004_5431
        private static let getNumber: UInt = 0x8004_5430
        private static let getWaiting: UInt = 0x541B

        let path: String
        private(set) var master: Int32 = -1

        init(in directory: FilePath) { path = "\(directory)/tty" }

        deinit { pullOut() }

        /// Plugs an adapter in.
        func plugIn() throws {
            master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK)
            var isLocked: Int32 = 0
            var number: UInt32 = 0
            guard master >= 0, ioctl(master, Self.setLock, &isLocked) == 0,
                ioctl(master, Self.getNumber, &number) == 0
            else { throw Errno(rawValue: errno) }
            unlink(path)
            guard symlink("/dev/pts/\(number)", path) == 0 else { throw Errno(rawValue: errno) }
        }

        func pullOut() {
            if master >= 0 { close(master) }
            master = -1
            unlink(path)
        }

        /// Sends bytes from the radio to the port.
        func send(_ bytes: [UInt8]) -> Int { write(master, bytes, bytes.count) }

        /// Receives bytes that the port sent to the radio.
        func receive() -> [UInt8] {
            var bytes = [UInt8](repeating: 0, count: 65536)
            let count = read(master, &bytes, bytes.count)
            return Array(bytes.prefix(max(count, 0)))
        }

        /// Number of bytes that wait for a read of the port.
        static func waiting(_ port: Int32) -> Int {
            var count: Int32 = 0
            return ioctl(port, getWaiting, &count) == 0 ? Int(count) : -1
        }

        var baud: UInt32 {
            var baud: UInt32 = 0
            _ = cl_serial_baud(master, &baud)
            return baud
        }
    }

    private func withLine(_ body: (Line) throws -> Void) throws {
        try withTemporaryDirectory { try body(Line(in: $0)) }
    }

    private func role(_ line: Line, tap: (any SerialRole)? = nil) -> BridgeRole {
        BridgeRole(path: line.path, tap: tap, logger: LineLog().logger)
    }

    @Test("of a block that is longer than the queue, only the oldest part is dropped")
    func longBlock() throws {
        try withLine { line in
            try line.plugIn()
            let role = role(line)
            var output = SerialOutput()
            _ = role.advance(now: at(0), &output)
            let block = (0..<3000).map { UInt8($0 % 251) }
            #expect(line.send(block) == block.count)
            // The kernel passes a block to the port in parts; here, one read must contain all.
            let port = try #require(role.entry).fd
            #expect(eventually(within: 5) { Line.waiting(port) == block.count })
            role.ready(now: at(1), &output)
            _ = role.advance(now: at(1.1), &output)
            #expect(role.counts["port_received"] == block.count)
            let kept = output.next(10_000)
            #expect(kept.count > 800 && kept == Array(block.suffix(kept.count)))
        }
    }

    @Test(
        "bytes are forwarded together after a pause of 5 ms; a continuous stream is forwarded at once"
    )
    func gathering() throws {
        try withLine { line in
            try line.plugIn()
            let role = role(line)
            var output = SerialOutput()
            _ = role.advance(now: at(0), &output)
            #expect(line.send(Array("abc".utf8)) == 3)
            role.ready(now: at(1), &output)
            #expect(role.advance(now: at(1.004), &output) == at(1.005))
            #expect(output.count == 0)
            #expect(line.send(Array("def".utf8)) == 3)
            role.ready(now: at(1.004), &output)
            #expect(role.advance(now: at(1.008), &output) == at(1.009))
            _ = role.advance(now: at(1.009), &output)
            #expect(output.next(100) == Array("abcdef".utf8))
            #expect(line.send([UInt8](repeating: 7, count: 200)) == 200)
            role.ready(now: at(2), &output)
            #expect(output.count == 200)
        }
    }

    @Test(
        "a new subscriber does not receive bytes from before its subscription, also with a tap",
        arguments: [false, true])
    func oldBytes(hasTap: Bool) throws {
        try withLine { line in
            try line.plugIn()
            let radio = FakeRadio()
            let service = RBLService(
                port: FakePort(), role: role(line, tap: hasTap ? LoopbackRole() : nil),
                logger: LineLog().logger)
            let transmit = GATTUUID(RBLCharacteristic.transmit.rawValue)
            // The first subscriber opens the port.
            service.subscription(transmit, isOn: true, now: at(0))
            _ = service.advance(now: at(0), mtu: 185, radio)
            service.subscription(transmit, isOn: false, now: at(1))
            // The first bytes of a MAVLink frame, which the tap stores until the frame is complete.
            #expect(line.send([0xFE, 9, 0]) == 3)
            service.ready(now: at(2))
            service.subscription(transmit, isOn: true, now: at(3600))
            _ = service.advance(now: at(3600), mtu: 185, radio)
            #expect(radio.takeBytes().isEmpty)
            #expect(line.send([1, 2, 3]) == 3)
            service.ready(now: at(3601))
            _ = service.advance(now: at(3601.1), mtu: 185, radio)
            #expect(radio.takeBytes() == [1, 2, 3])
        }
    }

    @Test("a speed is written as a byte and read as text")
    func speedText() {
        #expect(
            RBLBaud.allCases.map { String(decoding: $0.bytes, as: UTF8.self) } == [
                "BAUD_9600", "BAUD_19200", "BAUD_38400", "BAUD_57600", "BAUD_115200",
            ])
        #expect(RBLBaud(rawValue: 3) == .baud57600)
        #expect(RBLBaud(rawValue: 5) == nil)
    }

    @Test("every speed code takes effect immediately", arguments: RBLBaud.allCases)
    func speeds(baud: RBLBaud) throws {
        try withLine { line in
            try line.plugIn()
            let role = role(line)
            var output = SerialOutput()
            _ = role.advance(now: at(0), &output)
            role.setBaud(baud.bitsPerSecond)
            #expect(line.baud == UInt32(baud.bitsPerSecond))
        }
    }

    @Test("every byte value arrives unchanged in both directions, 64 KiB at 115200 baud")
    func transparency() throws {
        try withLine { line in
            try line.plugIn()
            let role = role(line)
            var output = SerialOutput()
            _ = role.advance(now: at(0), &output)
            // 11,520 bytes per second in steps of 5 ms.
            let sent = (0..<65536).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
            var toClient: [UInt8] = []
            var toRadio: [UInt8] = []
            let pieces = stride(from: 0, to: sent.count, by: 58).map {
                Array(sent[$0..<min($0 + 58, sent.count)])
            }
            // The empty last step reads bytes that the kernel passed on late.
            for (step, piece) in (pieces + [[]]).enumerated() {
                let now = at(Double(step) * 0.005)
                #expect(line.send(piece) == piece.count)
                role.receive(piece, from: .iPad, now: now, &output)
                role.ready(now: now, &output)
                _ = role.advance(now: now.advanced(bySeconds: 0.005), &output)
                toClient += output.next(4096)
                toRadio += line.receive()
            }
            #expect(toClient == sent)
            #expect(toRadio == sent)
            #expect(role.counts["port_dropped"] == 0)
        }
    }

    @Test("an unplugged adapter is found again when it returns")
    func adapter() throws {
        try withLine { line in
            let role = role(line)
            var output = SerialOutput()
            #expect(role.advance(now: at(0), &output) == at(0.5))
            role.receive([1, 2, 3], from: .iPad, now: at(0.1), &output)
            #expect(role.counts["port_dropped"] == 3)
            try line.plugIn()
            _ = role.advance(now: at(0.5), &output)
            role.receive([4], from: .iPad, now: at(0.6), &output)
            #expect(line.receive() == [4])
            line.pullOut()
            role.ready(now: at(1), &output)
            #expect(role.entry == nil)
            try line.plugIn()
            _ = role.advance(now: at(1.5), &output)
            role.receive([5], from: .iPad, now: at(1.6), &output)
            #expect(line.receive() == [5])
            #expect(role.counts["port_opened"] == 2)
        }
    }

    @Test("bytes that the port does not accept are counted, and only whole writes are dropped")
    func overflow() throws {
        try withLine { line in
            try line.plugIn()
            let role = role(line)
            var output = SerialOutput()
            _ = role.advance(now: at(0), &output)
            for _ in 0..<400 {
                role.receive([UInt8](repeating: 1, count: 200), from: .iPad, now: at(0), &output)
            }
            let dropped = try #require(role.counts["port_dropped"])
            #expect(dropped > 0 && dropped % 200 == 0)
            var arrived = 0
            for _ in 0..<100 {
                arrived += line.receive().count
                role.ready(now: at(0), &output)
            }
            #expect(arrived + dropped == 400 * 200)
        }
    }

    @Test("with a tap, a client's emergency stop is recognised before it is executed")
    func stop() throws {
        var command = CommandLong()
        command.command = MAVLinkCommand.flightTermination.rawValue
        command.params[0] = 1
        command.target = MAVLinkAddress(system: 1, component: 154)
        let station = MAVLinkAddress(system: 255, component: 190)
        let stop = command.frame(from: station, sequence: 0, version: .v1)
        try withLine { line in
            let gimbal = FlightDisplayRole(
                configuration: MAVLinkConfiguration(), port: FakePort(), attitudeHz: 50,
                logger: LineLog().logger, now: at(0))
            #expect(role(line, tap: gimbal).isEmergencyStop(stop))
            #expect(!role(line, tap: gimbal).isEmergencyStop(Array(stop.dropLast())))
            // Without a tap, the gimbal does not receive the bytes.
            #expect(!role(line).isEmergencyStop(stop))
        }
    }

    @Test(
        "with a tap, the gimbal's frames are inserted between the vehicle's frames, even if these arrive in pieces"
    )
    func tap() throws {
        try withLine { line in
            try line.plugIn()
            let gimbal = FlightDisplayRole(
                configuration: MAVLinkConfiguration(), port: FakePort(), attitudeHz: 50,
                logger: LineLog().logger, now: at(0))
            let role = role(line, tap: gimbal)
            var output = SerialOutput(capacity: 65536)
            var message = Heartbeat()
            message.type = 2
            let vehicle = MAVLinkAddress(system: 1, component: 1)
            // The vehicle's frames arrive in pieces of 7 bytes every 5 ms, while the gimbal sends
            // 50 times per second.
            let stream = (0..<60).flatMap { (sequence: UInt8) in
                message.frame(
                    from: vehicle, sequence: sequence,
                    version: sequence.isMultiple(of: 2) ? .v1 : .v2)
            }
            var now = at(0)
            for from in stride(from: 0, to: stream.count, by: 7) {
                now = now.advanced(bySeconds: 0.005)
                let piece = Array(stream[from..<min(from + 7, stream.count)])
                _ = role.advance(now: now, &output)
                #expect(line.send(piece) == piece.count)
                role.ready(now: now, &output)
            }
            var parser = MAVLinkParser()
            parser.append(output.next(65536))
            var vehicles = 0
            var gimbals = 0
            while let item = parser.next() {
                guard case .frame(let frame, _) = item else { continue }
                if frame.sender == vehicle { vehicles += 1 } else { gimbals += 1 }
            }
            #expect(vehicles == 60)
            #expect(gimbals > 40)
            #expect(parser.counters.noiseBytes == 0 && parser.counters.badChecksums == 0)
        }
    }
}
