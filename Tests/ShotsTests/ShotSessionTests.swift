import FoundationEssentials
import Testing

@testable import Shots

/// Simulated disk, camera, shutter and clocks around a session. After a kill, only the disk, the
/// photos and the gimbal keep their state.
private struct World {
    /// Evidence of an exposure that the shutter can provide.
    enum Proof { case file, counter, none }

    let plan: ShotPlan
    let proof: Proof
    var numbers: SeededNumbers
    /// Time, s; the wall clock differs by a constant.
    var now = 0.0
    /// The saved state, as JSON.
    var disk: Data
    /// Number of exposures of each photo, files of the photos, and time of each exposure.
    var exposures: [Int: Int] = [:]
    var files: Set<Int> = []
    var times: [Int: Double] = [:]
    var target = Pose()
    var setpoint = Pose()
    var kills = 0
    /// True if the camera moved while a photo was taken.
    var isBlurred = false

    static let epoch = 1_800_000_000.0

    init(_ plan: ShotPlan, _ proof: Proof, seed: UInt64) throws {
        (self.plan, self.proof) = (plan, proof)
        numbers = SeededNumbers(seed)
        disk = try JSONEncoder().encode(ShotRecord(plan, originYaw: 12.5))
    }

    var record: ShotRecord {
        get throws { try JSONDecoder().decode(ShotRecord.self, from: disk) }
    }

    mutating func chance(_ share: Double) -> Bool {
        Double.random(in: 0..<1, using: &numbers) < share
    }

    /// Runs the session until its end or the next kill.
    ///
    /// - Parameter risk: Probability of a kill before each task, and after the effect of each task.
    /// - Returns: True if the shot is complete.
    /// - Throws: An error of the JSON coder.
    mutating func run(risk: Double) throws -> Bool {
        var session = ShotSession(plan, try record)
        for _ in 0..<1_000_000 {
            let task = session.next(now: now, wall: now + Self.epoch)
            // A time-lapse waits most of the time, so the simulation kills the session only at
            // tasks with an effect.
            let isQuiet = if case .wait = task { true } else { false }
            if !isQuiet, chance(risk) { return killed() }
            switch task {
            case .point(let pose, _):
                target = pose
                advance(0.01)
                session.pointed(isAccepted: !chance(0.02), now: now)
            case .wait(let seconds):
                advance(min(max(seconds, 0.001), 0.05))
                session.see(
                    ShotSession.CameraState(
                        isHeld: true, target: target, setpoint: setpoint,
                        error: Double.random(in: 0...0.15, using: &numbers),
                        rate: setpoint == target ? 0.2 : 30), now: now)
            case .mark:
                session.marked(proof == .counter ? exposures.values.reduce(0, +) : nil)
            case .save(let record):
                let data = try JSONEncoder().encode(record)
                disk = data
                advance(0.01)
                if chance(risk) { return killed() }
                session.saved(record)
            case .shoot(let photo):
                isBlurred = isBlurred || setpoint != target
                if !chance(0.03) {
                    exposures[photo, default: 0] += 1
                    times[photo] = now
                    advance(0.2)
                    if chance(risk) { return killed() }
                    files.insert(photo)
                    if chance(risk) { return killed() }
                    session.shot(now: now, wall: now + Self.epoch)
                } else {
                    session.shot("no answer", now: now, wall: now + Self.epoch)
                }
            case .examine(let photo, let mark):
                let evidence: ShotSession.Evidence =
                    switch proof {
                    case .file: files.contains(photo) ? .taken : .notTaken
                    case .counter:
                        exposures.values.reduce(0, +) > (mark ?? .max) ? .taken : .notTaken
                    case .none: .unknown
                    }
                session.examined(evidence, now: now, wall: now + Self.epoch)
            case .finish: return true
            case .fail: return killed()
            }
        }
        Issue.record("The shot does not end.")
        return true
    }

    private mutating func killed() -> Bool {
        kills += 1
        // Some restarts take longer than an interval of the time-lapse.
        now += Double.random(in: 0.1...30, using: &numbers)
        return false
    }

    private mutating func advance(_ seconds: Double) {
        now += seconds
        let rest = setpoint.distance(to: target)
        let step = 30 * seconds
        if rest <= step {
            setpoint = target
        } else {
            setpoint.yaw += Pose.wrapped(target.yaw - setpoint.yaw) * step / rest
            setpoint.pitch += (target.pitch - setpoint.pitch) * step / rest
        }
    }

    mutating func runToEnd(risk: Double) throws {
        while try !run(risk: risk) { #expect(kills < 100_000) }
    }
}

@Suite("Execution of a photo series")
struct ShotSessionTests {
    private func timelapse(_ photos: Int, doubt: ShutterSettings.Doubt = .repeat) throws -> ShotPlan
    {
        var recipe = ShotRecipe(
            .timelapse(.init(photos: photos, interval: 12, ease: 0.1)),
            frames: [.init(Pose(pitch: -10)), .init(Pose(yaw: 90, pitch: 5))])
        recipe.shutter.doubt = doubt
        return try ShotPlan(recipe)
    }

