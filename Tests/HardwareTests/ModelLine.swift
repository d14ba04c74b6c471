import GimbalCore
import Glibc
import MotorModels

@testable import Hardware

/// A serial line with a model of servos or of a motor board at its far end. Time is computed: it
/// advances only while the line waits, so the load of the machine does not matter.
final class ModelLine: SerialTransport {
    private let model: UnsafeMutablePointer<mm_model>
    private let baud: Double
    private var arriving: [(byte: UInt8, time: Instant)] = []
    private(set) var now = Instant(nanoseconds: 1_000_000_000)
    private(set) var isOpen = false
    private var isPlugged = true
    /// Errno of sending while the port stays open; 0 if the bytes are sent.
    var sendError: Int32 = 0
    /// Number of the next requests that the line loses.
    var lostRequests = 0
    /// Replaces the bytes that arrive after a request.
    var replacement: ([UInt8]) -> [UInt8] = { $0 }

    /// Time for which the line collects received bytes, s.
    let latency: Double
    /// Longest step of the model's motion, s.
    private static let step = 0.001

    init(_ kind: mm_kind, count: Int32 = 3, baud: Double = 1_000_000, latency: Double) {
        self.latency = latency
        model = .allocate(capacity: 1)
        model.initialize(to: mm_model())
        mm_begin(model, kind, count)
        self.baud = baud
    }

    deinit {
        mm_end(model)
        model.deallocate()
    }

    /// Reads or changes the model.
    func with<Result>(_ body: (inout mm_model) -> Result) -> Result { body(&model.pointee) }

    /// Changes the servo of one joint, 0...2.
    func motor(_ index: Int, _ body: (inout mm_motor) -> Void) {
        with { model in
            switch index {
            case 0: body(&model.motors.0)
            case 1: body(&model.motors.1)
            default: body(&model.motors.2)
            }
        }
    }

    /// Unplugs the adapter.
    func unplug() { (isPlugged, isOpen) = (false, false) }

    /// Advances the time, and moves the motors.
    func advance(to end: Instant) {
        while now < end {
            let seconds = min(end.seconds(since: now), Self.step)
            now = end.seconds(since: now) <= Self.step ? end : now.advanced(bySeconds: seconds)
            mm_move(model, seconds, now.nanoseconds)
        }
    }

    func pause(_ seconds: Double) { advance(to: now.advanced(bySeconds: seconds)) }

    func open(now: Instant) throws(BusErrno) {
        guard isPlugged else { throw BusErrno(code: ENOENT) }
        isOpen = true
    }

    func close() { isOpen = false }

    func send(_ bytes: SerialBytes) throws(BusErrno) {
        guard isPlugged else { throw BusErrno(code: EIO) }
        guard sendError == 0 else { throw BusErrno(code: sendError) }
        guard lostRequests == 0 else {
            lostRequests -= 1
            return
        }
        let sent = now.advanced(bySeconds: Double(bytes.count) * 10 / baud)
        mm_receive(model, bytes.data, Int32(bytes.count), sent.nanoseconds)
        var reply = [UInt8](repeating: 0, count: 1024)
        let count = Int(mm_send(model, &reply, Int32(reply.count)))
        reply = replacement(Array(reply[..<count]))
        let first = model.pointee.echoes == 0 ? sent : now
        for index in reply.indices {
            let time = first.advanced(bySeconds: Double(index + 1) * 10 / baud)
            arriving.append((reply[index], time))
        }
    }

    func receive(into bytes: inout SerialBytes, until deadline: Instant) throws(BusErrno) -> Int {
        guard isPlugged else { throw BusErrno(code: EIO) }
        guard let first = arriving.first?.time, first <= max(deadline, now) else {
            advance(to: deadline)
            return 0
        }
        advance(to: min(first.advanced(bySeconds: latency), max(deadline, now)))
        let count = arriving.prefix { $0.time <= now }.count
        for index in 0..<count { bytes.append(arriving[index].byte) }
        arriving.removeFirst(count)
        return count
    }
}
