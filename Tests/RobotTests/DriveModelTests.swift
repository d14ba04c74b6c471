import GimbalCore
import Robot
import Testing

@Suite("Two driven wheels")
struct DriveModelTests {
    private static func at(_ seconds: Double) -> Instant {
        Instant(nanoseconds: Int64(seconds * 1e9))
    }

    /// Steps the model for this time with one request, at 50 Hz.
    private static func drive(
        _ model: inout DriveModel, left: Double, right: Double, from: Double = 0, seconds: Double,
        until: Double = 1e6
    ) {
        let request = DriveModel.Request(left: left, right: right, validUntil: at(until))
        for tick in 1...Int((seconds * 50).rounded()) {
            model.step(request, now: at(from + Double(tick) * 0.02), dt: 0.02)
        }
    }

    @Test("the ramp takes 0.5 s to full speed and 0.2 s from full speed to a stop")
    func ramps() {
        var model = DriveModel(parameters: DriveModel.Parameters())
        Self.drive(&model, left: 1, right: 0.5, seconds: 0.24)
        #expect(abs(model.left - 0.48) < 1e-9 && abs(model.right - 0.48) < 1e-9)
        Self.drive(&model, left: 1, right: 0.5, seconds: 0.26)
        #expect(abs(model.left - 1) < 1e-9 && abs(model.right - 0.5) < 1e-9)
        Self.drive(&model, left: 0, right: 0, seconds: 0.1)
        #expect(abs(model.left - 0.5) < 1e-9 && abs(model.right) < 1e-9)
        Self.drive(&model, left: 0, right: 0, seconds: 0.1)
        #expect(abs(model.left) < 1e-9)
    }

    @Test("an emergency stop stops the wheels without a ramp")
    func emergencyStop() {
        var parameters = DriveModel.Parameters()
        parameters.deceleration = 0.1
        var model = DriveModel(parameters: parameters)
        Self.drive(&model, left: 1, right: -1, seconds: 1)
        model.step(.none, now: Self.at(1.02), dt: 0.02)
        #expect(model.left > 0.99 && model.right < -0.99)
        model.step(.emergencyStop, now: Self.at(1.04), dt: 0.02)
        #expect(model.left == 0 && model.right == 0)
    }

    @Test("a change of direction first brakes to a stop, then accelerates")
    func reversal() {
        var model = DriveModel(parameters: DriveModel.Parameters())
        Self.drive(&model, left: 1, right: 1, seconds: 1)
        Self.drive(&model, left: -1, right: -1, seconds: 0.2)
        #expect(abs(model.left) < 1e-9)
        Self.drive(&model, left: -1, right: -1, seconds: 0.25)
        #expect(abs(model.left + 0.5) < 0.05)
    }

    @Test("the speed never exceeds the limit")
    func limit() {
        var parameters = DriveModel.Parameters()
        parameters.limit = 0.3
        var model = DriveModel(parameters: parameters)
        Self.drive(&model, left: 7, right: -7, seconds: 2)
        #expect(model.left == 0.3 && model.right == -0.3)
    }

    @Test("above the limit both wheels become slower by the same factor, so the curve remains")
    func curve() {
        var parameters = DriveModel.Parameters()
        parameters.limit = 0.3
        var model = DriveModel(parameters: parameters)
        Self.drive(&model, left: 1, right: 0.5, seconds: 2)
        #expect(abs(model.left - 0.3) < 1e-9 && abs(model.right - 0.15) < 1e-9)
        Self.drive(&model, left: 0.2, right: -0.1, from: 2, seconds: 2)
        #expect(abs(model.left - 0.2) < 1e-9 && abs(model.right + 0.1) < 1e-9)
    }

    @Test("the wheels brake to a stop after the request expires")
    func deadMan() {
        var model = DriveModel(parameters: DriveModel.Parameters())
        Self.drive(&model, left: 1, right: 1, seconds: 1, until: 0.9)
        #expect(model.left < 0.6)
        Self.drive(&model, left: 1, right: 1, from: 1, seconds: 0.2, until: 0.9)
        #expect(abs(model.left) < 1e-9 && abs(model.right) < 1e-9)
    }

    @Test(
        "a request that is not finite stops the wheels, and a long time step changes the speed by at most 0.4"
    )
    func nonsense() {
        var model = DriveModel(parameters: DriveModel.Parameters())
        Self.drive(&model, left: .nan, right: .infinity, seconds: 1)
        #expect(model.left == 0 && model.right == 0)
        let request = DriveModel.Request(left: 1, right: 1, validUntil: Self.at(100))
        model.step(request, now: Self.at(50), dt: 40)
        #expect(abs(model.left - 0.4) < 1e-9)
    }
}
