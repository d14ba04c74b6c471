import Testing

@testable import GimbalCore

@Suite("Torque bounds")
struct TorqueBoundsTests {
    static func bounds(pitch degrees: Double) -> TorqueBounds {
        var bounds = TorqueBounds(limit: AxisVector(repeating: 0.25))
        bounds.keepOff(
            JointRange(), joints: AxisVector(yaw: 0, roll: 0, pitch: degrees * .pi / 180))
        return bounds
    }

    @Test("within the range of the joints the limit is the motor's torque limit")
    func free() {
        for degrees in [-120.0, 0, 119.9] {
            let bounds = Self.bounds(pitch: degrees)
            #expect(bounds.most.pitch == 0.25 && bounds.least.pitch == -0.25)
        }
    }

    @Test(
        "beyond the range no torque pushes into the stop, and the full torque can push away from it"
    )
    func stop() {
        let up = Self.bounds(pitch: 122.5)
        #expect(up.most.pitch == 0 && up.least.pitch == -0.25)
        let down = Self.bounds(pitch: -122.5)
        #expect(down.least.pitch == 0 && down.most.pitch == 0.25)
        #expect(down.most.yaw == 0.25)
        let between = Self.bounds(pitch: 121)
        #expect(abs(between.most.pitch - 0.125) < 1e-9)
    }
}