    @Test(
        "in a time-lapse of four hours with kills at random instants, each photo exists",
        arguments: [1, 2, 3] as [UInt64])
    func file(seed: UInt64) throws {
        var world = try World(try timelapse(1200), .file, seed: seed)
        try world.runToEnd(risk: 0.01)
        #expect(world.kills > 50)
        #expect(world.files == Set(1...1200))
        #expect(!world.isBlurred)
        #expect(world.now > 4 * 3600 - 12)
        // The photos are in order, and at least half an interval apart.
        let times = (1...1200).compactMap { world.times[$0] }
        #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 > 5.5 })
    }

    @Test(
        "with a shutter that counts exposures, each photo is exposed exactly once",
        arguments: [4, 5, 6] as [UInt64])
    func counter(seed: UInt64) throws {
        var world = try World(try timelapse(400), .counter, seed: seed)
        try world.runToEnd(risk: 0.02)
        #expect(world.kills > 30)
        #expect(world.exposures == Dictionary(uniqueKeysWithValues: (1...400).map { ($0, 1) }))
    }

    @Test("without evidence, no photo is lost, and each repeated photo is listed")
    func repeated() throws {
        var world = try World(try timelapse(400), .none, seed: 7)
        try world.runToEnd(risk: 0.02)
        let record = try world.record
        #expect((1...400).allSatisfy { world.exposures[$0, default: 0] >= 1 })
        let double = world.exposures.filter { $0.value > 1 }.keys
        #expect(double.count > 3)
        #expect(double.allSatisfy(record.repeated.contains))
    }

    @Test(
        "without evidence and with doubt = skip, no photo is repeated, and each lost photo is listed"
    )
    func skipped() throws {
        var world = try World(try timelapse(400, doubt: .skip), .none, seed: 8)
        try world.runToEnd(risk: 0.02)
        let record = try world.record
        #expect(world.exposures.values.allSatisfy { $0 == 1 })
        let lost = (1...400).filter { world.exposures[$0] == nil }
        #expect(lost.count > 3)
        #expect(lost.allSatisfy(record.skipped.contains))
    }

    @Test(
        "without kills, each photo is on time, except for a delay of a few seconds after a shutter error"
    )
    func interval() throws {
        var world = try World(try timelapse(300), .counter, seed: 9)
        world.numbers = SeededNumbers(9)
        #expect(try world.run(risk: 0))
        let times = (1...300).compactMap { world.times[$0] }
        let first = times[0]
        for (index, time) in times.enumerated() where index % 10 == 0 {
            // A repeated photo can be late by a few seconds, but does not delay the following
            // photos.
            #expect(time - first - 12 * Double(index) < 6)
            #expect(time - first - 12 * Double(index) > -0.1)
        }
    }

    @Test(
        "after a short restart the interval since the previous photo is kept; after hours the next photo is taken at once",
        arguments: [(104.0, 112.0), (20_000, 20_000.5), (-5000, -4999.5)])
    func restart(start: Double, photo: Double) throws {
        let plan = try timelapse(3)
        var record = ShotRecord(plan, originYaw: 0)
        (record.done, record.newestPhoto) = (1, World.epoch + 100)
        var session = ShotSession(plan, record)
        // The first photo was taken at 100 s; a negative time means that the clock was set back.
        var now = start
        var target = Pose()
        while true {
            switch session.next(now: now, wall: World.epoch + now) {
            case .point(let pose, _):
                target = pose
                session.pointed(isAccepted: true, now: now)
            case .wait(let seconds):
                now += min(seconds, 0.05)
                session.see(
                    .init(isHeld: true, target: target, setpoint: target, error: 0, rate: 0),
                    now: now)
            case .mark:
                #expect(abs(now - photo) < 0.1)
                return
            default:
                Issue.record("the task is unexpected")
                return
            }
        }
    }

    /// Session that waits for the camera at its first pose, and this pose.
    private func settling(_ change: (inout ShotRecipe) -> Void = { _ in }) throws -> (
        session: ShotSession, pose: Pose
    ) {
        var recipe = ShotRecipe(.keyFrames, frames: [.init(Pose(yaw: 20))])
        change(&recipe)
        let plan = try ShotPlan(recipe)
        var session = ShotSession(plan, ShotRecord(plan, originYaw: 170))
        guard case .point(let pose, _) = session.next(now: 0, wall: 0) else {
            Issue.record("the first task is not a move")
            return (session, Pose())
        }
        session.pointed(isAccepted: true, now: 0)
        return (session, pose)
    }

