import Aerie
import CVideo
import Client
import GimbalCore
import Glibc
import People
import PlainText
import Synchronization
import Wire

/// State and work of the service's thread.
struct PeopleRun {
    let service: PeopleService
    private var client: DaemonClient?
    /// CLOCK_MONOTONIC minus airframed's clock, s.
    private var offset = 0.0
    private var examiner: PictureExaminer?
    /// Loader of the models; nil before and after the loading.
    var loader: ModelLoader?
    private var follower = PersonFollower()
    private var buffer = [UInt8](repeating: 0, count: 3 * 1920 * 1080)
    private var nextReport: Int64 = 0
    private var nextAttempt: Int64 = 0
    /// Time of the latest picture, s; before the first picture, the time of the choice of a person.
    private var lastPicture = 0.0
    /// Age of the latest picture above which the people in this picture are no longer reported, s;
    /// longer than a slow board needs for a picture.
    private static let pictureLimit = 3.0
    private var seenChoice = 0
    /// Box of the followed person, as fractions of the picture.
    private var box: [Double]?
    /// Number of people in the picture.
    private var count = 0
    /// True if the latest picture is older than `pictureLimit`.
    private var lacksPictures = false
    /// Mean processing time of a picture, ms; nil before the first picture.
    private var cost: Double?
    private var problem: String?
    /// Reason why the models could not be loaded; nil if they were loaded, or not needed yet.
    private var modelError: InferenceError?
    private var overlay: Overlay?
    /// Tracked person whom a phone detects: ID, latest direction (rad), and time of this direction
    /// (s).
    private var remote: (id: String, yaw: Double, pitch: Double, seen: Double?)?

    init(service: PeopleService) { self.service = service }

    /// Executes one iteration of the thread's loop, which takes at most 0.1 s without models.
    mutating func step() {
        let settings = service.settings
        guard settings.people.enabled, settings.gimbal.socket != "off" else {
            end()
            client = nil
            usleep(100_000)
            return
        }
        follower.framing = settings.framing.framing
        follower.patience = Double(settings.people.patienceS)
        do throws(ClientError) {
            try connect(settings)
            try report(settings)
            takeModels(settings)
            if remote != nil, let client { return try followRemote(client) }
            guard follower.state != .off, let client else {
                openGate(false)
                usleep(20_000)
                return
            }
            openGate(true)
            try examine(settings, client)
        } catch {
            lose(error)
        }
    }

    // MARK: Connection

    private mutating func connect(_ settings: EyesSettings) throws(ClientError) {
        guard client == nil else { return }
        guard cv_now() >= nextAttempt else {
            usleep(50_000)
            return
        }
        nextAttempt = cv_now() + 1_000_000_000
        let client = try DaemonClient(path: settings.gimbal.socket, timeout: 1)
        offset = try client.clockOffset().seconds
        self.client = client
        seenChoice = 0
        nextReport = 0
    }

    private mutating func lose(_ error: ClientError) {
        if case .refused(let refusal) = error {
            // airframed refuses the request if a user has ended the tracking, if another source
            // moves the camera, or if the motors are off.
            nextReport = 0
            let earlier = seenChoice
            try? report(service.settings)
            // A new choice in the answer is later than the refused request.
            guard seenChoice == earlier, follower.state != .off || remote != nil else { return }
            return stop(refusal.message)
        }
        end()
        client = nil
        usleep(100_000)
    }

    private mutating func end() {
        follower.stop()
        examiner?.reset()
        remote = nil
        (box, count, overlay, lacksPictures) = (nil, 0, nil, false)
        service.note(isActive: false)
        _ = service.feed.withFeed { $0.overlay([], until: 0) }
        openGate(false)
    }

    private func openGate(_ isOpen: Bool) {
        _ = service.feed.withFeed { $0.set("gate", "drop", isOpen ? "false" : "true") }
    }

    /// Sends a report five times a second, and follows the person that the reply names.
    private mutating func report(_ settings: EyesSettings) throws(ClientError) {
        guard let client, cv_now() >= nextReport else { return }
        nextReport = cv_now() + PeopleService.interval
        var report = CompanionReport(name: "people")
        report.finding = finding
        if follower.state == .off, remote == nil, let error = modelProblem(settings) {
            report.level = .warn
            report.finding = error.problem
            report.remedy = error.remedy
        }
        report.following = FollowingState(
            isActive: follower.state != .off || remote != nil, people: count, box: box)
        if let cost { report.values["picture_ms"] = Number(cost) }
        let answer = try client.json("companion", report.params)
        guard let choice = answer["choice"], let number = choice["number"]?.int,
            number != seenChoice,
            let action = choice["action"]?.string.flatMap(FollowingChoice.Action.init)
        else { return }
        seenChoice = number
        let now = Double(cv_now()) * 1e-9
        switch action {
        case .off:
            problem = nil
            end()
        case .on: begin(.on, settings, now)
        case .next: begin(.next, settings, now)
        case .point:
            begin(
                .point(x: choice["x"]?.number ?? 0.5, y: choice["y"]?.number ?? 0.5), settings, now)
        case .person:
            end()
            problem = nil
            remote = (choice["person"]?.string ?? "", 0, 0, nil)
        }
    }

