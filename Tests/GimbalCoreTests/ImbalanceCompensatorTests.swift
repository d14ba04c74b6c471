import Testing

@testable import GimbalCore

@Suite("Imbalance compensator")
struct ImbalanceCompensatorTests {
    static let truth = Vector3(1.4e-3, -0.6e-3, 0.8e-3)

    /// Simulates a feedback that carries the moment that the compensator does not carry.
    static func hold(
        _ compensator: inout ImbalanceCompensator, _ force: Vector3, seconds: Double = 5
    ) {
        for _ in 0..<Int(seconds * 1000) {
            let left = truth.cross(force) - compensator.moment(specificForce: force)
            _ = compensator.learn(feedback: left, specificForce: force, limit: 0.1, dt: 1e-3)
        }
    }

    @Test("one pose shows the imbalance perpendicular to gravity, and a second pose shows the rest")
    func poses() {
        var compensator = ImbalanceCompensator()
        let level = Vector3(0, 0, -9.81)
        Self.hold(&compensator, level)
        #expect((compensator.moment(specificForce: level) - Self.truth.cross(level)).norm < 1e-3)
        #expect(compensator.imbalance.z == 0)
        let down = Vector3(9.81 * 0.87, 0, -9.81 * 0.5)
        Self.hold(&compensator, down)
        Self.hold(&compensator, level)
        #expect((compensator.imbalance - Self.truth).norm < 0.1e-3)
    }

    @Test("the growth that is taken from the feedback equals the growth of the compensating moment")
    func conserves() {
        var compensator = ImbalanceCompensator()
        let force = Vector3(2, -1, -9)
        for step in 0..<100 {
            let before = compensator.moment(specificForce: force)
            let grown = compensator.learn(
                feedback: Vector3(0.01, -0.02, 0.03), specificForce: force, limit: 0.1, dt: 1e-3)
            let after = compensator.moment(specificForce: force)
            #expect((before + grown - after).norm < 1e-15, "step \(step)")
        }
    }

    @Test("a constant push is learned as a load only up to the limit")
    func limit() {
        var compensator = ImbalanceCompensator()
        let level = Vector3(0, 0, -9.81)
        for _ in 0..<10_000 {
            _ = compensator.learn(
                feedback: Vector3(0, 0.2, 0), specificForce: level, limit: 0.05, dt: 1e-3)
        }
        #expect(abs(compensator.moment(specificForce: level).norm - 0.05) < 1e-9)
    }

    @Test("a load that was changed is found again")
    func resetCovariance() {
        var compensator = ImbalanceCompensator()
        let level = Vector3(0, 0, -9.81)
        Self.hold(&compensator, level, seconds: 60)
        compensator.resetCovariance()
        for _ in 0..<5000 {
            let left = compensator.moment(specificForce: level) * -1
            _ = compensator.learn(feedback: left, specificForce: level, limit: 0.1, dt: 1e-3)
        }
        #expect(compensator.moment(specificForce: level).norm < 1e-3)
    }
}