    @Test(
        "no photo is taken while the camera is at another pose, moves, shakes or is switched off",
        arguments: [
            ShotSession.CameraState(
                isHeld: true, target: Pose(yaw: 100), setpoint: Pose(yaw: 100), error: 0, rate: 0),
            ShotSession.CameraState(
                isHeld: true, target: Pose(yaw: -170), setpoint: Pose(yaw: -171), error: 0, rate: 0),
            ShotSession.CameraState(
                isHeld: true, target: Pose(yaw: -170), setpoint: Pose(yaw: -170), error: 0.3,
                rate: 0),
            ShotSession.CameraState(
                isHeld: true, target: Pose(yaw: -170), setpoint: Pose(yaw: -170), error: 0,
                rate: 1.5),
            ShotSession.CameraState(
                isHeld: false, target: Pose(yaw: -170), setpoint: Pose(yaw: -170), error: 0, rate: 0
            ),
        ])
    func moving(sight: ShotSession.CameraState) throws {
        var (session, pose) = try settling()
        #expect(pose.yaw == -170)
        for step in 0..<100 {
            let now = Double(step) * 0.05
            session.see(sight, now: now)
            switch session.next(now: now, wall: now) {
            case .wait, .point: session.pointed(isAccepted: true, now: now)
            case let task: Issue.record("\(task)")
            }
        }
    }

    @Test("the camera must be still for the whole time; a shake restarts the time")
    func shake() throws {
        var (session, pose) = try settling { $0.still.seconds = 1 }
        for step in 0...60 {
            let now = Double(step) * 0.05
            session.see(
                .init(
                    isHeld: true, target: pose, setpoint: pose, error: step == 18 ? 1 : 0, rate: 0),
                now: now)
            let task = session.next(now: now, wall: now)
            if task == .mark {
                #expect(abs(now - 1.95) < 0.06)
                return
            }
        }
        Issue.record("no photo")
    }

    @Test(
        "a camera that is never still is photographed after the patience time, and the photo is counted as unsteady"
    )
    func patience() throws {
        var (session, pose) = try settling { $0.still.patience = 3 }
        var now = 0.0
        while now < 10 {
            now += 0.05
            session.see(
                .init(isHeld: true, target: pose, setpoint: pose, error: 5, rate: 9), now: now)
            if session.next(now: now, wall: now) == .mark { break }
        }
        #expect(abs(now - 3.05) < 0.1)
        session.marked(nil)
        guard case .save(let intention) = session.next(now: now, wall: now) else {
            Issue.record("The session does not save its intention.")
            return
        }
        session.saved(intention)
        session.shot(now: now, wall: now)
        guard case .save(let result) = session.next(now: now, wall: now) else {
            Issue.record("The session does not save its result.")
            return
        }
        #expect(result.unsteady == 1)
        #expect(result.done == 1 && result.pending == nil)
    }

    @Test(
        "no photo is taken while another client keeps the camera at another pose, even after the patience time"
    )
    func keptAway() throws {
        var (session, pose) = try settling { $0.still.patience = 3 }
        for step in 1...400 {
            let now = Double(step) * 0.05
            session.see(
                .init(
                    isHeld: true, target: Pose(pitch: 40), setpoint: Pose(pitch: 40), error: 0,
                    rate: 0), now: now)
            switch session.next(now: now, wall: now) {
            case .point: session.pointed(isAccepted: step > 300, now: now)
            case .wait: break
            case let task: Issue.record("\(task)")
            }
        }
        // The session controls the gimbal again, so the patience time starts again.
        session.see(
            .init(isHeld: true, target: pose, setpoint: pose, error: 5, rate: 9), now: 20.05)
        #expect(session.next(now: 20.05, wall: 0) != .mark)
    }

    @Test("after a move by another client, the session moves the camera back before the photo")
    func otherClient() throws {
        var (session, pose) = try settling()
        var tasks: [ShotSession.Task] = []
        for step in 1...40 {
            let now = Double(step) * 0.05
            session.see(
                .init(
                    isHeld: true, target: Pose(pitch: 40), setpoint: Pose(pitch: 40), error: 0,
                    rate: 0), now: now)
            tasks.append(session.next(now: now, wall: now))
        }
        #expect(tasks.contains(.point(pose, rate: 30)))
        #expect(!tasks.contains(.mark))
    }

    @Test(
        "a shutter that fails three times ends the run, and the photo stays pending for the next run"
    )
    func failure() throws {
        var (session, pose) = try settling()
        var now = 0.0
        var shots = 0
        for _ in 0..<1000 {
            now += 0.05
            session.see(
                .init(isHeld: true, target: pose, setpoint: pose, error: 0, rate: 0), now: now)
            switch session.next(now: now, wall: now) {
            case .point: session.pointed(isAccepted: true, now: now)
            case .mark: session.marked(nil)
            case .save(let record): session.saved(record)
            case .shoot:
                shots += 1
                session.shot("no film", now: now, wall: now)
            case .examine: session.examined(.notTaken, now: now, wall: now)
            case .fail(let reason):
                #expect(shots == 3)
                #expect(reason == "Photo 1 failed 3 times: no film")
                #expect(session.record.pending != nil && session.record.done == 0)
                return
            case .wait: break
            case .finish: Issue.record("finished")
            }
        }
        Issue.record("the run does not end")
    }
}
