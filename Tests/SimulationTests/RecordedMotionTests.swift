import GimbalCore
import Simulation
import Testing

@Suite("Recorded motion of the handle")
struct RecordedMotionTests {
    static let degree = Double.pi / 180
    static let gravity = Vector3(0, 0, 9.81)

    /// A person is at rest, walks for 20 s, and is at rest again. Returns the true motion, and the samples of a
    /// sensor with a gyroscope offset.
    static func walk(rate: Double = 200, offset: Vector3 = .zero) -> (BaseMotion, [IMUSample]) {
        let motion = BaseMotion(.walking, seed: 5, stillDuration: 2)
        let samples = (0..<Int(22 * rate)).map { i in
            let state = motion.state(at: Double(i) / rate)
            return IMUSample(
                time: Instant(nanoseconds: 0), gyro: state.rate + offset,
                accel: state.attitude.inverseRotate(state.acceleration - gravity))
        }
        return (motion, samples)
    }

    @Test(
        "the replayed attitude matches the recorded one within 0.6°, even with a gyroscope offset",
        arguments: [Vector3.zero, Vector3(1, -1.5, 0.7) * degree])
    func attitude(offset: Vector3) {
        let (truth, samples) = Self.walk(offset: offset)
        let recording = RecordedMotion(samples, sampleRate: 200)
        #expect(abs(recording.duration - 22) < 0.01)
        var (tilt, heading) = (0.0, 0.0)
        // The last third of a second is excluded, because the recording ends in mid-stride and
        // stops there.
        for time in stride(from: 0.0, to: 21.6, by: 0.05) {
            let (real, played) = (truth.state(at: time), recording.state(at: time))
            let down = Vector3(0, 0, 1)
            tilt = max(
                tilt,
                real.attitude.inverseRotate(down).cross(played.attitude.inverseRotate(down)).norm)
            heading = max(heading, real.attitude.error(to: played.attitude).norm)
        }
        #expect(tilt < 0.5 * Self.degree, "\(tilt / Self.degree)")
        #expect(heading < 0.6 * Self.degree, "\(heading / Self.degree)")
    }

    @Test("the replayed acceleration matches the recorded one within 10 %")
    func acceleration() {
        let (truth, samples) = Self.walk()
        let recording = RecordedMotion(samples, sampleRate: 200)
        var (difference, power) = (0.0, 0.0)
        for time in stride(from: 6.0, to: 18, by: 0.01) {
            let real = truth.state(at: time).acceleration
            difference += (real - recording.state(at: time).acceleration).squaredNorm
            power += real.squaredNorm
        }
        #expect(difference < 0.01 * power, "\((difference / power).squareRoot())")
    }

    @Test("the rate is the derivative of the attitude, within samples and across them")
    func derivative() {
        let (_, samples) = Self.walk(rate: 100)
        let recording = RecordedMotion(samples, sampleRate: 100)
        let h = 1e-6
        for time in [0.5, 4.0, 7.0033, 12.9999, 18.123, recording.duration + 2] {
            for state in [recording.state, recording.repeated] {
                let turn = state(time - h).attitude.error(to: state(time + h).attitude)
                #expect((turn / (2 * h) - state(time).rate).norm < 1e-3, "at \(time) s")
            }
        }
    }

    @Test("the handle rests before the start and after the end, and the initial heading is zero")
    func ends() {
        let (_, samples) = Self.walk()
        let recording = RecordedMotion(samples, sampleRate: 200)
        for time in [-3.0, recording.duration + 1] {
            let state = recording.state(at: time)
            #expect(state.rate == .zero && state.acceleration == .zero)
        }
        #expect(abs(EulerZXY.angles(recording.state(at: -1).attitude).yaw) < 1e-3)
        let played = BaseMotion(recording, stillDuration: 3)
        #expect(played.state(at: 10) == recording.state(at: 7))
    }

    @Test("a repeated recording has no jump between two repetitions")
    func repeated() {
        let (_, samples) = Self.walk()
        let motion = BaseMotion(
            RecordedMotion(samples, sampleRate: 200), stillDuration: 1, isRepeated: true)
        var last = motion.state(at: 20)
        var most = 0.0
        for tick in 1...20_000 {
            let next = motion.state(at: 20 + Double(tick) * 1e-3)
            let foreseen = last.attitude * Quaternion(rotationVector: last.rate * 1e-3)
            most = max(most, foreseen.error(to: next.attitude).norm)
            last = next
        }
        #expect(most < 2e-4)
        let round = 22 + RecordedMotion.returnSeconds
        let (first, second) = (motion.state(at: 9), motion.state(at: 9 + round - 0.005))
        #expect(first.attitude.error(to: second.attitude).norm < 1e-3)
    }

    @Test("a recording cut in mid-stride starts and ends at rest, and is unchanged in between")
    func cut() {
        let (truth, samples) = Self.walk()
        let recording = RecordedMotion(Array(samples[600..<2600]), sampleRate: 200)
        #expect(recording.state(at: 0).rate.norm < 1e-9)
        #expect(recording.state(at: recording.duration - 1e-6).rate.norm < 1e-3)
        for time in stride(from: 0.5, to: 9.5, by: 0.1) {
            let rate = truth.state(at: 3 + time).rate - recording.state(at: time).rate
            #expect(rate.norm < 5 * Self.degree, "\(time): \(rate)")
        }
    }

    @Test("a recording at rest replays as a resting handle with the recorded tilt")
    func rest() {
        let tilted = EulerZXY.quaternion(AxisVector(yaw: 0, roll: 0.2, pitch: -0.1))
        let sample = IMUSample(
            time: Instant(nanoseconds: 0), gyro: Vector3(0.01, 0.02, -0.01),
            accel: tilted.inverseRotate(Self.gravity * -1.01))
        let recording = RecordedMotion(
            [IMUSample](repeating: sample, count: 500), sampleRate: 100)
        let state = recording.state(at: 3)
        #expect(state.attitude.error(to: tilted).norm < 1e-6)
        #expect(state.rate.norm < 1e-6 && state.acceleration.norm < 1e-6)
    }
}

extension BaseMotion.State {
    static func == (a: Self, b: Self) -> Bool {
        a.attitude == b.attitude && a.rate == b.rate && a.acceleration == b.acceleration
    }
}
