import Glibc
import Port
import Synchronization
import Wire

@testable import Links

/// A daemon without hardware, which records its calls and can refuse them.
final class FakeBackend: Sendable {
    struct Record {
        var calls: [String] = []
        var refusal: Refusal?
        var samples = 0
        var statuses = 0
        /// Extra bytes in the reply to `status`.
        var padding = 0
        /// True if a save waits for `finishDisk`.
        var isDiskSlow = false
        var waiting: [@Sendable () -> Void] = []
        /// While this is true, `doctor` does not return.
        var isDoctorSlow = false
        /// Number of `doctor` requests whose answers have begun.
        var doctors = 0
    }

    let record = Mutex(Record())
    let port = FakePort()

    init() {
        port.memory.withLock { memory in
            memory.hears = { [unowned self] request in
                record.withLock { $0.calls.append(request.words) }
            }
        }
    }

    var calls: [String] { record.withLock { $0.calls } }
    /// Number of `doctor` requests whose answers have begun.
    var doctors: Int { record.withLock { $0.doctors } }
    /// Number of computed `status` replies.
    var statuses: Int { record.withLock { $0.statuses } }
    var closed: [Int] { port.memory.withLock { $0.gone.map { Int($0.connection) } } }

    var services: SocketServices {
        SocketServices(
            methods: [
                .question("status", "") { (_, clients) throws(Refusal) in
                    var status = self.status
                    status.clients = clients
                    return status
                },
                .question("doctor", "") { (_, _) throws(Refusal) in
                    self.record.withLock { $0.doctors += 1 }
                    while self.record.withLock({ $0.isDoctorSlow }) { usleep(1000) }
                    return [DoctorCheck("loop", .ok, "1000 Hz")]
                },
                .question("get", "", [.texts("keys", "")]) { (parameters, _) throws(Refusal) in
                    Set(try parameters.strings("keys") ?? []).sorted()
                },
                .question("log", "", [.integer("limit", in: 1...200, "")]) {
                    (parameters, _) throws(Refusal) in
                    try parameters.integer("limit") ?? 0
                },
                .saving("save", "", isWrite: true) { (_, _, done) throws(Refusal) in
                    self.answer("save", Acknowledgement("Saved."), done)
                },
                .task("spectrum", "", [.action(["status", "start"], "")]) {
                    (parameters, caller) throws(Refusal) in
                    let action = try parameters.action()
                    if action == "start" { try caller.requireWrite() }
                    return Acknowledgement(action)
                },
            ] + SocketMethod.motion(port),
            variables: [
                Variable(name: "attitude.pitch_deg", unit: "°", summary: "Pitch"),
                Variable(name: "attitude.roll_deg", unit: "°", summary: "Roll"),
                Variable(name: "loop.ticks", unit: "", summary: "Ticks"),
            ],
            sample: { indices in
                self.record.withLock { record in
                    record.samples += 1
                    return VariableSample(
                        t: Double(record.samples),
                        values: indices.map { $0 == 1 ? .double(.nan) : .int(record.samples) })
                }
            }, time: { 12.5 })
    }

    private var status: Status {
        record.withLock { $0.statuses += 1 }
        var status = Status()
        status.t = 12.5
        status.version = "0.1.0"
        status.mode = "locked"
        status.isEnabled = true
        status.attitude.pitchDeg = -29.5
        status.attitude.yawDeg = Number(.infinity)
        status.inhibitions = [
            Inhibition(name: "imu_missing", sentence: "No sample has arrived yet.")
        ]
        let padding = record.withLock { $0.padding }
        status.faults.lastError = String(repeating: "x", count: padding)
        return status
    }

    /// Answers immediately, or in `finishDisk` if `isDiskSlow` is true.
    private func answer<Value: Sendable>(
        _ call: String, _ value: Value, _ done: @escaping Later<Value>
    ) {
        let result: Result<Value, Refusal> = record.withLock { record in
            record.calls.append(call)
            return record.refusal.map { .failure($0) } ?? .success(value)
        }
        let isSlow = record.withLock { record in
            if record.isDiskSlow { record.waiting.append { done(result) } }
            return record.isDiskSlow
        }
        if !isSlow { done(result) }
    }

    /// Completes the waiting saves.
    func finishDisk() {
        let waiting = record.withLock { record in
            defer { record.waiting = [] }
            return record.waiting
        }
        for answer in waiting { answer() }
    }
}
