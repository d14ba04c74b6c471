import FoundationEssentials
import Testing

@testable import Shots

/// Simulated disk, camera, shutter and clocks around a session. After a kill, only the disk, the
/// photos and the gimbal keep their state.
struct SimulatedShot {
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
