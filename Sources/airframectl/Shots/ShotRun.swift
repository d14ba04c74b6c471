import Client
import Glibc
import PlainText
import Shots
import Wire

/// Run of a shot with the daemon: executes the tasks of `ShotSession`. The camera holds its
/// direction if this program ends for any reason, because the run only sends requests for angles.
final class ShotRun {
    /// Rate of the messages with the camera's state, Hz.
    private static let hz = 20.0
    /// Pause before the next attempt to reach the daemon, or to take control, s.
    private static let pause = 1.0

    private let options: GlobalOptions
    private let store: ShotStore
    private let signals: SignalQueue
    private var session: ShotSession
    private var client: DaemonClient?
    private var subscription = 0
    /// Name of the present connection in the member `holder` of `status`; empty until it is known.
    private var name = ""
    private var isInterrupted = false
    private var progress = ProgressLine()
    private let forecast: ShotForecast
    private let first: Int
    private let started = DaemonClient.now()
    /// Notes that have been printed about the current photo.
    private var notes: Set<String> = []

    init(
        _ plan: ShotPlan, _ record: ShotRecord, _ client: DaemonClient, options: GlobalOptions,
        store: ShotStore, signals: SignalQueue
    ) {
        (self.options, self.store, self.signals) = (options, store, signals)
        session = ShotSession(plan, record)
        forecast = ShotForecast(plan)
        first = record.done
        self.client = client
    }

    /// Runs the shot until it is complete, or until a signal arrives.
    ///
    /// - Returns: True if the shot is complete.
    func run() throws -> Bool {
        let shutter = try makeShutter()
        defer { progress.clear() }
        while true {
            if signals.next(within: 0) != nil { isInterrupted = true }
            // A photo that was possibly taken is recorded before the run ends.
            if isInterrupted, session.canPause { return false }
            let task = session.next(now: DaemonClient.now(), wall: DaemonClient.wall())
            if try !execute(task, shutter) { return true }
        }
    }

    /// Executes one task; false after the last one.
    private func execute(_ task: ShotSession.Task, _ shutter: any Shutter) throws -> Bool {
        switch task {
        case .point(let pose, let rate):
            point(pose, rate)
        case .wait(let seconds):
            show()
            watch(seconds)
        case .mark:
            if let mark = try attempt({ try shutter.mark() }) {
                session.marked(mark)
            } else {
                session.notMarked()
            }
        case .save(let record):
            try store.save(record)
            let isConcluded = record.done > session.record.done
            let photo = session.frame?.photo
            session.saved(record)
            if isConcluded, let photo { announce(photo) }
        case .shoot(let photo):
            let pose = session.pose ?? Pose()
            var problem: String?
            do {
                problem = try shutter.shoot(photo, at: pose)
            } catch {
                problem = error.requestError.message
                client = nil
            }
            if let problem {
                tell("Photo \(photo): \(problem)" + (problem.hasSuffix(".") ? "" : "."))
            }
            session.shot(problem, now: DaemonClient.now(), wall: DaemonClient.wall())
            flush()
        case .examine(let photo, let mark):
            if let evidence = try attempt({ try shutter.examine(photo, mark: mark) }) {
                session.examined(evidence, now: DaemonClient.now(), wall: DaemonClient.wall())
            }
            flush()
        case .finish:
            return false
        case .fail(let reason):
            throw ClientError.refused(
                RequestError("refused", "\(reason). `airframectl shoot resume` continues."))
        }
        return true
    }

    /// Executes a request; if the daemon cannot be reached, the result is nil, and a new connection
    /// is opened after a pause.
    private func attempt<Value>(_ request: () throws -> Value) throws -> Value? {
        do {
            return try request()
        } catch let error as ClientError {
            if case .file = error { throw error }
            tell(error.requestError.message)
            if case .refused = error {} else { client = nil }
            sleep(Self.pause)
            return nil
        }
    }

    private func point(_ pose: Pose, _ rate: Double) {
        do {
            if let holder = try otherHolder() {
                tell("The shot waits: \(holder) is in control.")
                session.pointed(isAccepted: false, now: DaemonClient.now(), pause: Self.pause)
                return
            }
            let reply: Acknowledgement = try connected().request(
                .point,
                [
                    "yaw": .double(pose.yaw), "roll": .double(pose.roll),
                    "pitch": .double(pose.pitch), "rate": .double(rate),
                ])
            if reply.limitedBy?.contains("range") == true { return session.outOfRange() }
            session.pointed(isAccepted: true, now: DaemonClient.now())
        } catch {
            tell(error.requestError.message)
            if case .refused = error {} else { client = nil }
            session.pointed(isAccepted: false, now: DaemonClient.now())
        }
    }

    /// Name of another client that is in control of the camera; nil if there is none. A request of
    /// this client would take control from another client of the socket.
    private func otherHolder() throws(ClientError) -> String? {
        let client = try connected()
        if name.isEmpty {
            let identity: ClientIdentity = try client.request(.client)
            name = identity.name
        }
        let status: Status = try client.request(.status)
        return status.holder == name ? nil : status.holder
    }

