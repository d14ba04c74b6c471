import GimbalCore
import Simulation
import Testing

@Suite("Mechanical plant of the gimbal")
struct GimbalPlantTests {
    static let dt = 1.0 / 8000
    static let rest = BaseMotion(.still, seed: 0).state(at: 0)

    static func bare() -> GimbalPlant.Parameters {
        var p = GimbalPlant.Parameters()
        p.friction = .none
        p.imbalance = .zero
        p.cableStiffness = .zero
        return p
    }

    static func run(
        _ plant: inout GimbalPlant, seconds: Double, torque: AxisVector = .zero,
        base: BaseMotion.State = rest
    ) {
        let drive = GimbalPlant.Drive(torque: torque)
        for _ in 0..<Int(seconds / dt) { plant.step(drive: drive, base: base, dt: dt) }
    }

    @Test("without torque, a balanced camera does not move")
    func rest() {
        var plant = GimbalPlant(
            parameters: Self.bare(), base: Self.rest,
            joints: AxisVector(yaw: 0.3, roll: 0.2, pitch: -0.5))
        let before = plant.attitude
        Self.run(&plant, seconds: 1)
        #expect(before.error(to: plant.attitude).norm < 1e-9)
        #expect(plant.rate.norm < 1e-12)
    }

    @Test(
        "a torque of 0.01 N·m accelerates its joint according to the inertia", arguments: [0, 1, 2])
    func acceleration(axis: Int) {
        var plant = GimbalPlant(parameters: Self.bare(), base: Self.rest)
        let torque = AxisVector(
            yaw: axis == 0 ? 0.01 : 0, roll: axis == 1 ? 0.01 : 0, pitch: axis == 2 ? 0.01 : 0)
        Self.run(&plant, seconds: 0.25, torque: torque)
        // 0.01 N·m / 2.5e-3 kg·m² * 0.25 s = 1 rad/s
        let rates = plant.jointRates
        let moved = [rates.yaw, rates.roll, rates.pitch]
        for i in 0..<3 { #expect(abs(moved[i] - (i == axis ? 1 : 0)) < 2e-3) }
    }

    @Test("torque-free rotation of an asymmetric body conserves energy and angular momentum")
    func energy() {
        var p = Self.bare()
        p.inertia = AxisVector(yaw: 3e-3, roll: 1e-3, pitch: 2e-3)
        p.jointRange = AxisVector(repeating: 100)
        var plant = GimbalPlant(parameters: p, base: Self.rest)
        // Starts a rotation about all three axes with a short push.
        for _ in 0..<400 {
            plant.step(
                drive: GimbalPlant.Drive(torque: .zero, push: Vector3(0.02, 0.05, 0.01)),
                base: Self.rest, dt: Self.dt)
        }
        func energy(_ q: GimbalPlant) -> Double {
            let r = q.rate
            return (1e-3 * r.x * r.x + 2e-3 * r.y * r.y + 3e-3 * r.z * r.z) / 2
        }
        func momentum(_ q: GimbalPlant) -> Vector3 {
            q.attitude.rotate(
                Vector3(1e-3 * q.rate.x, 2e-3 * q.rate.y, 3e-3 * q.rate.z))
        }
        let e = energy(plant)
        let l = momentum(plant)
        Self.run(&plant, seconds: 1)
        #expect(abs(energy(plant) / e - 1) < 5e-3)
        #expect((momentum(plant) - l).norm / l.norm < 5e-3)
    }

    @Test("frictionless joints isolate the camera from the motion of the handle")
    func isolation() {
        let motion = BaseMotion(.walking, seed: 2, stillDuration: 0)
        var plant = GimbalPlant(parameters: Self.bare(), base: motion.state(at: 0))
        for i in 0..<40_000 {
            plant.step(
                drive: GimbalPlant.Drive(torque: .zero),
                base: motion.state(at: Double(i) * Self.dt), dt: Self.dt)
        }
        #expect(plant.attitude.error(to: .identity).norm < 1e-9)
        #expect(abs(plant.joints.roll) + abs(plant.joints.pitch) > 0.001)
    }

    @Test("gravity on the imbalance causes a torque of 5 mN·m about roll and pitch")
    func imbalance() {
        var p = Self.bare()
        p.imbalance = GimbalPlant.Parameters().imbalance
        var plant = GimbalPlant(parameters: p, base: Self.rest)
        plant.step(drive: .init(torque: .zero), base: Self.rest, dt: Self.dt)
        let acceleration = plant.rate / Self.dt
        // The centre of mass is forward and to the right, so the nose drops (pitch -) and the right
        // side drops (roll +).
        #expect(abs(acceleration.y + 5e-3 / 2.5e-3) < 1e-6)
        #expect(abs(acceleration.x - 5e-3 / 2.5e-3) < 1e-6)
        #expect(abs(acceleration.z) < 1e-9)
    }

    @Test("in free fall, the imbalance causes no torque")
    func freeFall() {
        var p = Self.bare()
        p.imbalance = GimbalPlant.Parameters().imbalance
        var falling = Self.rest
        falling.acceleration = Vector3(0, 0, 9.81)
        var plant = GimbalPlant(parameters: p, base: falling)
        Self.run(&plant, seconds: 1, base: falling)
        #expect(plant.rate.norm < 1e-12)
        #expect(plant.specificForce(base: falling).norm < 1e-12)
    }

    @Test("static friction holds against 14 mN·m and yields at 16 mN·m")
    func stiction() {
        var p = Self.bare()
        p.friction = JointFriction.Parameters()
        var holding = GimbalPlant(parameters: p, base: Self.rest)
        // The torque increases gradually. A step would overshoot the spring of the friction model's
        // bristles and break away.
        for i in 1...14 {
            Self.run(
                &holding, seconds: 0.2,
                torque: AxisVector(yaw: 0, roll: 0, pitch: 0.001 * Double(i)))
        }
        Self.run(&holding, seconds: 1, torque: AxisVector(yaw: 0, roll: 0, pitch: 0.014))
        // So close to the limit, the bristles yield by a few break-away angles (0.9e-3 rad), and
        // then hold.
        #expect(abs(holding.joints.pitch) < 6e-3)
        #expect(abs(holding.jointRates.pitch) < 1e-3)
        var yielding = GimbalPlant(parameters: p, base: Self.rest)
        Self.run(&yielding, seconds: 0.5, torque: AxisVector(yaw: 0, roll: 0, pitch: 0.016))
        #expect(yielding.joints.pitch > 0.1)
    }

    @Test("a sliding joint has Coulomb and viscous friction")
    func sliding() {
        var friction = JointFriction(parameters: .init())
        var torque = 0.0
        for _ in 0..<800 { torque = friction.torque(rate: 2, inertia: 2.5e-3, dt: Self.dt) }
        // 10 mN·m + 1e-3 * 2 rad/s
        #expect(abs(torque + 0.012) < 1e-5)
    }

    @Test("the stops limit each joint under full torque")
    func stops() {
        var plant = GimbalPlant(parameters: GimbalPlant.Parameters(), base: Self.rest)
        Self.run(&plant, seconds: 2, torque: AxisVector(yaw: 0, roll: 0.25, pitch: 0.25))
        #expect(plant.joints.roll < 1.2 + 0.05 && plant.joints.pitch < 2.4 + 0.05)
        #expect(plant.attitude.isFinite && plant.jointRates.isFinite)
    }

    @Test("a torque above the limit is clamped to the limit")
    func limit() {
        var plant = GimbalPlant(parameters: Self.bare(), base: Self.rest)
        plant.step(
            drive: .init(torque: AxisVector(yaw: 0, roll: 0, pitch: 9)), base: Self.rest,
            dt: Self.dt)
        #expect(abs(plant.rate.y - 0.25 / 2.5e-3 * Self.dt) < 1e-9)
    }

    @Test("the cable pulls a joint back with 5 mN·m per radian")
    func cable() {
        var p = Self.bare()
        p.cableStiffness = GimbalPlant.Parameters().cableStiffness
        var plant = GimbalPlant(
            parameters: p, base: Self.rest, joints: AxisVector(yaw: 0, roll: 0, pitch: 1))
        plant.step(drive: .init(torque: .zero), base: Self.rest, dt: Self.dt)
        #expect(abs(plant.rate.y / Self.dt + 5e-3 / 2.5e-3) < 1e-6)
    }
}
