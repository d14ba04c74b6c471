import Client
import PlainText
import Shots
import Wire

/// Executor of an assistant's shot. The tasks of `ShotSession` are sent as requests on the
/// assistant's connection, so the assistant's rank and limits apply. The server calls `tick`, and
/// no call waits for the camera. The state of the shot is not saved: the shot ends with the server.
struct ActiveShot {
    /// Photo that airframe-eyes is taking.
    private struct Exposure {
        /// Sequence number of the command `photo` in the daemon.
        var order: Int
        /// Number of photos taken before the command.
        var before: Int
        /// Deadline for the photo, s.
        var deadline: Double
    }

    /// Interval between two queries of the camera's state, s.
    private static let period = 0.1

    /// Time of the next call of `tick`, s; nil after the end of the shot.
    private(set) var due: Double?
    private var session: ShotSession
    private let forecast: ShotForecast
    /// Sentence about the first waypoint that the yaw joint cannot reach; nil if there is none.
    private let warning: String?
    private var exposure: Exposure?
    /// The camera's target before the first request `point` of the shot; nil after this request.
    private var beginning: Pose?
    /// Index of the photo for which the camera was last pointed; nil before the first request
    /// `point`, and after a failed photo.
    private var pointedAt: Int?
    /// Evidence of whether a failed attempt has taken the photo.
    private var evidence = ShotSession.Evidence.notTaken
    /// Reason why the shot ended before its last photo; nil while the shot is active or after all
    /// photos.
    private var reason: String?

    /// Begins a shot.
    ///
    /// - Parameters:
    ///   - plan: The plan.
    ///   - sight: State of the camera; the motors must be on.
    ///   - warning: Sentence about the first waypoint that the yaw joint cannot reach; nil if there
    ///     is none.
    ///   - now: Current time, s.
    init(_ plan: ShotPlan, from sight: ShotSession.CameraState, warning: String?, now: Double) {
        beginning = sight.target
        self.warning = warning
        session = ShotSession(plan, ShotRecord(plan, originYaw: sight.target.yaw))
        forecast = ShotForecast(plan)
        due = now
    }

    /// State of the shot.
    var report: ShootTool.Report {
        var report = ShootTool.Report(plan: session.plan)
        let places = session.record.done
        report.done = session.plan.frames.prefix(places).filter { $0.photo != nil }.count
        report.secondsLeft = due == nil ? 0 : forecast.rest(from: places)
        let count = "\(report.done) of \(report.photos) photos"
        switch (due, reason) {
        case (nil, let reason?):
            report.state = .ended
            report.sentence = "The shot ended after \(count): \(reason)"
        case (nil, nil):
            report.state = .complete
            report.sentence = "The shot is complete: \(Format.count(report.photos)) photos."
            for remark in session.record.remarks { report.sentence += " " + remark }
        default:
            report.state = .active
            report.sentence =
                "\(count) are done, about \(Format.duration(report.secondsLeft)) left."
            if let warning { report.sentence += " " + warning }
        }
        return report
    }

    /// True if the shot waits for the result of a photo by airframe-eyes.
    var isExposing: Bool { due != nil && exposure != nil }

    /// Ends the shot before its last photo. The parameter `reason` is a complete sentence.
    mutating func end(_ reason: String) {
        guard due != nil else { return }
        self.reason = reason
        due = nil
    }

    /// Executes the tasks that are due.
    mutating func tick(now: Double, _ link: DaemonLink) {
        guard let due, now >= due else { return }
        do throws(ClientError) {
            self.due = try perform(now: now, link)
        } catch {
            end(error.requestError.message)
        }
    }

    /// Executes tasks until the session waits.
    ///
    /// - Returns: Time of the next tasks, s; nil at the end of the shot.
    private mutating func perform(now: Double, _ link: DaemonLink) throws(ClientError) -> Double? {
        if let exposure, try !concluded(exposure, now: now, link) { return now + Self.period }
        while true {
            // The wall-clock time is used only for saved shots.
            switch session.next(now: now, wall: now) {
            case .point(let pose, let rate):
                // A repeated request means that another client has changed the camera's target.
                guard pointedAt != session.record.done else {
                    throw Self.moved
                }
                pointedAt = session.record.done
                beginning = nil
                let reply = try link.ask(
                    "point",
                    [
                        "yaw": .double(pose.yaw), "roll": .double(pose.roll),
                        "pitch": .double(pose.pitch), "rate": .double(rate),
                    ])
                if reply["limited_by"]?.array?.contains("range") == true {
                    session.outOfRange()
                } else {
                    session.pointed(isAccepted: true, now: now)
                }
            case .wait(let seconds):
                guard let sight = ShotSession.CameraState(try link.ask("status")), sight.isHeld
                else {
                    throw .refused(
                        RequestError(
                            "refused", "The motors must be on, in mode \"locked\"."))
                }
                if let beginning, beginning.distance(to: sight.target) > 0.1 { throw Self.moved }
                session.see(sight, now: now)
                return now + max(0.01, min(seconds, Self.period))
            case .mark: session.marked(nil)
            case .save(let record): session.saved(record)
            case .shoot:
                guard session.plan.recipe.shutter.kind == .eyes else {
                    session.shot(now: now, wall: now)
                    continue
                }
                let before = try Self.capture(link).photos
                guard let order = try link.ask("camera", ["action": "photo"])["number"]?.int else {
                    throw .notUnderstood(
                        "The reply to the method `camera` contains no sequence number.")
                }
                exposure = Exposure(
                    order: order, before: before,
                    deadline: now + session.plan.recipe.shutter.timeout)
                return now + Self.period
            case .examine: session.examined(evidence, now: now, wall: now)
            case .finish: return nil
            case .fail(let reason): throw .refused(RequestError("refused", reason + "."))
            }
        }
    }

