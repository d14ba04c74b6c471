import Glibc
import Testing

@testable import GimbalCore

@Suite("Gyro witness: plausibility of the gyroscope from motors, joints and history")
struct GyroWitnessTests {
    /// Witness after 0.5 s with a camera at rest.
    func watching(joints: AxisVector? = nil) -> GyroWitness {
        var witness = GyroWitness()
        for t in 0..<500 {
            _ = accepts(&witness, rate: noise(t), joints: joints.map { $0 + step(t) })
        }
        return witness
    }

    /// Noise in the last bits of a real sensor, rad/s.
    func noise(_ t: Int) -> Vector3 {
        Vector3(1e-3 * Double(t % 7 - 3), 1e-3 * Double(t % 5 - 2), 1e-3 * Double(t % 3 - 1))
    }

    /// Noise in the last count of an encoder, rad.
    func step(_ t: Int) -> AxisVector { AxisVector(repeating: t % 2 == 0 ? 0 : 1e-4) }

    /// Motors at rest that can reach 1,000 rad/s².
    var motors: GyroWitness.Motors {
        GyroWitness.Motors(
            acceleration: .zero, exerted: .zero, strongest: 1000)
    }

    func accepts(
        _ witness: inout GyroWitness, rate: Vector3, joints: AxisVector? = nil,
        isRepeated: Bool = false, isOff: Bool = false, dt: Double = 1e-3
    ) -> Bool {
        witness.accepts(
            rate: rate, joints: joints, isRepeated: isRepeated, motors: isOff ? nil : motors,
            sensorDelay: 0.003, dt: dt)
    }

