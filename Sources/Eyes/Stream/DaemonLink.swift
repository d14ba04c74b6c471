import CVideo
import Client
import GimbalCore
import Glibc
import Synchronization
import Wire

/// Connection to airframed, as a client of its socket like any other: it reports the stream's
/// health, and receives the camera's attitude while a picture is drawn from it. It has its own
/// thread, so a daemon that hangs or is missing never stops the stream.
final class DaemonLink: Sendable {
    /// Age from which an attitude is unknown, ns.
    private static let attitudeLimit: Int64 = 1_000_000_000
    private static let names = ["attitude.yaw", "attitude.roll", "attitude.pitch"]

    private struct State {
        var wantsAttitude = false
        var report: CompanionReport?
        var attitude: AxisVector?
        var attitudeTime: Int64 = 0
        var problem: String?
    }

    private let socket: String
    private let state = Mutex(State())
    private let worker = Worker()

    /// Starts the thread.
    ///
    /// - Parameter socket: Path of the daemon's socket.
    init(socket: String) {
        self.socket = socket
        worker.start("eyes-daemon") { [self] in
            while !worker.mustEnd {
                do throws(ClientError) {
                    try serve(try DaemonClient(path: socket, timeout: 2))
                } catch {
                    note(error.requestError.message)
                    pause()
                }
            }
        }
    }

    /// Passes the newest health; the thread sends it within a second.
    func report(_ report: CompanionReport, wantsAttitude: Bool) {
        state.withLock {
            $0.report = report
            $0.wantsAttitude = wantsAttitude
        }
    }

    /// Camera's attitude; nil if it is unknown.
    var attitude: AxisVector? {
        state.withLock {
            cv_now() - $0.attitudeTime <= Self.attitudeLimit ? $0.attitude : nil
        }
    }

    /// Reason why the daemon cannot be used; nil while it can.
    var problem: String? { state.withLock { $0.problem } }

    /// Ends the thread, and waits for its end, at most the time of one request.
    func stop() { worker.stop() }

    // MARK: On the thread

    private func note(_ problem: String?) { state.withLock { $0.problem = problem } }

    private func pause() {
        for _ in 0..<10 where !worker.mustEnd { usleep(100_000) }
    }

    private func serve(_ client: DaemonClient) throws(ClientError) {
        var subscription: Int?
        while !worker.mustEnd {
            let (report, wantsAttitude) = state.withLock { state in
                defer { state.report = nil }
                return (state.report, state.wantsAttitude)
            }
            if let report {
                _ = try client.json("companion", report.params)
                note(nil)
            }
            if wantsAttitude, subscription == nil {
                subscription = try subscribe(client)
            } else if !wantsAttitude, let number = subscription {
                _ = try client.json("unsubscribe", ["subscription": .int(number)])
                subscription = nil
            }
            try listen(client)
        }
    }

    private func subscribe(_ client: DaemonClient) throws(ClientError) -> Int? {
        let info = try client.json(
            "subscribe", ["names": .array(Self.names.map(JSONValue.string)), "rate": .double(30)])
        return info["subscription"]?.int
    }

    /// Receives messages for a tenth of a second at most.
    private func listen(_ client: DaemonClient) throws(ClientError) {
        do throws(ClientError) {
            let message = try client.nextMessage(wait: 0.1).value
            let values = Self.names.map { message["values"]?[$0]?.number.map { $0 * .pi / 180 } }
            guard let yaw = values[0], let roll = values[1], let pitch = values[2] else { return }
            state.withLock {
                $0.attitude = AxisVector(yaw: yaw, roll: roll, pitch: pitch)
                $0.attitudeTime = cv_now()
            }
        } catch {
            if case .timeout = error { return }
            throw error
        }
    }
}