    private static let moved = ClientError.refused(
        RequestError("refused", "another client has moved the camera."))

    /// Checks whether airframe-eyes has taken the photo; false while it has not reported a result.
    private mutating func concluded(
        _ exposure: Exposure, now: Double, _ link: DaemonLink
    ) throws(ClientError) -> Bool {
        let state = try Self.capture(link)
        switch PhotoOutcome(of: exposure.order, before: exposure.before, in: state) {
        case .taken?: session.shot(now: now, wall: now)
        case .failed(let problem)?:
            pointedAt = nil
            evidence = .notTaken
            session.shot(problem, now: now, wall: now)
        case nil where now >= exposure.deadline:
            pointedAt = nil
            evidence = .unknown
            session.shot("airframe-eyes has not taken the photo", now: now, wall: now)
        case nil: return false
        }
        self.exposure = nil
        return true
    }

    /// State of airframe-eyes' photos.
    ///
    /// - Throws: `ClientError` if airframe-eyes is not connected.
    static func capture(_ link: DaemonLink) throws(ClientError) -> CaptureState {
        let companions = try link.ask("status")["companions"]?.array ?? []
        guard let report = companions.lazy.compactMap({ $0["report"]?["capture"] }).first else {
            throw .refused(
                RequestError(
                    "refused", "airframe-eyes is not connected. The tool `doctor` shows the cause.",
                    field: "shutter"))
        }
        var state = CaptureState()
        state.photos = report["photos"]?.int ?? 0
        state.order = report["order"]?.int ?? 0
        state.problem = report["problem"]?.string
        return state
    }
}

extension ShootTool.Report {
    /// Creates the report of a planned shot that has not begun.
    init(plan: ShotPlan) {
        let forecast = ShotForecast(plan).duration
        state = .planned
        photos = plan.photos
        secondsLeft = forecast
        sentence = "\(Format.count(photos)) photos, about \(Format.duration(forecast))."
    }
}

extension ShotSession.CameraState {
    /// State of the camera in the answer to `status`; nil if an angle is unknown.
    init?(_ status: JSONValue) {
        func axes(_ value: JSONValue?) -> [Double] {
            ["yaw", "roll", "pitch"].map { value?[$0]?.number ?? .nan }
        }
        func pose(_ axes: [Double]) -> Pose { Pose(yaw: axes[0], roll: axes[1], pitch: axes[2]) }
        let target = axes(status["pointing"]?["target_deg"])
        let setpoint = axes(status["setpoint_deg"])
        let (error, rate) = (axes(status["error_deg"]), axes(status["rate_dps"]))
        guard (target + setpoint + error + rate).allSatisfy(\.isFinite) else { return nil }
        self.init(
            isHeld: status["mode"] == "locked" && status["state"] == "running",
            target: pose(target), setpoint: pose(setpoint),
            error: error.map(\.magnitude).max() ?? .nan, rate: rate.map(\.magnitude).max() ?? .nan,
            isAtJointEnd: status["notices"]?.array?.contains { $0["name"] == "joint_limit" }
                == true)
    }
}

extension YawJoint {
    /// Yaw joint at the camera's target, from the answer to `status`; nil if no sensor and no motor
    /// measures its angle. The camera can still turn to its target.
    init?(_ status: JSONValue) {
        let joints = status["joints"]
        func yaw(_ name: String) -> Double? { joints?[name]?["yaw"]?.number }
        guard joints?["source"]?.string != JointStatus.estimated, let angle = yaw("angle_deg"),
            let lower = yaw("minimum_deg"), let upper = yaw("maximum_deg"), lower <= upper,
            let camera = status["attitude"]?["yaw_deg"]?.number,
            let target = status["pointing"]?["target_deg"]?["yaw"]?.number,
            (angle + lower + upper + camera + target).isFinite
        else { return nil }
        self.init(angle: angle, range: lower...upper, turnedFrom: camera, to: target)
    }
}
