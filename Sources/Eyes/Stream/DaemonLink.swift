import CVideo
import Client
import GimbalCore
import Synchronization
import Wire

/// Connection to airframed, as an ordinary client of its socket. The link reports the stream's
/// health. The link receives the camera's attitude while the test picture needs the attitude. The
/// link has its own thread, so an unresponsive or missing daemon never stops the stream.
final class DaemonLink: Sendable {
    /// Largest age of a usable attitude, ns.
    private static let attitudeLimit: Int64 = 1_000_000_000
    /// Interval of the reports, ns. The replies contain users' commands.
    private static let interval: Int64 = 250_000_000
    private static let attitudeNames = ["attitude.yaw", "attitude.roll", "attitude.pitch"]

    private struct State {
        /// Time of the last access to `attitude`, ns on CLOCK_MONOTONIC.
        var wanted: Int64 = 0
        var report: CompanionReport?
        var orders: [CameraOrder] = []
        /// Sequence numbers of the latest command received over this connection, of the latest
        /// executed command, and of the latest command whose result `report` contains. airframed
        /// numbers the commands from its start.
        var (arrived, executed, reported) = (0, 0, 0)
        var recorder: Recorder?
        var attitude: AxisVector?
        var attitudeTime: Int64 = 0
        var problem: String?
    }

    private let socket: String
    private let state = Mutex(State())
    private let thread = CompanionThread()

    /// Starts the thread.
    ///
    /// - Parameter socket: Path of the daemon's socket.
    init(socket: String) {
        self.socket = socket
        thread.start("eyes-daemon") { [self] in
            var log: MotionLog?
            while !thread.mustEnd {
                do throws(ClientError) {
                    try serve(try DaemonClient(path: socket, timeout: 2), &log)
                } catch {
                    note(error.requestError.message)
                    thread.pause(1)
                }
                update(&log)
            }
            log?.close()
        }
    }

    /// Stores the newest report, which contains the results of all executed commands; the thread
    /// sends this report several times per second.
    func report(_ report: CompanionReport) {
        state.withLock { ($0.report, $0.reported) = (report, $0.executed) }
    }

    /// The commands since the last call.
    func takeOrders() -> [CameraOrder] {
        state.withLock { state in
            defer { state.orders = [] }
            return state.orders
        }
    }

    /// Starts a file with the camera's motion next to the given recording; nil ends the file.
    func record(_ recorder: Recorder?) { state.withLock { $0.recorder = recorder } }

    /// Marks a command as executed. airframed receives the command's number only with the next
    /// report, because the present report does not contain the command's result.
    func executed(_ order: CameraOrder) {
        state.withLock { if $0.arrived >= order.number { $0.executed = order.number } }
    }

    /// Newest attitude of the camera; nil if it is unknown. The link subscribes to the attitude
    /// only while callers read this property repeatedly.
    var attitude: AxisVector? {
        state.withLock {
            $0.wanted = cv_now()
            return $0.wanted - $0.attitudeTime <= Self.attitudeLimit ? $0.attitude : nil
        }
    }

    /// Reason why the daemon cannot be used; nil if it can.
    var problem: String? { state.withLock { $0.problem } }

    /// Stops the link's thread, and waits for its end, at most for the duration of one request.
    func stop() { thread.stop() }

    // MARK: On the thread

    private func note(_ problem: String?) { state.withLock { $0.problem = problem } }

    /// Closes the log of a recording that has ended, and creates the log of a new recording.
    private func update(_ log: inout MotionLog?) {
        let recorder = state.withLock { $0.recorder }
        if let old = log, recorder.map({ !old.belongs(to: $0) }) ?? true {
            old.close()
            log = nil
        }
        if log == nil { log = recorder.map { MotionLog($0) } }
    }

    private func serve(_ client: DaemonClient, _ log: inout MotionLog?) throws(ClientError) {
        var attitude: Int?
        var motion: MotionStream?
        var nextReport: Int64 = 0
        state.withLock {
            ($0.orders, $0.arrived, $0.executed, $0.reported) = ([], 0, 0, 0)
        }
        while !thread.mustEnd {
            let (report, order, wantsAttitude) = state.withLock { state in
                (state.report, state.reported, cv_now() - state.wanted < Self.attitudeLimit)
            }
            if var report, cv_now() >= nextReport {
                nextReport = cv_now() + Self.interval
                report.capture?.order = order
                let answer: CompanionAnswer = try client.request("companion", report.params)
                note(nil)
                state.withLock { state in
                    guard let order = answer.order, order.number > state.arrived else { return }
                    state.arrived = order.number
                    state.orders.append(order)
                }
            }
            if wantsAttitude, attitude == nil {
                attitude = try client.subscribe(Self.attitudeNames, hz: 30)
            } else if !wantsAttitude, let number = attitude {
                try client.unsubscribe(number)
                attitude = nil
            }
            update(&log)
            if let old = motion, old.log !== log {
                motion = nil
                try old.end(client)
            }
            if motion == nil, let log { motion = try MotionStream(log, client) }
            guard let message = try client.nextMessage(within: 0.1) else { continue }
            if message["subscription"]?.int == attitude { show(message) }
            do {
                try motion?.take(message)
            } catch {
                note("The camera's motion cannot be recorded: \(error).")
            }
        }
    }

    private func show(_ message: JSONValue) {
        let values = Self.attitudeNames.map {
            message["values"]?[$0]?.number.map { $0 * .pi / 180 }
        }
        guard let yaw = values[0], let roll = values[1], let pitch = values[2] else { return }
        state.withLock {
            $0.attitude = AxisVector(yaw: yaw, roll: roll, pitch: pitch)
            $0.attitudeTime = cv_now()
        }
    }
}
