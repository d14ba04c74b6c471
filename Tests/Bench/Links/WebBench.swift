import Aerie
import FoundationEssentials
import Glibc
import Synchronization
import TestSupport
import WebServing

/// Benchmark of the companions' web server with hostile clients, slow clients and phones.
enum WebBench {
    static func run(_ options: Options, _ report: inout BenchReport) throws {
        try connections(&report)
        try tabs(&report)
        try phones(&report)
    }

    /// Makes 10^5 connections, one after the other: with complete requests, with WebSockets, with
    /// refused requests, with incomplete requests, and without a request.
    private static func connections(_ report: inout BenchReport) throws {
        var options = WebOptions(listen: "127.0.0.1:0")
        // The benchmark measures answered requests, so the rate limit must not refuse requests.
        options.limits.requestBurst = 100_000
        let server = try WebServer(options, Echo())
        defer { server.stop() }
        func run(_ count: Int) throws {
            for index in 0..<count {
                let client = try connect(server.port)
                switch index % 5 {
                case 0: _ = try client.request("GET", "/")
                case 1: try client.upgrade("/socket")
                case 2: try client.upgrade("/", headers: ["Origin: http://evil.example"])
                case 3: try client.send("GET / HT")
                default: break
                }
                while server.connections > 8 { usleep(50) }
            }
            while server.connections > 0 { usleep(1000) }
        }
        try run(5000)
        let (before, start) = (resident(), now())
        try run(100_000)
        let seconds = now() - start
        report.check(
            "10^5 connections in turn: growth", Double(resident() - before) / 1e6, atMost: 4, "MB")
        report.show("connections per second, client included", 100_000 / seconds, "1/s")
        report.check(
            "refused connections", Double(server.counters.refusals[.origin] ?? 0),
            atLeast: 21_000, "")
    }

    /// Sends a value to 20 WebSockets at 60 Hz; one of the clients does not read.
    private static func tabs(_ report: inout BenchReport) throws {
        let application = Echo()
        var options = WebOptions(listen: "127.0.0.1:0")
        options.limits.connectionsPerAddress = 32
        let server = try WebServer(options, application)
        defer { server.stop() }
        let clients = try (0..<20).map { index in
            let client = try WebClient(
                port: server.port, receiveBuffer: index == 0 ? 4096 : nil)
            try client.upgrade("/socket")
            return client
        }
        while application.sessions.withLock({ $0.count }) < 20 { usleep(1000) }
        let text = WebMessage.text(String(repeating: "x", count: 600))
        let (before, memory) = (processor(), resident())
        let start = now()
        var largest = 0.0
        for step in 1...600 {
            for session in application.sessions.withLock({ $0 }) {
                session.send(text, replacing: "status")
            }
            let sent = now()
            for client in clients.dropFirst() { _ = try client.frame() }
            largest = max(largest, now() - sent)
            let wait = start + Double(step) / 60 - now()
            if wait > 0 { usleep(UInt32(wait * 1e6)) }
        }
        let share = (processor() - before) / (now() - start)
        report.check("20 tabs at 60 Hz: processor, clients included", share * 100, atMost: 15, "%")
        report.check("20 tabs at 60 Hz: growth", Double(resident() - memory) / 1e6, atMost: 2, "MB")
        report.show("longest time to all 19 readers", largest * 1e3, "ms")
    }