    /// Reason why no person can be found: the error of the last attempt to load the models; before
    /// the first attempt, a missing file.
    private func modelProblem(_ settings: EyesSettings) -> InferenceError? {
        guard examiner == nil else { return nil }
        return modelError
            ?? ModelFiles.problem(in: ModelFiles.directory(settings.people.models))
    }

    /// Starts to follow a person, and to load the models if necessary.
    private mutating func begin(
        _ choice: PersonFollower.Choice, _ settings: EyesSettings, _ now: Double
    ) {
        (problem, modelError, remote) = (nil, nil, nil)
        if examiner == nil, loader == nil {
            loader = ModelLoader(directory: ModelFiles.directory(settings.people.models))
        }
        if follower.state == .off { lastPicture = now }
        examiner?.divisions = settings.people.divisions
        follower.ask(choice, at: now)
        service.note(isActive: true)
    }

    /// Uses the models as soon as they are loaded.
    private mutating func takeModels(_ settings: EyesSettings) {
        guard let models = loader?.models else { return }
        loader = nil
        switch models {
        case .success(let finder):
            examiner = PictureExaminer(finder)
            examiner?.divisions = settings.people.divisions
        case .failure(let error):
            modelError = error
            service.write(error.description)
            guard remote == nil else { return }
            problem = error.description
            end()
        }
    }

    /// Stops following a person, and states the reason in the reports and in the log.
    private mutating func stop(_ reason: String) {
        problem = reason
        service.write("airframe-eyes has stopped following: \(reason).")
        end()
    }

    // MARK: People in the phones' pictures

    /// Aims the camera at a person that a phone detects. While no phone detects the person, the
    /// camera holds its direction. The tracking ends after the time `patience`.
    private mutating func followRemote(_ client: DaemonClient) throws(ClientError) {
        guard var remote else { return }
        let now = Double(cv_now()) * 1e-9
        let found = service.phones?.find(remote.id)
        if let angles = found?.angles { remote = (remote.id, angles.yaw, angles.pitch, now) }
        self.remote = remote
        guard let seen = remote.seen, now - seen < follower.patience else {
            return stop("no \(found == nil ? "" : "calibrated ")phone shows person \(remote.id)")
        }
        let aim = PersonFollower.Aim(
            yaw: remote.yaw, yawRate: 0, pitch: remote.pitch, time: now)
        try send(aim, client)
        usleep(50_000)
    }

    // MARK: Pictures

    private mutating func examine(_ settings: EyesSettings, _ client: DaemonClient)
        throws(ClientError)
    {
        var info = cv_sample()
        let isTaken =
            service.feed.withFeed { feed in
                buffer.withUnsafeMutableBufferPointer { feed.sample(into: $0, &info) }
            } ?? false
        guard isTaken, info.exposed >= 0,
            let picture = RGBPicture(
                width: Int(info.width), height: Int(info.height),
                bytes: Array(buffer[..<(3 * Int(info.width) * Int(info.height))]))
        else {
            try hold(client)
            usleep(20_000)
            return
        }
        let start = cv_now()
        let exposed = Double(info.exposed) * 1e-9
        (lastPicture, lacksPictures) = (Double(start) * 1e-9, false)
        let view = CameraView(
            width: picture.width, height: picture.height,
            fieldOfView: Double(settings.people.fieldOfViewDeg) * .pi / 180)
        guard let attitude = try attitude(client, at: exposed) else { return }
        let axis = EarthDirection(attitude.rotate(Vector3(1, 0, 0)))
        // Slow models must not exceed the timeout of the mode `tracking`, which each request restarts.
        try aim(axis, view, client)
        var failure: ClientError?
        var lastAim = start
        var people: [Person] = []
        do {
            people =
                try examiner?.examine(
                    picture, view, attitude, at: exposed, tracker: follower.tracker,
                    isSearching: follower.isSearching
                ) {
                    guard failure == nil, cv_now() - lastAim > 100_000_000 else { return }
                    lastAim = cv_now()
                    do throws(ClientError) { try aim(axis, view, client) } catch { failure = error }
                } ?? []
        } catch {
            problem = error.description
            service.write(error.description)
            end()
            return
        }
        if let failure { throw failure }
        if loader != nil { follower.extendSearch(at: Double(cv_now()) * 1e-9) }
        let sightings = people.map { Sighting($0, view, attitude, follower.framing) }
        let ids = follower.update(
            sightings, axis: axis,
            point: { x, y in
                view.direction(
                    of: PixelPoint(x: x * view.width, y: y * view.height), attitude)
            }, exposed: exposed, now: Double(cv_now()) * 1e-9)
        guard follower.state != .off else { return stop("no person is visible") }
        examiner?.note(people, ids, view, attitude, at: exposed)
        let ms = Double(cv_now() - start) * 1e-6
        cost = cost.map { $0 + (ms - $0) * 0.1 } ?? ms
        count = people.count
        show(people, ids, view, settings)
        try aim(axis, view, client)
    }

