import Configuration
import GimbalCore
import Glibc
import Port
import Synchronization
import SystemPackage
import Testing
import Wire

@testable import Links

/// Input devices of a test: each device is a pipe, into which the test writes events.
private final class PipeInputs: InputDirectory {
    let changes: FileDescriptor? = nil
    private let pipes: Mutex<[String: (reader: FileDescriptor, writer: FileDescriptor)]>
    let state = Mutex(InputState())
    let refusal = Mutex<Errno?>(nil)
    /// Number of refused attempts to open a device.
    let refusals = Mutex(0)

    init(_ nodes: [String]) throws {
        var pipes: [String: (reader: FileDescriptor, writer: FileDescriptor)] = [:]
        for node in nodes {
            let (reader, writer) = try FileDescriptor.pipe(options: [.nonBlocking, .closeOnExec])
            pipes[node] = (reader, writer)
        }
        self.pipes = Mutex(pipes)
    }

    deinit { pipes.withLock { for pipe in $0.values { try? pipe.writer.close() } } }

    func nodes() -> [String] { pipes.withLock { $0.keys.sorted() } }

    func description(of node: String) -> InputDescription? {
        InputDescription(name: "Pad \(node)", bus: 5, keys: [0x130, 0x13A], axes: [0, 1])
    }

    func open(_ node: String) throws(Errno) -> FileDescriptor {
        if let refusal = refusal.withLock({ $0 }) {
            refusals.withLock { $0 += 1 }
            throw refusal
        }
        guard let pipe = pipes.withLock({ $0[node] }) else { throw .noSuchFileOrDirectory }
        return pipe.reader
    }

    func state(_ descriptor: FileDescriptor, axes: Set<UInt16>) -> InputState? {
        state.withLock { $0 }
    }

    /// Writes an event and its SYN_REPORT, with the present time.
    func send(_ node: String, _ type: UInt16, _ code: UInt16, _ value: Int32, at now: Instant)
        throws
    {
        try send(node, [(type, code, value), (0, 0, 0)], at: now)
    }

    /// Writes events with the present time, which one read returns together.
    func send(_ node: String, _ events: [(UInt16, UInt16, Int32)], at now: Instant) throws {
        var bytes: [UInt8] = []
        for (type, code, value) in events {
            let time = timeval(
                tv_sec: Int(now.nanoseconds / 1_000_000_000),
                tv_usec: Int(now.nanoseconds % 1_000_000_000 / 1000))
            withUnsafeBytes(of: time) { bytes += Array($0) }
            withUnsafeBytes(of: type) { bytes += Array($0) }
            withUnsafeBytes(of: code) { bytes += Array($0) }
            withUnsafeBytes(of: value) { bytes += Array($0) }
        }
        guard let pipe = pipes.withLock({ $0[node] }) else { return }
        _ = try pipe.writer.writeAll(bytes)
    }

    /// Unplugs a device, so that its descriptor reports end of file.
    func unplug(_ node: String) throws {
        try pipes.withLock { try $0.removeValue(forKey: node)?.writer.close() }
    }
}

