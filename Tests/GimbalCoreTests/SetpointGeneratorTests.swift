import GimbalCore
import Testing

@Suite("Set-point generator")
struct SetpointGeneratorTests {
    static let degree = Double.pi / 180
    let dt = 1e-3

    func instant(_ tick: Int) -> Instant { Instant(nanoseconds: Int64(tick) * 1_000_000) }

    @Test("holds an attitude exactly, and reports that it does not move")
    func hold() {
        var generator = SetpointGenerator()
        let attitude = EulerZXY.quaternion(AxisVector(yaw: 2, roll: 0.3, pitch: -1.2))
        generator.hold(at: attitude)
        let setpoint = generator.step(now: instant(1), dt: dt)
        #expect(setpoint.attitude.error(to: attitude).norm < 1e-12)
        #expect(setpoint.rate == .zero && setpoint.acceleration == .zero)
        #expect(!generator.isMoving)
    }

    @Test("a movement to a point ends on time and at rest, within the rate and acceleration limits")
    func point() {
        var generator = SetpointGenerator()
        let target = AxisVector(yaw: 40, roll: 5, pitch: -30) * Self.degree
        generator.point(target: target, duration: 2)
        var previous = generator.angles
        var previousRate = AxisVector.zero
        for tick in 1...2000 {
            _ = generator.step(now: instant(tick), dt: dt)
            let rate = (generator.angles - previous) * (1 / dt)
            let acceleration = (rate - previousRate) * (1 / dt)
            #expect(abs(rate.yaw) <= generator.parameters.maxRate.yaw)
            #expect(abs(acceleration.yaw) <= generator.parameters.maxAcceleration.yaw)
            previous = generator.angles
            previousRate = rate
            if tick == 1990 { #expect(generator.isMoving) }
        }
        _ = generator.step(now: instant(2001), dt: dt)
        #expect(generator.angles == target)
        #expect(!generator.isMoving)
    }

    @Test("an axis turns at its requested rate, although another axis needs longer to stop")
    func rateBesideMovement() {
        var generator = SetpointGenerator()
        generator.parameters.maxAcceleration = AxisVector(repeating: 30 * Self.degree)
        generator.parameters.maxRate = AxisVector(repeating: 60 * Self.degree)
        // From 60 °/s, yaw needs 3 s to stop.
        generator.point(target: AxisVector(yaw: .pi, roll: .nan, pitch: .nan), duration: 0)
        for tick in 1...5000 {
            if tick > 2000, tick % 250 == 1 {
                generator.rate(
                    AxisVector(yaw: .nan, roll: .nan, pitch: 20 * Self.degree),
                    validUntil: instant(tick + 1000))
            }
            _ = generator.step(now: instant(tick), dt: dt)
        }
        #expect(generator.angles.pitch > 30 * Self.degree)
        #expect(abs(generator.angles.yaw) > 90 * Self.degree)
    }

    @Test("a movement with duration 0 is as fast as the limits allow", arguments: [1.0, 30, 90])
    func fastest(degrees: Double) {
        var generator = SetpointGenerator()
        generator.parameters.maximum.pitch = 3
        generator.point(
            target: AxisVector(yaw: 0, roll: 0, pitch: degrees * Self.degree), duration: 0)
        var peakRate = 0.0
        var peakAcceleration = 0.0
        var peakJerk = 0.0
        var tick = 0
        while generator.isMoving, tick < 5000 {
            tick += 1
            let before = generator.accelerations.pitch
            let setpoint = generator.step(now: instant(tick), dt: dt)
            peakJerk = max(peakJerk, abs(generator.accelerations.pitch - before) / dt)
            peakRate = max(peakRate, abs(setpoint.rate.y))
            peakAcceleration = max(peakAcceleration, abs(setpoint.acceleration.y))
        }
        let p = generator.parameters
        #expect(peakRate <= p.maxRate.pitch * 1.0001)
        #expect(peakAcceleration <= p.maxAcceleration.pitch * 1.0001)
        #expect(peakJerk <= p.maxJerk.pitch * 1.0001)
        let use = max(
            peakRate / p.maxRate.pitch, peakAcceleration / p.maxAcceleration.pitch,
            peakJerk / p.maxJerk.pitch)
        #expect(use > 0.9, "one of the limits is reached")
    }

    @Test("rate and acceleration of the set-point are derivatives of its attitude")
    func derivatives() {
        var generator = SetpointGenerator()
        generator.point(target: AxisVector(yaw: 1, roll: 0.5, pitch: -1.5), duration: 1)
        var last = generator.step(now: instant(0), dt: 1e-4)
        for tick in 1...9000 {
            let next = generator.step(now: instant(tick), dt: 1e-4)
            let rate = last.attitude.error(to: next.attitude) / 1e-4
            #expect((rate - (last.rate + next.rate) / 2).norm < 1e-3)
            let acceleration = (next.rate - last.rate) / 1e-4
            #expect((acceleration - (last.acceleration + next.acceleration) / 2).norm < 0.05)
            last = next
        }
    }

    @Test("repeating the same point does not change the set-point")
    func repeated() {
        var generator = SetpointGenerator()
        var twin = SetpointGenerator()
        let target = AxisVector(yaw: 0.5, roll: 0, pitch: 0.4)
        generator.point(target: target, duration: 1)
        twin.point(target: target, duration: 1)
        for tick in 1...1200 {
            generator.point(target: target, duration: 1)
            let a = generator.step(now: instant(tick), dt: dt)
            let b = twin.step(now: instant(tick), dt: dt)
            #expect(a.attitude == b.attitude && a.rate == b.rate)
        }
    }

    @Test("the same point turns the set-point further after its range has been widened")
    func repeatedInWiderRange() {
        var generator = SetpointGenerator()
        let target = AxisVector(yaw: .nan, roll: .nan, pitch: 45) * Self.degree
        generator.parameters.maximum.pitch = 30 * Self.degree
        generator.point(target: target, duration: 0)
        for tick in 1...2000 { _ = generator.step(now: instant(tick), dt: dt) }
        #expect(generator.angles.pitch == generator.parameters.maximum.pitch)
        generator.parameters.maximum.pitch = 60 * Self.degree
        generator.point(target: target, duration: 0)
        for tick in 2001...4000 { _ = generator.step(now: instant(tick), dt: dt) }
        #expect(generator.angles.pitch == target.pitch)
    }

    @Test("a new point during a movement changes the path without a jump of the rate")
    func retarget() {
        var generator = SetpointGenerator()
        generator.point(target: AxisVector(yaw: 0, roll: 0, pitch: 1), duration: 0.8)
        var previous = 0.0
        var reached = false
        for tick in 1...3000 {
            if tick == 300 {
                generator.point(target: AxisVector(yaw: 0.2, roll: 0, pitch: -0.5), duration: 0)
            }
            let setpoint = generator.step(now: instant(tick), dt: dt)
            #expect(abs(setpoint.rate.y - previous) < 0.06)
            #expect(abs(setpoint.rate.y) < generator.parameters.maxRate.pitch * 1.05)
            previous = setpoint.rate.y
            reached = abs(generator.angles.pitch + 0.5) < 1e-12 && !generator.isMoving
        }
        #expect(reached)
    }

    @Test("yaw turns in the shorter direction")
    func shortWay() {
        var generator = SetpointGenerator()
        generator.hold(at: .aboutZ(170 * Self.degree))
        generator.point(
            target: AxisVector(yaw: -170 * Self.degree, roll: 0, pitch: 0), duration: 1)
        for tick in 1...500 { _ = generator.step(now: instant(tick), dt: dt) }
        #expect(abs(generator.angles.yaw - .pi) < 1e-6)
    }

    @Test("a movement to a target outside the range stops at the limit")
    func range() {
        var generator = SetpointGenerator()
        generator.point(target: AxisVector(yaw: 0, roll: 3, pitch: -9), duration: 0)
        for tick in 1...5000 { _ = generator.step(now: instant(tick), dt: dt) }
        #expect(generator.angles.roll == generator.parameters.maximum.roll)
        #expect(generator.angles.pitch == generator.parameters.minimum.pitch)
    }

    @Test(
        "a rate begins within the jerk limit, and the camera is at rest at the dead-man time"
    )
    func rate() {
        var generator = SetpointGenerator()
        generator.rate(AxisVector(yaw: 1, roll: 0, pitch: 0.5), validUntil: instant(500))
        var setpoint = generator.step(now: instant(1), dt: dt)
        #expect(generator.rates.yaw > 0)
        for tick in 2...500 {
            if tick == 440 {
                #expect(generator.rates.yaw == 1 && generator.rates.pitch == 0.5)
                #expect(setpoint.rate.norm > 1)
                #expect(!generator.isExpired && generator.isMoving)
            }
            let before = generator.accelerations
            setpoint = generator.step(now: instant(tick), dt: dt)
            let jerk = (generator.accelerations - before) * (1 / dt)
            #expect(abs(jerk.yaw) <= generator.parameters.maxJerk.yaw * 1.01)
        }
        #expect(generator.rates == .zero)
        #expect(generator.isExpired && !generator.isMoving)
    }

    @Test("a movement of one axis does not extend the dead-man time of another axis's turn")
    func rateBesidePoint() {
        var generator = SetpointGenerator()
        generator.rate(AxisVector(yaw: 1, roll: .nan, pitch: .nan), validUntil: instant(500))
        for tick in 1...1500 {
            if tick == 200 {
                generator.point(target: AxisVector(yaw: .nan, roll: .nan, pitch: 0.4), duration: 1)
            }
            _ = generator.step(now: instant(tick), dt: dt)
            if tick == 300 { #expect(generator.rates.yaw == 1) }
            if tick == 500 { #expect(generator.rates.yaw == 0 && generator.rates.pitch > 0) }
        }
        #expect(abs(generator.angles.pitch - 0.4) < 1e-9)
    }

    @Test("a rate towards the end of the range brakes in time")
    func rateAtBound() {
        var generator = SetpointGenerator()
        generator.rate(AxisVector(yaw: 0, roll: 0, pitch: 4), validUntil: instant(9000))
        var highest = 0.0
        for tick in 1...3000 {
            let setpoint = generator.step(now: instant(tick), dt: dt)
            #expect(
                abs(setpoint.acceleration.y)
                    <= generator.parameters.maxAcceleration.pitch * 1.0001)
            highest = max(highest, generator.angles.pitch)
        }
        // One sampling period can add a thousandth of a degree.
        #expect(highest <= generator.parameters.maximum.pitch + 2e-5)
        #expect(generator.angles.pitch > generator.parameters.maximum.pitch - 0.01)
    }

    @Test("requests that are not finite are ignored")
    func notANumber() {
        var generator = SetpointGenerator()
        generator.point(target: AxisVector(yaw: .nan, roll: 0, pitch: 0), duration: 1)
        generator.point(target: .zero, duration: .infinity)
        generator.rate(AxisVector(yaw: 0, roll: .infinity, pitch: 0), validUntil: instant(10))
        generator.hold(at: Quaternion(w: .nan, x: 0, y: 0, z: 0))
        let setpoint = generator.step(now: instant(1), dt: dt)
        #expect(setpoint.attitude == .identity && setpoint.rate == .zero)
        #expect(!generator.isMoving)
    }
}