    private func attitude(_ client: DaemonClient, at time: Double) throws(ClientError)
        -> Quaternion?
    {
        do throws(ClientError) {
            let answer = try client.json("attitude", ["t": .double(time - offset)])
            let q = answer["attitude"]?.array?.compactMap(\.number) ?? []
            guard q.count == 4 else { return nil }
            return Quaternion(w: q[0], x: q[1], y: q[2], z: q[3])
        } catch {
            // The picture is ignored, because it is older than airframed's stored attitudes.
            if case .refused = error { return nil }
            throw error
        }
    }

    /// Points the camera at the followed person, in the direction predicted for the current time.
    private mutating func aim(_ axis: EarthDirection, _ view: CameraView, _ client: DaemonClient)
        throws(ClientError)
    {
        let aim = follower.aim(at: Double(cv_now()) * 1e-9, axis: axis, view)
        if let aim { try send(aim, client) }
    }

    /// Repeats the request while no new picture has arrived, because each request restarts the
    /// timeout of the mode `tracking`. The predicted motion of a followed person continues.
    private mutating func hold(_ client: DaemonClient) throws(ClientError) {
        let now = Double(cv_now()) * 1e-9
        guard now - lastPicture < follower.patience else { return stop("there are no pictures") }
        if now - lastPicture > Self.pictureLimit { (box, count, lacksPictures) = (nil, 0, true) }
        // Before the first picture, the camera holds its present direction.
        if follower.hold(at: now) == nil, let attitude = try attitude(client, at: now - 0.02) {
            follower.rest(on: EarthDirection(attitude.rotate(Vector3(1, 0, 0))), at: now)
        }
        if let aim = follower.hold(at: now) { try send(aim, client) }
    }

    private func send(_ aim: PersonFollower.Aim, _ client: DaemonClient) throws(ClientError) {
        let degree = 180 / Double.pi
        _ = try client.json(
            "aim",
            [
                "yaw": .double(aim.yaw * degree), "pitch": .double(aim.pitch * degree),
                "yaw_rate": .double(aim.yawRate * degree), "t": .double(aim.time - offset),
                "smoothing": .double(follower.framing.smoothing),
            ])
    }

    // MARK: Reports and overlay

    private mutating func show(
        _ people: [Person], _ ids: [Int?], _ view: CameraView, _ settings: EyesSettings
    ) {
        let target = follower.target
        box = zip(people, ids).first { $0.1 != nil && $0.1 == target }.map { person, _ in
            let box = person.box
            return [
                box.left / view.width, box.top / view.height,
                (box.left + box.width) / view.width, (box.top + box.height) / view.height,
            ]
        }
        let shapes =
            settings.people.overlay
            ? Overlay(
                Array(zip(people, ids)).map { ($0, $1) }, target: target,
                text: finding.uppercased(), width: Int(view.width)
            ).shapes : []
        // The shapes disappear 0.5 s after the last picture.
        _ = service.feed.withFeed { $0.overlay(shapes, until: cv_now() + 500_000_000) }
    }

    private var finding: String {
        let people = "\(count) \(count == 1 ? "person" : "people")"
        let seen = lacksPictures ? "the camera sends no pictures" : people
        let time = lacksPictures ? "" : cost.map { ", \(Format.fixed($0, 0)) ms" } ?? ""
        if let remote { return "follows person \(remote.id), detected by a phone" }
        return switch follower.state {
        case .off: problem.map { "no person is followed: \($0)" } ?? "no person is followed"
        case .waiting: "waiting for a person, \(seen)\(time)"
        case .following(let id): "follows person \(id), \(seen)\(time)"
        case .lost(let id): "person \(id) is lost, \(seen)\(time)"
        }
    }
}
