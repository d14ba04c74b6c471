import CLinuxShim
import Configuration
import GimbalCore
import Glibc
import Hardware
import Links
import Logging
import Policy
import Port
import Realtime
import Robot
import Synchronization
import Wire

/// Processor time and latency of the network links: MAVLink, and the wheels' remote control.
enum LinkBench {
    private static let address = MAVLinkAddress(system: 1, component: 154)

    static func run(options: Options, report: inout BenchReport) throws {
        frames(&report)
        try rider(&report)
        try stream(options, &report)
    }

    // MARK: A frame

    private static func frames(_ report: inout BenchReport) {
        var message = GimbalDeviceAttitudeStatus()
        message.q = [0.9, 0.1, -0.2, 0.3]
        message.flags = 44
        let count = 200_000
        var bytes = 0
        var start = cl_now_ns()
        for sequence in 0..<count {
            message.bootMs = UInt32(sequence)
            bytes +=
                message.frame(
                    from: address, sequence: UInt8(truncatingIfNeeded: sequence)
                ).count
        }
        report.show(
            "frame of 49 bytes payload, written", Double(cl_now_ns() - start) / Double(count), "ns")
        precondition(bytes > 0)
        let stream = (0..<count).flatMap {
            message.frame(from: address, sequence: UInt8(truncatingIfNeeded: $0))
        }
        var parser = MAVLinkParser()
        var found = 0
        start = cl_now_ns()
        for from in stride(from: 0, to: stream.count, by: 1024) {
            parser.append(stream[from..<min(from + 1024, stream.count)])
            while case .frame(let frame, _)? = parser.next() {
                if frame.message(GimbalDeviceAttitudeStatus.self) != nil { found += 1 }
            }
        }
        report.show(
            "frame of 49 bytes payload, parsed", Double(cl_now_ns() - start) / Double(count),
            "ns")
        report.check("frames found of \(count)", Double(found), atLeast: Double(count), "")
    }

    // MARK: A datagram

    /// Runs the server for the wheels' remote control in this process, with a simulated motor
    /// board. Measures the time from sending a datagram to the write to the motor board.
    private static func rider(_ report: inout BenchReport) throws {
        let port: UInt16 = 45005
        guard let place = DatagramAddress(host: "127.0.0.1", port: port),
            let sender = try? BenchSocket(to: port)
        else { return report.fail("no UDP on the loopback interface") }
        var parameters = DriveModel.Parameters()
        // The ramp is steep, because the bench must recognise the write that follows a datagram.
        parameters.acceleration = 1000
        parameters.deceleration = 1000
        let wheels = DriveMotors(simulated: parameters)
        let ring = makeRing(of: TimedCommand.self, capacity: 64)
        let commander = Commander(
            ring: ring.writer, bootMode: .inactive, rules: Commander.Rules(),
            wheels: {
                wheels.ask($0)
                return nil
            })
        let server = try RiderServer(
            address: place, port: BenchPort(commander: commander),
            logger: Logger(label: "bench") { _ in SwiftLogNoOpLogHandler() })
        let task = Task { try await server.run() }
        defer { task.cancel() }
        try wheels.start()
        defer { _ = wheels.stop() }
        var delays: [Double] = []
        // The server requires a centred stick from a new remote control.
        sender.send("0,0,0")
        for number in 1...1000 {
            let speed = Double(number % 90 + 5)
            let sent = MonotonicClock.now
            sender.send("\(speed),\(-speed),0")
            while abs(wheels.speeds.left * 100 - speed) > 0.1 {
                if MonotonicClock.now.seconds(since: sent) > 1 {
                    return report.fail("datagram \(number) did not reach the wheels")
                }
                usleep(20)
            }
            delays.append(MonotonicClock.now.seconds(since: sent) * 1000)
            // The app sends 20 datagrams a second. At this rate the bench would take a minute; the
            // bench therefore sends faster. The interval is random; the datagrams therefore arrive
            // at every phase of the wheels' control period.
            usleep(UInt32.random(in: 6_000...26_000))
        }
        delays.sort()
        report.show("datagram to drive output, p50", delays[delays.count / 2], "ms")
        report.check(
            "datagram to drive output, p99", delays[delays.count * 99 / 100], atMost: 3, "ms")
    }

    private struct BenchPort: GimbalPort, SettingsPort {
        let commander: Commander
        let settings = Settings()
        var tuning: any SettingsPort { self }
        func request(
            _ request: MotionRequest, from source: CommandSource, now: Instant
        ) throws(Refusal) {
            try commander.request(request, from: source, now: now)
        }
        func left(_ source: CommandSource, now: Instant) {}
        var control: ControlState { commander.view(now: now) }
        var newest: StabilizerSnapshot? { nil }
        var now: Instant { MonotonicClock.now }
        var profiles: ProfileList { ProfileList() }

        func useProfile(
            _ name: String, from source: CommandSource, by who: String
        ) throws(Refusal) -> String { "" }

        func change(
            _ updates: (Settings) -> [SettingUpdate], from source: CommandSource, by who: String
        ) throws(Refusal) {}
        func save(
            _ keys: [String], with updates: [SettingUpdate], from source: CommandSource,
            _ note: (who: String, what: String), _ done: @escaping Later<Void>
        ) {}
        func calibrateGyro(for source: CommandSource, now: Instant) throws(Refusal) {}
        var calibration: CalibrationState { CalibrationState() }
    }

    // MARK: A stream

    /// Runs the real daemon for a minute and counts the MAVLink frames. The daemon sends its
    /// attitude 100 times per second.
    private static func stream(_ options: Options, _ report: inout BenchReport) throws {
        guard let daemon = DaemonProcess.program(options, &report) else { return }
        let port: UInt16 = 45014
        let process = try DaemonProcess(
            daemon,
            settings: [
                "hardware.simulation.motion=still", "mavlink.listen=127.0.0.1:\(port)",
            ])
        guard process.status(where: { $0["enabled"]?.bool == true }) != nil,
            let socket = try? BenchSocket(to: port)
        else { return report.fail("the daemon does not answer: \(process.log)") }
        let station = MAVLinkAddress(system: 255, component: 190)
        var order = CommandLong()
        order.command = MAVLinkCommand.setMessageInterval.rawValue
        order.params = [285, 10_000, 0, 0, 0, 0, 0]
        order.target = address
        socket.send(order.frame(from: station, sequence: 0))
        var parser = MAVLinkParser()
        var found = 0
        let begin = MonotonicClock.now
        var beat = begin
        var sequence: UInt8 = 1
        while MonotonicClock.now.seconds(since: begin) < 60 {
            if MonotonicClock.now >= beat {
                beat = beat.advanced(bySeconds: 1)
                socket.send(Heartbeat().frame(from: station, sequence: sequence))
                sequence &+= 1
            }
            guard let bytes = socket.receive(milliseconds: 100) else { continue }
            parser.append(bytes)
            while case .frame(let frame, _)? = parser.next() {
                if frame.id == 285 { found += 1 }
            }
        }
        report.check("attitude frames in 60 s", Double(found), atLeast: 5990, "")
        report.check("lost attitude frames", Double(parser.counters.lost), atMost: 0, "")
    }
}