    /// Serves three phones, each of which sends 30 frames of 60 kB per second. The person detector
    /// takes 40 ms for each picture.
    private static func phones(_ report: inout BenchReport) throws {
        var options = AerieOptions(listen: "127.0.0.1:0")
        options.acceptsLegacyToken = true
        let server = AerieServer(options)
        try server.start()
        defer { server.stop() }
        let mustEnd = Flag()
        let thread = Thread {
            var worker = AerieWorker(server, SlowFinder())
            while !mustEnd.isSet { worker.step(within: 0.02) }
        }
        defer {
            mustEnd.set()
            thread.join()
        }
        let phones = try (0..<3).map { index in
            let phone = try WebClient(port: server.port)
            try phone.upgrade("/ws/connect/phone-\(index)")
            let request = AuthRequest(
                deviceId: "phone-\(index)", token: "0123456789abcdef0123456789abcdef",
                deviceInfo: DeviceInfo(model: "", osVersion: "", hasLiDAR: true))
            try phone.send(frame(.authRequest, request))
            _ = try phone.frame()
            return phone
        }
        let pose: [[Float]] = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
        let picture = frame(
            .cameraFrame,
            CameraFrame(
                frameId: "1", timestamp: 0,
                imageData: Data(repeating: 7, count: 60_000).base64EncodedString(),
                devicePose: pose,
                intrinsics: CameraIntrinsics(
                    fx: 1000, fy: 1000, cx: 640, cy: 480, width: 1280, height: 960)))
        var sent = 0
        func run(frames: Int) throws {
            let (start, first) = (now(), sent)
            while sent < first + frames {
                try phones[sent % 3].send(picture)
                sent += 1
                while try phones[0].hasMessage() { _ = try phones[0].frame() }
                while try phones[1].hasMessage() { _ = try phones[1].frame() }
                while try phones[2].hasMessage() { _ = try phones[2].frame() }
                let wait = start + Double(sent - first) / 90 - now()
                if wait > 0 { usleep(UInt32(wait * 1e6)) }
            }
        }
        try run(frames: 180)
        let (memory, before, own) = (resident(), processor(), processor(ofThread: true))
        let start = now()
        try run(frames: 1800)
        let seconds = now() - start
        let share = (processor() - before - (processor(ofThread: true) - own)) / seconds
        while server.counters.frames < sent { usleep(1000) }
        let examined = server.examined
        report.check(
            "3 phones, 30 frames/s of 60 kB: rate", 1800 / seconds, atLeast: 85, "1/s")
        report.check("3 phones: growth", Double(resident() - memory) / 1e6, atMost: 4, "MB")
        report.check("3 phones: processor, without finder", share * 100, atMost: 20, "%")
        report.check(
            "frames neither examined nor replaced",
            Double(sent - examined.taken - examined.replaced), atMost: 3, "")
        report.show("frames examined", Double(examined.taken), "")
    }

    // MARK: Tools

    private static func frame(_ type: MessageType, _ body: some Encodable) -> [UInt8] {
        let message = try? Message(type, timestamp: 0, body)
        let text = message.flatMap { try? JSONEncoder().encode($0) } ?? Data()
        return WebClient.frame(1, Array(text))
    }

    /// Connects to the server. If earlier connections occupy all local ports, the method tries
    /// again until a port is free.
    private static func connect(_ port: Int) throws -> WebClient {
        for _ in 0..<1000 {
            if let client = try? WebClient(port: port) { return client }
            usleep(10_000)
        }
        return try WebClient(port: port)
    }

    private static func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }

    private static func processor(ofThread: Bool = false) -> Double {
        var time = timespec()
        clock_gettime(ofThread ? CLOCK_THREAD_CPUTIME_ID : CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }

    private static func resident() -> Int {
        guard let file = fopen("/proc/self/statm", "r") else { return 0 }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        guard fgets(&line, 256, file) != nil else { return 0 }
        let text = String(decoding: line.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return (Int(text.split(separator: " ").dropFirst().first ?? "") ?? 0) * 4096
    }

    /// Person detector that takes 40 ms without using the processor, and detects nobody.
    private struct SlowFinder: PoseSource {
        func bodies(in jpeg: [UInt8], quarterTurns: Int) throws -> (
            width: Int, height: Int, bodies: [Body]
        ) {
            usleep(40_000)
            return (1280, 960, [])
        }
    }

    private final class Flag: Sendable {
        private let value = Mutex(false)
        var isSet: Bool { value.withLock { $0 } }
        func set() { value.withLock { $0 = true } }
    }

    private final class Echo: WebApplication, WebSocketEndpoint {
        let sessions = Mutex<[WebSession]>([])

        func respond(to request: WebRequest, answer: @escaping @Sendable (WebResponse) -> Void) {
            answer(WebResponse(200, text: "page"))
        }

        func decide(on request: WebRequest) -> WebSocketDecision { .accept(self) }
        func opened(_ session: WebSession) { sessions.withLock { $0.append(session) } }
        func received(_ message: WebMessage, from session: WebSession) { session.send(message) }

        func closed(_ session: WebSession, code: Int, reason: String) {
            sessions.withLock { $0.removeAll { $0 === session } }
        }
    }

    /// Thread with a method that waits until the thread has ended.
    private final class Thread {
        private var thread = pthread_t()

        init(_ body: @escaping @Sendable () -> Void) {
            let context = Unmanaged.passRetained(Work(body))
            pthread_create(
                &thread, nil,
                { pointer in
                    if let pointer {
                        Unmanaged<Work>.fromOpaque(pointer).takeRetainedValue().body()
                    }
                    return nil
                }, context.toOpaque())
        }

        func join() { pthread_join(thread, nil) }

        private final class Work: Sendable {
            let body: @Sendable () -> Void
            init(_ body: @escaping @Sendable () -> Void) { self.body = body }
        }
    }
}