    /// Passes messages with the camera's state to the session for at most the given time, s.
    private func watch(_ seconds: Double) {
        do {
            let client = try connected()
            if subscription == 0 {
                subscription = try client.subscribe(Self.variables, hz: Self.hz)
            }
            guard let message = try client.nextMessage(within: min(max(seconds, 0), 0.25)),
                message["subscription"]?.int == subscription, let values = message["values"],
                let sight = Self.sight(values)
            else { return }
            if !sight.isHeld {
                tell("The shot waits: the motors must be on, in mode \"locked\".")
            }
            session.see(sight, now: DaemonClient.now())
            if session.isBlocked {
                tell(
                    "A joint at the end of joints.range_deg keeps the camera from its pose. Turn the handle in the direction of the camera."
                )
            }
        } catch {
            tell(error.requestError.message)
            client = nil
            sleep(Self.pause)
        }
    }

    private static let variables =
        ["target", "setpoint", "error", "rate"].flatMap { name in
            ["yaw", "roll", "pitch"].map { "\(name).\($0)" }
        } + ["mode", "state", "conditions"]

    /// State of the camera in a message of the stream; nil if a number is unknown.
    static func sight(_ values: JSONValue) -> ShotSession.CameraState? {
        func axes(_ name: String) -> [Double] {
            ["yaw", "roll", "pitch"].map { values["\(name).\($0)"]?.number ?? .nan }
        }
        func pose(_ name: String) -> Pose {
            let axes = axes(name)
            return Pose(yaw: axes[0], roll: axes[1], pitch: axes[2])
        }
        let (error, rate) = (axes("error"), axes("rate"))
        guard (axes("target") + axes("setpoint") + error + rate).allSatisfy(\.isFinite) else {
            return nil
        }
        return ShotSession.CameraState(
            isHeld: values["mode"]?.string == "locked" && values["state"]?.string == "running",
            target: pose("target"), setpoint: pose("setpoint"),
            error: error.map(\.magnitude).max() ?? .nan, rate: rate.map(\.magnitude).max() ?? .nan,
            isAtJointEnd: values["conditions"]?.array?.contains("joint_limit") == true)
    }

    private func connected() throws(ClientError) -> DaemonClient {
        if let client { return client }
        let client = try options.connect()
        subscription = 0
        name = ""
        self.client = client
        return client
    }

    /// Drops the states that arrived while the shutter was busy.
    private func flush() {
        guard let client, subscription != 0 else { return }
        while let message = try? client.nextMessage(within: 0), message != .null {}
    }

    /// Waits, then discards the states that have arrived.
    private func sleep(_ seconds: Double) {
        if signals.next(within: seconds) != nil { isInterrupted = true }
        flush()
    }

    private func makeShutter() throws(ClientError) -> any Shutter {
        let settings = session.plan.recipe.shutter
        let wait: (Double) -> Void = { [unowned self] in sleep($0) }
        return switch settings.kind {
        case .none: NoShutter()
        case .command: CommandShutter(settings, wait: wait)
        case .gpio: try GPIOShutter(settings, wait: wait)
        case .eyes:
            EyesShutter(timeout: settings.timeout, wait: wait) {
                [unowned self] () throws(ClientError) in
                try connected()
            }
        case .mavlink: try MAVLinkShutter(settings)
        }
    }

    // MARK: Progress

    /// Remaining time, s: the predicted time, multiplied by the ratio of elapsed time to predicted
    /// time.
    private var secondsLeft: Double {
        let done = session.record.done
        let rest = forecast.rest(from: done)
        let planned = forecast.rest(from: first) - rest
        guard done >= first + 3, planned > 0, session.frame?.due == nil else { return rest }
        return rest * (DaemonClient.now() - started) / planned
    }

    private func show() {
        let record = session.record
        let photo = session.frame?.photo.map { "photo \($0) of \(session.plan.photos)" } ?? "moving"
        let phase = session.isWaitingForTime ? "" : ", moving"
        progress.show(
            Double(record.done) / Double(session.plan.frames.count),
            "\(photo)\(phase), \(Format.duration(secondsLeft)) left")
    }

    private func announce(_ photo: Int) {
        let (total, left) = (session.plan.photos, secondsLeft)
        notes = []
        if options.json {
            Output.line(
                JSONValue.object([
                    "photo": .int(photo), "photos": .int(total), "seconds_left": .double(left),
                ]).text)
        } else if isatty(STDOUT_FILENO) == 0 {
            Output.line("Photo \(photo) of \(total), \(Format.duration(left)) left")
        }
    }

    /// Prints a note, unless it has already been printed about the current photo.
    private func tell(_ text: String) {
        guard notes.insert(text).inserted else { return }
        progress.clear()
        Output.error(text)
    }

    /// Summary of the run.
    var summary: String {
        var text =
            "\(Format.count(session.plan.photos)) photos in \(Format.duration(DaemonClient.now() - started))."
        for remark in session.record.remarks { text += " " + remark }
        return text
    }

    /// Number of completed photos.
    var photosDone: Int {
        session.plan.frames.prefix(session.record.done).reversed().lazy.compactMap(\.photo).first
            ?? 0
    }
}
