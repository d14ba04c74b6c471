import Testing

@testable import Shots

@Suite("Turns between the photos of a series")
struct ShotMovesTests {
    @Test(
        "the largest turn takes the opposite direction at the end of a range, as in airframed",
        arguments: [
            (-360...360.0, 0.0, nil, 45.0, 2), (-360...360, 0, -360...360.0, 45, 2),
            (-360...360, 0, -170...170, 315, 6), (-360...360, 90, -170...170, 315, 6),
            (-180...180, 0, nil, 315, 6), (-180...180, 10, nil, 315, 5),
            (0...359, -170, nil, 315, 5),
        ] as [(ClosedRange<Double>, Double, ClosedRange<Double>?, Double, Int)])
    func detour(
        motion: ClosedRange<Double>, origin: Double, joint: ClosedRange<Double>?, angle: Double,
        waypoint: Int
    ) throws {
        let orbit = try ShotPlan(ShotRecipe(.orbit(.init(photos: 8))))
        let ranges = [[motion.lowerBound, motion.upperBound], [-45, 45], [-90, 90]]
        let move = orbit.largestMove(
            from: Pose(yaw: origin), within: ranges,
            joint: joint.map { YawJoint(angle: 0, range: $0) })
        #expect(abs(move.angle - angle) < 1e-6, "\(move)")
        #expect(move.waypoint == waypoint)
        #expect(move.isDetour == (angle > 180))
    }

    @Test(
        "the joint turns with the camera to its target, on the way that its range permits",
        arguments: [
            (100, 110, 10, 0), (100, 170, -170, 120), (-165, -170, 160, 165),
            (-100, -100, 100, 100), (170.5, 10, 10, 170.5), (160, 10, 30, 180),
        ] as [(Double, Double, Double, Double)])
    func target(angle: Double, camera: Double, target: Double, expected: Double) {
        let joint = YawJoint(angle: angle, range: -170...170, turnedFrom: camera, to: target)
        #expect(joint.angle == expected)
    }

    @Test("pitch does not turn over the zenith, and turns of several circles are not detours")
    func otherTurns() throws {
        let high = try ShotPlan(ShotRecipe(.orbit(.init(photos: 8, pitch: 115))))
        let move = high.largestMove(from: Pose(pitch: -70), within: [], joint: nil)
        #expect(move == ShotMove(angle: 185, waypoint: 1))
        let circles = try ShotPlan(ShotRecipe(.orbit(.init(photos: 41, turn: 3600))))
        let endless = YawJoint(angle: 170, range: -360...360)
        let turn = circles.largestMove(from: Pose(yaw: 30), within: [], joint: endless)
        #expect(!turn.isDetour, "\(turn)")
    }
}