@Suite("The service of the input devices", .timeLimit(.minutes(1))) struct ControlsServerTests {
    private let port = FakePort()

    /// Runs a server with the devices during the body.
    private func withServer(
        _ inputs: PipeInputs, log: LineLog = LineLog(),
        clock: @escaping @Sendable () -> Instant = LinkClock.now,
        _ body: @escaping @Sendable (ControlsServer) async throws -> Void
    ) async throws {
        let bindings = try ["ABS_X: yaw", "BTN_SELECT press: stop"].map {
            try ControlBinding(parsing: $0)
        }
        port.memory.withLock { $0.settings.controls.bindings = bindings }
        let server = try ControlsServer(
            port: port, effects: ControlEffects(record: { _ in }, profile: { _, _ in }),
            directory: inputs, logger: log.logger, clock: clock)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server.run() }
            group.addTask { try await body(server) }
            // The server is cancelled after the body has ended.
            try await group.next()
            group.cancelAll()
            try await group.waitForAll()
        }
    }

    private func until(_ condition: @Sendable () -> Bool) async throws {
        while !condition() { try await Task.sleep(for: .milliseconds(2)) }
    }

    @Test("unplugging the device of a deflected stick stops the camera")
    func unplugged() async throws {
        let inputs = try PipeInputs(["event0"])
        inputs.state.withLock {
            $0.axes[0] = InputState.Axis(value: 0, range: -100...100)
        }
        let port = port
        try await withServer(inputs) { server in
            try await until { server.report.devices.first?.controls.first?.deflection != nil }
            try inputs.send("event0", 3, 0, 100, at: LinkClock.now())
            try await until { !port.asked.isEmpty }
            try await until { server.report.rateDps.first == 90 }
            try inputs.unplug("event0")
            try await until { port.asked.last == MotionRequest.rate(.zero).words }
            try await until { server.report.devices.isEmpty }
        }
    }

    @Test("a report that is made at the same time does not hide the start of an identification")
    func simultaneous() async throws {
        let calls = Mutex(Int64(0))
        // With this clock, the report is due after each request.
        let clock: @Sendable () -> Instant = {
            calls.withLock { calls in
                calls += 1
                return Instant(nanoseconds: calls * 60_000_000)
            }
        }
        try await withServer(try PipeInputs([]), clock: clock) { server in
            var hidden = 0
            for _ in 0..<10_000 {
                server.learn(seconds: 1e6)
                for _ in 0..<5 where !server.report.isLearning { hidden += 1 }
                server.learn(seconds: 0)
            }
            #expect(hidden == 0)
        }
    }

    @Test("after lost events, a press that was read before the state of the buttons has no effect")
    func lostRelease() async throws {
        let inputs = try PipeInputs(["event0"])
        let port = port
        try await withServer(inputs) { server in
            try await until { !server.report.devices.isEmpty }
            // The kernel discards the release of the button when airframed reads the state.
            try inputs.send(
                "event0", [(0, 3, 0), (0, 0, 0), (1, 0x13A, 1), (0, 0, 0)],
                at: LinkClock.now())
            // The report is updated only after the debounce time of a press.
            try await until { server.report.counts["dropped"] == 1 }
            #expect(port.asked.isEmpty)
            try inputs.send("event0", 1, 0x13A, 1, at: LinkClock.now())
            try await until { port.asked == [MotionRequest.emergencyStop.words] }
        }
    }

    @Test("a device that cannot be opened is reported with a remedy")
    func refused() async throws {
        let inputs = try PipeInputs(["event7"])
        inputs.refusal.withLock { $0 = .permissionDenied }
        try await withServer(inputs) { server in
            try await until { server.report.problem != nil }
            let problem = server.report.problem ?? ""
            #expect(problem.contains("/dev/input/event7") && problem.contains("group input"))
        }
    }

    @Test("a new device whose permissions udev has not set yet is used later, without a message")
    func permissions() async throws {
        let inputs = try PipeInputs(["event3"])
        inputs.refusal.withLock { $0 = .permissionDenied }
        let log = LineLog()
        try await withServer(inputs, log: log) { server in
            try await until { inputs.refusals.withLock { $0 } > 0 }
            #expect(server.report.problem == nil)
            inputs.refusal.withLock { $0 = nil }
            try await until { !server.report.devices.isEmpty }
            #expect(server.report.problem == nil)
        }
        #expect(!log.lines.contains { $0.contains("cannot be opened") }, "\(log.lines)")
    }

    @Test("the median delay from a press to the gimbal, including debouncing, is below 20 ms")
    func reaction() async throws {
        let inputs = try PipeInputs(["event0"])
        let port = port
        let heard = Granted()
        port.memory.withLock {
            $0.hears = { _ in heard.time.withLock { $0 = LinkClock.now() } }
        }
        try await withServer(inputs) { server in
            try await until { !server.report.devices.isEmpty }
            var times: [Double] = []
            for _ in 0..<200 {
                heard.time.withLock { $0 = nil }
                let began = LinkClock.now()
                try inputs.send("event0", 1, 0x13A, 1, at: began)
                try await until { heard.time.withLock { $0 != nil } }
                let ended = heard.time.withLock { $0 } ?? began
                times.append(ended.seconds(since: began))
                try inputs.send("event0", 1, 0x13A, 0, at: LinkClock.now())
                try await Task.sleep(for: .milliseconds(10))
            }
            times.sort()
            print(
                "press to request: median \(times[100] * 1e3) ms, p99 \(times[198] * 1e3) ms, longest \(times[199] * 1e3) ms"
            )
            #expect(times[100] < 0.020)
        }
    }

    /// Time of the newest granted request.
    private final class Granted: Sendable {
        let time = Mutex<Instant?>(nil)
    }
}
