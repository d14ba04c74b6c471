import FoundationEssentials
import Testing

@testable import Shots

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
        var shot = try SimulatedShot(try timelapse(1200), .file, seed: seed)
        try shot.runToEnd(risk: 0.01)
        #expect(shot.kills > 50)
        #expect(shot.files == Set(1...1200))
        #expect(!shot.isBlurred)
        #expect(shot.now > 4 * 3600 - 12)
        // The photos are in order, and at least half an interval apart.
        let times = (1...1200).compactMap { shot.times[$0] }
        #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 > 5.5 })
    }

    @Test(
        "with a shutter that counts exposures, each photo is exposed exactly once",
        arguments: [4, 5, 6] as [UInt64])
    func counter(seed: UInt64) throws {
        var shot = try SimulatedShot(try timelapse(400), .counter, seed: seed)
        try shot.runToEnd(risk: 0.02)
        #expect(shot.kills > 30)
        #expect(shot.exposures == Dictionary(uniqueKeysWithValues: (1...400).map { ($0, 1) }))
    }

    @Test("without evidence, no photo is lost, and each repeated photo is listed")
    func repeated() throws {
        var shot = try SimulatedShot(try timelapse(400), .none, seed: 7)
        try shot.runToEnd(risk: 0.02)
        let record = try shot.record
        #expect((1...400).allSatisfy { shot.exposures[$0, default: 0] >= 1 })
        let double = shot.exposures.filter { $0.value > 1 }.keys
        #expect(double.count > 3)
        #expect(double.allSatisfy(record.repeated.contains))
    }

    @Test(
        "without evidence and with doubt = skip, no photo is repeated, and each lost photo is listed"
    )
    func skipped() throws {
        var shot = try SimulatedShot(try timelapse(400, doubt: .skip), .none, seed: 8)
        try shot.runToEnd(risk: 0.02)
        let record = try shot.record
        #expect(shot.exposures.values.allSatisfy { $0 == 1 })
        let lost = (1...400).filter { shot.exposures[$0] == nil }
        #expect(lost.count > 3)
        #expect(lost.allSatisfy(record.skipped.contains))
    }

    @Test(
        "without kills, each photo is on time, except for a delay of a few seconds after a shutter error"
    )
    func interval() throws {
        var shot = try SimulatedShot(try timelapse(300), .counter, seed: 9)
        shot.numbers = SeededNumbers(9)
        #expect(try shot.run(risk: 0))
        let times = (1...300).compactMap { shot.times[$0] }
        let first = times[0]
        for (index, time) in times.enumerated() where index % 10 == 0 {
            // A repeated photo can be late by a few seconds, but does not delay the following
            // photos.
            #expect(time - first - 12 * Double(index) < 6)
            #expect(time - first - 12 * Double(index) > -0.1)
        }
    }

    @Test(
        "after a short restart the interval since the previous photo is kept; after hours the next photo is taken at once; with a clock that was set back, the next photo waits half an interval",
        arguments: [(104.0, 112.0), (20_000, 20_000.5), (-5000, -4993.5)])
    func restart(start: Double, photo: Double) throws {
        let plan = try timelapse(3)
        var record = ShotRecord(plan, originYaw: 0)
        (record.done, record.newestPhoto) = (1, SimulatedShot.epoch + 100)
        var session = ShotSession(plan, record)
        // The first photo was taken at 100 s; a negative time means that the clock was set back.
        var now = start
        var target = Pose()
        while true {
            switch session.next(now: now, wall: SimulatedShot.epoch + now) {
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

    @Test("after a shutter without an answer, the camera must be still again")
    func notMarked() throws {
        var (session, pose) = try settling()
        var now = 0.0
        func sight(isHeld: Bool) -> ShotSession.CameraState {
            .init(isHeld: isHeld, target: pose, setpoint: pose, error: 0, rate: 0)
        }
        while now < 10, session.next(now: now, wall: now) != .mark {
            now += 0.05
            session.see(sight(isHeld: true), now: now)
        }
        #expect(now < 10)
        session.notMarked()
        for _ in 0..<100 {
            now += 0.05
            session.see(sight(isHeld: false), now: now)
            #expect(session.next(now: now, wall: now) != .mark)
        }
        let end = now + 10
        while now < end, session.next(now: now, wall: now) != .mark {
            now += 0.05
            session.see(sight(isHeld: true), now: now)
        }
        #expect(now < end)
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

    @Test("the patience time does not run while the set-point still moves to the pose")
    func slowMove() throws {
        var (session, pose) = try settling { $0.still.patience = 3 }
        var now = 0.0
        while now < 20 {
            now += 0.05
            let way = max(0, 10 - now)
            session.see(
                .init(
                    isHeld: true, target: pose, setpoint: Pose(yaw: pose.yaw + way), error: 5,
                    rate: 1), now: now)
            if session.next(now: now, wall: now) == .mark { break }
        }
        #expect(abs(now - 13) < 0.2)
    }

    @Test(
        "a pose beyond a joint's range is photographed after the patience time, or after 20 s without a patience time, and the photo is listed",
        arguments: [(3.0, 3.05), (0, 21.05)])
    func blocked(patience: Double, photo: Double) throws {
        var (session, pose) = try settling { $0.still.patience = patience }
        var now = 0.0
        var isOdd = false
        while now < 60 {
            now += 0.05
            isOdd.toggle()
            // With the joint at its end, the set-point follows the handle's tremor.
            let end = Pose(yaw: pose.yaw + (isOdd ? 9.95 : 10.05))
            session.see(
                .init(
                    isHeld: true, target: pose, setpoint: end, error: 0, rate: 0,
                    isAtJointEnd: true), now: now)
            if session.next(now: now, wall: now) == .mark { break }
        }
        #expect(session.isBlocked)
        #expect(abs(now - photo) < 0.2)
        session.marked(nil)
        guard case .save(let intention) = session.next(now: now, wall: now) else {
            Issue.record("The session does not save its intention.")
            return
        }
        session.saved(intention)
        session.shot(now: now, wall: now)
        #expect(session.record.blocked == [1] && session.record.unsteady == 0)
        #expect(session.record.remarks.count == 1)
    }

    @Test(
        "a photo of a time-lapse waits for a still camera until the patience time after its scheduled time",
        arguments: [(62.0, 62.5, 0), (1000, 63.5, 1)])
    func scheduledPatience(end: Double, photo: Double, unsteady: Int) throws {
        var recipe = ShotRecipe(
            .timelapse(.init(photos: 2, interval: 60)),
            frames: [.init(Pose()), .init(Pose(yaw: 20))])
        recipe.still.patience = 3
        let plan = try ShotPlan(recipe)
        var session = ShotSession(plan, ShotRecord(plan, originYaw: 0))
        var (now, target, photos) = (0.0, Pose(), [Double]())
        while now < 100, photos.count < 2 {
            switch session.next(now: now, wall: now) {
            case .point(let pose, _):
                target = pose
                session.pointed(isAccepted: true, now: now)
            case .wait:
                now += 0.05
                // The camera is still for most of the interval, and moves before the second photo.
                let isMoving = (59..<end).contains(now)
                session.see(
                    .init(
                        isHeld: true, target: target, setpoint: target, error: isMoving ? 5 : 0,
                        rate: 0), now: now)
            case .mark: session.marked(nil)
            case .save(let record): session.saved(record)
            case .shoot:
                photos.append(now)
                session.shot(now: now, wall: now)
            case let task:
                Issue.record("\(task)")
                return
            }
        }
        #expect(photos.count == 2)
        #expect(abs((photos.last ?? 0) - photo) < 0.2, "\(photos)")
        #expect(session.record.unsteady == unsteady)
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
        "three failures end the run, and a photo that was perhaps taken stays pending for the next run",
        arguments: [ShotSession.Evidence.notTaken, .unknown])
    func failure(evidence: ShotSession.Evidence) throws {
        var (session, pose) = try settling()
        var now = 0.0
        var shots = 0
        for _ in 0..<1000 {
            now += 0.05
            session.see(
                .init(isHeld: true, target: pose, setpoint: pose, error: 0, rate: 0), now: now)
            switch session.next(now: now, wall: now) {
            case .point:
                // A run that is paused before the next attempt examines a pending photo.
                #expect(evidence == .unknown || session.record.pending == nil)
                session.pointed(isAccepted: true, now: now)
            case .mark: session.marked(nil)
            case .save(let record): session.saved(record)
            case .shoot:
                shots += 1
                session.shot("no film", now: now, wall: now)
            case .examine: session.examined(evidence, now: now, wall: now)
            case .fail(let reason):
                #expect(shots == 3)
                #expect(reason == "Photo 1 failed 3 times: no film")
                #expect(session.record.done == 0)
                // The next run examines a pending photo, and cannot find out what is known now.
                #expect((session.record.pending == nil) == (evidence == .notTaken))
                return
            case .wait: break
            case .finish: Issue.record("finished")
            }
        }
        Issue.record("the run does not end")
    }
}
