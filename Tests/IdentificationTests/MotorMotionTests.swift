import GimbalCore
import Glibc
import Testing

@testable import Identification

@Suite("Identification of a motor from the camera's motion") struct MotorMotionTests {
    private static let degree = Double.pi / 180

    /// A swing by four degrees for seven seconds, at 200 Hz. `rate` is the camera's rate for the
    /// command's rate and the time.
    private static func motion(
        down: Vector3 = Vector3(0, 0, 1), rate: (Double, Double) -> Vector3
    ) -> MotorMotion {
        var motion = MotorMotion(.servo)
        for tick in 0...1400 {
            let seconds = Double(tick) * 0.005
            let phase = Double.pi * seconds
            motion.add(
                seconds: seconds, command: 4 * degree * sin(phase),
                rate: rate(4 * degree * .pi * cos(phase), seconds), accel: down * -9.81)
        }
        return motion
    }

    @Test("axis, direction and ratio are exact for any offset of the gyroscope")
    func exact() throws {
        let offset = Vector3(0.02, -0.01, 0.03)
        for (axis, vector) in [
            (GimbalAxis.yaw, Vector3(0, 0, 1)), (.roll, Vector3(1, 0, 0)),
            (.pitch, Vector3(0, 1, 0)),
        ] {
            for ratio in [0.5, 1, -1, -1.75] {
                let found = try Self.motion { speed, _ in vector * (ratio * speed) + offset }
                    .finding()
                #expect(found.axis == axis)
                #expect(found.direction == (ratio > 0 ? 1 : -1))
                #expect(abs(found.ratio - abs(ratio)) < 0.01 * abs(ratio))
                #expect(found.residual < 0.01)
            }
        }
    }

    @Test("play of one degree after each reversal of a field does not change the ratio")
    func play() throws {
        var motion = MotorMotion(.field)
        // The camera moves only after the command has moved by more than the play.
        var camera = 0.0
        for tick in 0...1400 {
            let seconds = Double(tick) * 0.005
            let command = 16 * Self.degree * sin(Double.pi * seconds)
            let before = camera
            camera = min(max(camera, command - Self.degree), command + Self.degree)
            motion.add(
                seconds: seconds, command: command, rate: Vector3(0, (camera - before) / 0.005, 0),
                accel: Vector3(0, 0, -9.81))
        }
        let found = try motion.finding()
        #expect(found.axis == .pitch)
        #expect(abs(found.ratio - 1) < 0.03, "\(found.ratio)")
    }

    @Test("if the camera is pitched down, yaw still turns about the vertical")
    func pitched() throws {
        let down = Vector3(0.5, 0, 0.75.squareRoot())
        let found = try Self.motion(down: down) { speed, _ in down * speed }.finding()
        #expect(found.axis == .yaw)
        #expect(found.alignment > 0.999)
    }

    @Test("each problem is reported")
    func problems() {
        let still = Self.motion { _, _ in .zero }
        #expect(throws: MotorProblem.noMotion) { try still.finding() }
        let between = Self.motion { speed, _ in Vector3(0.7, 0.7, 0) * speed }
        #expect(throws: MotorProblem.mixedAxes) { try between.finding() }
        let hand = Self.motion { _, seconds in Vector3(0, seconds > 4 && seconds < 4.5 ? 0.3 : 0, 0)
        }
        #expect(throws: MotorProblem.disturbed) { try hand.finding() }
        #expect(throws: MotorProblem.incomplete) { try MotorMotion(.field).finding() }
    }

    private static func finding(
        _ axis: GimbalAxis, _ direction: Double = 1, ratio: Double = 1
    ) -> MotorMotion.Finding {
        MotorMotion.Finding(
            axis: axis, direction: direction, ratio: ratio, stroke: 0.1, alignment: 1, residual: 0)
    }

    @Test("an exchange of two motors moves their outputs, travels, trims and zeros")
    func exchange() throws {
        var present = MotorAssignment(
            outputs: AxisVector(yaw: 4, roll: 5, pitch: 6),
            direction: AxisVector(yaw: -1, roll: 1, pitch: 1))
        present.travel = AxisVector(yaw: 180, roll: 90, pitch: 120)
        present.trim = AxisVector(yaw: 10, roll: 20, pitch: 30)
        present.zero = AxisVector(yaw: 170, roll: 180, pitch: 190)
        let right = try present.corrected(
            by: [
                .yaw: Self.finding(.roll, -1), .roll: Self.finding(.yaw),
                .pitch: Self.finding(.pitch, -1),
            ], type: .servo)
        #expect(right.outputs == AxisVector(yaw: 5, roll: 4, pitch: 6))
        #expect(right.direction == AxisVector(yaw: 1, roll: 1, pitch: -1))
        #expect(right.travel == AxisVector(yaw: 90, roll: 180, pitch: 120))
        #expect(right.trim == AxisVector(yaw: 20, roll: 10, pitch: 30))
        #expect(right.zero == AxisVector(yaw: 180, roll: 170, pitch: 190))
    }

    @Test("pole pairs are integers and equal for all motors; other results are refused")
    func poles() throws {
        let present = MotorAssignment(
            outputs: AxisVector(yaw: 0, roll: 3, pitch: 6), direction: AxisVector(repeating: 1))
        func measured(_ ratios: [Double]) throws(MotorProblem) -> Int {
            try present.corrected(
                by: [
                    .yaw: Self.finding(.yaw, ratio: ratios[0]),
                    .roll: Self.finding(.roll, ratio: ratios[1]),
                    .pitch: Self.finding(.pitch, ratio: ratios[2]),
                ], type: .field
            ).polePairs
        }
        #expect(try measured([0.96, 1.02, 0.97]) == 7)
        #expect(try measured([0.63, 0.64, 0.64]) == 11)
        #expect(throws: MotorProblem.unclearPoles) { try measured([1, 1, 0.5]) }
        #expect(throws: MotorProblem.unclearPoles) { try measured([0.6, 0.61, 0.61]) }
        #expect(throws: MotorProblem.sameAxis) {
            try present.corrected(
                by: [.yaw: Self.finding(.yaw), .roll: Self.finding(.yaw)], type: .field)
        }
    }
}