    @Test("a quiet gyroscope is accepted")
    func quiet() {
        var witness = watching()
        for t in 0..<1000 { #expect(accepts(&witness, rate: noise(t))) }
        #expect(!witness.isContradicted)
    }

    @Test("one impossible sample is refused, and the next samples are accepted")
    func spike() {
        var witness = watching()
        #expect(!accepts(&witness, rate: Vector3(30, 0, 0)))
        for t in 0..<100 { #expect(accepts(&witness, rate: noise(t))) }
        #expect(!witness.isContradicted)
    }

    @Test("one impossible sample in a slow loop is refused, and the next samples are accepted")
    func slowSpike() {
        var witness = watching()
        #expect(!accepts(&witness, rate: Vector3(30, 0, 0), dt: 5e-3))
        for t in 0..<100 { #expect(accepts(&witness, rate: noise(t), dt: 5e-3)) }
        #expect(!witness.isContradicted)
    }

    @Test(
        "encoders confirm a knock although only one sample of each batch has their angles",
        arguments: [2, 5, 10])
    func batches(samples: Int) {
        // The knock begins at each place in a batch.
        for first in 0..<samples {
            var witness = GyroWitness()
            var angle = 0.0
            for t in 0..<500 + first {
                let joints = AxisVector(repeating: 0) + step(t / samples)
                _ = accepts(
                    &witness, rate: noise(t), joints: t % samples == samples - 1 ? joints : nil)
            }
            // The joint turns with the camera at 4 rad/s, delayed like the samples.
            for t in 500 + first..<540 + first {
                angle += 4e-3
                let late = max(0, angle - 3 * 4e-3)
                let joints = AxisVector(yaw: 0, roll: angle, pitch: 0)
                _ = accepts(
                    &witness, rate: Vector3(late > 0 ? 4 : 0, 0, 0) + noise(t),
                    joints: t % samples == samples - 1 ? joints : nil)
            }
            let isContradicted = witness.isContradicted
            #expect(!isContradicted, "first \(first)")
        }
    }

    @Test("without the encoders' confirmation, a gyroscope is contradicted after one batch")
    func refutedBatch() {
        var witness = GyroWitness()
        for t in 0..<500 {
            _ = accepts(&witness, rate: noise(t), joints: t % 5 == 4 ? step(t / 5) : nil)
        }
        for t in 500..<507 {
            _ = accepts(
                &witness, rate: Vector3(8.7, 0, 0) + noise(t), joints: t % 5 == 4 ? step(t) : nil)
        }
        #expect(witness.isContradicted)
    }

    @Test("coarse encoders decide at the same angle before and after a turn beyond 180°")
    func coarseEncoders() {
        for turns in [2, 4] {
            var witness = GyroWitness()
            for t in 0..<1008 {
                // A joint at 298° keeps its reading, but its continuous angle is rounded.
                let yaw = Angle.wrapped(1.3 * Double(min(t / 50, turns)))
                _ = accepts(
                    &witness, rate: noise(t) + Vector3(0, 0, t < 1000 ? 0 : 2.5),
                    joints: AxisVector(yaw: yaw, roll: 0, pitch: 0))
            }
            #expect(!witness.isContradicted, "\(turns) turns of 74°")
        }
    }

    @Test("a joint that turns beyond 180° has a continuous rate")
    func wholeTurns() {
        var motion = JointMotion()
        var largest = 0.0
        for tick in 0..<4000 {
            let yaw = Angle.wrapped(2e-3 * Double(tick))
            motion.update(AxisVector(yaw: yaw, roll: 0, pitch: 0), dt: 1e-3)
            largest = max(largest, abs(motion.rates.yaw))
        }
        #expect(largest < 2.1 && motion.rates.yaw > 1.9)
    }

    @Test(
        "the motors' acceleration between two samples counts once, even with ticks between the samples"
    )
    func ticksWithoutSample() {
        var witness = watching()
        var pushing = motors
        pushing.acceleration = Vector3(100, 0, 0)
        var rate = 0.0
        for _ in 0..<50 {
            witness.wait(pushing, dt: 1e-3)
            #expect(abs(witness.rate.x - rate - 0.1) < 0.05)
            rate += 0.2
            let isBelieved = witness.accepts(
                rate: Vector3(rate, 0, 0), joints: nil, isRepeated: false, motors: pushing,
                sensorDelay: 0, dt: 2e-3)
            #expect(isBelieved)
            #expect(abs(witness.rate.x - rate) < 1e-9)
        }
    }

    @Test(
        "a light camera that swings on a stiff joint against its motors does not contradict the gyroscope"
    )
    func swing() {
        var witness = watching(joints: .zero)
        var pushing = motors
        let (dt, turn) = (2.4e-3, 2 * Double.pi * 60)
        for t in 0..<400 {
            let phase = turn * Double(t) * dt
            // Friction cancels the commanded acceleration.
            pushing.acceleration = Vector3(400 * cos(3 * phase), 0, 0)
            let isBelieved = witness.accepts(
                rate: Vector3(3 * sin(phase), 0, 0) + noise(t),
                joints: AxisVector(yaw: 0, roll: 3 / turn * (1 - cos(phase)), pitch: 0),
                isRepeated: false, motors: pushing, sensorDelay: 0, dt: dt)
            #expect(isBelieved)
        }
        #expect(!witness.isContradicted)
    }

    @Test("an impossible rate that persists contradicts the gyroscope within 6 ms")
    func burst() {
        var witness = watching()
        for t in 0..<6 { #expect(!accepts(&witness, rate: Vector3(8.7, 0, 0) + noise(t))) }
        #expect(witness.isContradicted)
    }

    @Test("the rate from a push by hand is accepted")
    func hand() {
        var witness = watching()
        for t in 0..<100 {
            let share = Double(min(t, 20)) / 20
            #expect(accepts(&witness, rate: Vector3(0, 2 * share, 0) + noise(t)))
        }
        #expect(!witness.isContradicted)
    }

    @Test("encoders at rest contradict a gyroscope that shows a rotation, within 15 ms")
    func joints() {
        var witness = watching(joints: .zero)
        for t in 0..<15 {
            _ = accepts(&witness, rate: Vector3(0, 0, 2) + noise(t), joints: step(t))
        }
        #expect(witness.isContradicted)
    }

    @Test("in a loop of 200 Hz, encoders contradict a gyroscope after four to six samples")
    func slowJoints() {
        var witness = watching(joints: .zero)
        var contradicted: Int?
        for t in 0..<10 where contradicted == nil {
            _ = accepts(&witness, rate: Vector3(0, 0, 4) + noise(t), joints: step(t), dt: 5e-3)
            if witness.isContradicted { contradicted = t + 1 }
        }
        #expect((4...6).contains(contradicted ?? 0), "after \(contradicted ?? 0) samples")
    }

    @Test("a handle that jerks while friction holds the camera does not contradict the gyroscope")
    func jerk() {
        var witness = watching(joints: .zero)
        let pushing = GyroWitness.Motors(
            acceleration: Vector3(0, 400, 0), exerted: .zero, strongest: 1000)
        var contradicted: Int?
        for t in 0..<7 where contradicted == nil {
            // The handle accelerates by 300 rad/s², and the joint's encoder measures the motion.
            let seconds = (Double(t) + 1.5) * 2.6e-3
            let joints = AxisVector(yaw: 0, roll: 0, pitch: 150 * seconds * seconds)
            _ = witness.accepts(
                rate: noise(t), joints: joints, isRepeated: false, motors: pushing,
                sensorDelay: 2.6e-3, dt: 2.6e-3)
            if witness.isContradicted { contradicted = t }
        }
        #expect(contradicted == nil)
    }

    @Test("encoders that turn with the gyroscope confirm a rate that was refused at first")
    func confirmed() {
        var witness = watching(joints: .zero)
        var turned = AxisVector.zero
        var believed = 0
        for t in 0..<30 {
            turned.yaw += 6e-3
            let isUsed = accepts(
                &witness, rate: Vector3(0, 0, 6) + noise(t), joints: turned + step(t))
            if isUsed { believed += 1 }
        }
        #expect(!witness.isContradicted)
        #expect(believed > 20)
    }

    @Test(
        "with the outputs off, a rejected gyroscope is accepted again after 0.1 s with a low rate")
    func recovery() {
        var witness = watching()
        for t in 0..<10 { _ = accepts(&witness, rate: Vector3(8.7, 0, 0) + noise(t)) }
        #expect(witness.isContradicted)
        for t in 0..<90 { #expect(!accepts(&witness, rate: noise(t), isOff: true)) }
        for t in 0..<20 { _ = accepts(&witness, rate: noise(t), isOff: true) }
        #expect(!witness.isContradicted)
        #expect(accepts(&witness, rate: noise(1), isOff: true))
    }

    @Test("a repeated sample keeps the reference rate, and is doubtful until the next new sample")
    func repetition() {
        var witness = watching()
        #expect(accepts(&witness, rate: noise(1), isRepeated: true))
        #expect(witness.isDoubtful)
        #expect(witness.rate.norm < 0.1)
        _ = accepts(&witness, rate: noise(2))
        #expect(!witness.isDoubtful)
    }

    @Test("each axis gets the sign of its measured response")
    func signs() {
        var witness = watching()
        // Roll responds in the wrong direction and pitch in the right direction; yaw has no
        // command.
        var rate = Vector3.zero
        for t in 0..<40 {
            let push = exp2(Double(t) / 4)
            rate.x -= push * 1e-3
            rate.y += push * 1e-3
            _ = witness.accepts(
                rate: rate + noise(t), joints: nil, isRepeated: false,
                motors: GyroWitness.Motors(
                    acceleration: Vector3(push, push, 0), exerted: Vector3(push, push, 0),
                    strongest: 1000),
                sensorDelay: 0.003, dt: 1e-3)
        }
        #expect(witness.reversed == AxisSet(yaw: false, roll: true, pitch: false))
        let signed = witness.signedRate(gyro: Vector3(1, 1, 1), reversed: .none)
        #expect(signed == Vector3(-1, 1, 0))
    }
}
