internal import GimbalCore
internal import Synchronization

/// Newest motion of a joint, with times of the monotonic clock.
struct JointMotion: BitwiseCopyable, Equatable {
    /// Angle of the joint, rad: -π...π, or for a servo that holds angles the angle within its travel
    /// of one turn.
    var angle = 0.0
    /// Rate of the joint, rad/s.
    var rate = 0.0
    /// Time of the measurement.
    var time = Instant(nanoseconds: .min / 2)
    /// Time of the last reply, valid or damaged. This time also advances while no device answers,
    /// if the requests were probably damaged.
    var heard = Instant(nanoseconds: .min / 2)
}

/// Motions of the three joints, which the motors' thread writes and the sensors' thread reads. No
/// thread waits (sequence lock): if a write is in progress, the reader keeps its previous values.
final class JointCell: Sendable {
    private let sequence = Atomic(UInt64(0))
    private let words = Words()

    /// Twelve words: for each joint the angle, the rate, and the times of the measurement and of
    /// the last reply.
    private struct Words: ~Copyable, Sendable {
        let yaw = Word()
        let roll = Word()
        let pitch = Word()
    }

    private struct Word: ~Copyable, Sendable {
        let angle = Atomic(UInt64(0))
        let rate = Atomic(UInt64(0))
        let time = Atomic(Int64.min / 2)
        let heard = Atomic(Int64.min / 2)

        func store(_ motion: JointMotion) {
            angle.store(motion.angle.bitPattern, ordering: .relaxed)
            rate.store(motion.rate.bitPattern, ordering: .relaxed)
            time.store(motion.time.nanoseconds, ordering: .relaxed)
            heard.store(motion.heard.nanoseconds, ordering: .relaxed)
        }

        func load() -> JointMotion {
            JointMotion(
                angle: Double(bitPattern: angle.load(ordering: .relaxed)),
                rate: Double(bitPattern: rate.load(ordering: .relaxed)),
                time: Instant(nanoseconds: time.load(ordering: .relaxed)),
                heard: Instant(nanoseconds: heard.load(ordering: .relaxed)))
        }
    }

    /// Creates the motions of joints that have not been measured yet.
    init() {}

    /// Stores the motions. Only the motors' thread calls the method.
    func publish(_ motions: PerAxis<JointMotion>) {
        let number = sequence.load(ordering: .relaxed)
        sequence.store(number &+ 1, ordering: .relaxed)
        atomicMemoryFence(ordering: .releasing)
        words.yaw.store(motions.yaw)
        words.roll.store(motions.roll)
        words.pitch.store(motions.pitch)
        sequence.store(number &+ 2, ordering: .releasing)
    }

    /// Copies the motions to `motions`, unless they are being written.
    func read(into motions: inout PerAxis<JointMotion>) {
        let before = sequence.load(ordering: .acquiring)
        guard before & 1 == 0 else { return }
        let copy = PerAxis(
            yaw: words.yaw.load(), roll: words.roll.load(), pitch: words.pitch.load())
        atomicMemoryFence(ordering: .acquiring)
        if sequence.load(ordering: .relaxed) == before { motions = copy }
    }
}
