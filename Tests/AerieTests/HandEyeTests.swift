import GimbalCore
import Testing

@testable import Aerie

@Suite("Calibration of a phone that is mounted on the camera")
struct HandEyeTests {
    /// Attitudes of a guided turn, with errors of this standard deviation, rad.
    private func pairs(
        mounting: Quaternion, world: Quaternion, noise deviation: Double, seed: UInt64 = 3,
        turns: [(yaw: Double, pitch: Double)] = Self.turns
    ) -> [HandEye.Pair] {
        var noise = Noise(seed)
        func error() -> Quaternion {
            Quaternion(
                rotationVector: Vector3(noise.next(), noise.next(), noise.next()) * deviation)
        }
        return turns.map { turn in
            let camera =
                Quaternion.aboutZ(turn.yaw) * .aboutY(turn.pitch) * .aboutX(0.05)
            // Hand-eye equation A X = Y B.
            let phone = world.conjugate * camera * mounting
            return HandEye.Pair(camera: camera * error(), phone: phone * error())
        }
    }

    private static let turns: [(yaw: Double, pitch: Double)] = [
        (0, 0), (0.5, 0), (-0.5, 0), (0, 0.35), (0, -0.35), (0.5, 0.35), (-0.5, 0.35),
        (0.5, -0.35), (-0.5, -0.35),
    ]

    private func angle(_ a: Quaternion, _ b: Quaternion) -> Double {
        (a.conjugate * b).normalized.rotationVector.norm
    }

    private let mountings = [
        Quaternion.identity, .aboutZ(2.2) * .aboutX(-0.7), .aboutX(.pi),
        .aboutY(-1.5) * .aboutZ(0.1),
    ]

    @Test("without noise, both rotations are exact for every mounting and heading")
    func exact() throws {
        for mounting in mountings {
            let world = Quaternion.aboutX(.pi / 2) * .aboutY(1.3)
            let result = try HandEye(pairs(mounting: mounting, world: world, noise: 0))
            #expect(angle(result.mounting, mounting) < 1e-7)
            #expect(angle(result.world, world) < 1e-7)
            #expect(result.residual < 1e-7)
        }
    }

    @Test("with errors of 0.5° in each attitude, both rotations have errors below 3°")
    func noisy() throws {
        var worst = 0.0
        for seed in 1...50 {
            let mounting = mountings[seed % mountings.count]
            let world = Quaternion.aboutX(.pi / 2) * .aboutY(Double(seed))
            let result = try HandEye(
                pairs(mounting: mounting, world: world, noise: 0.0087, seed: UInt64(seed)))
            worst = max(worst, angle(result.mounting, mounting), angle(result.world, world))
            #expect(result.residual > 0.005 && result.residual < 0.04)
        }
        print("hand-eye: largest error \(worst * 180 / .pi)°")
        #expect(worst < 3 * .pi / 180)
    }

    @Test(
        "a turn about one axis, a phone that slipped, and fewer attitudes than necessary are refused"
    )
    func refusals() {
        let mounting = mountings[1]
        let world = Quaternion.aboutX(.pi / 2)
        let yawOnly = pairs(
            mounting: mounting, world: world, noise: 0.002,
            turns: [(0, 0), (0.3, 0), (-0.3, 0), (0.6, 0), (-0.6, 0)])
        #expect(throws: HandEye.Failure.oneAxis) { try HandEye(yawOnly) }
        let still = pairs(
            mounting: mounting, world: world, noise: 0.002,
            turns: Array(repeating: (0, 0), count: 9))
        #expect(throws: HandEye.Failure.oneAxis) { try HandEye(still) }
        let few = Array(pairs(mounting: mounting, world: world, noise: 0).prefix(3))
        #expect(throws: HandEye.Failure.tooFew) { try HandEye(few) }
        var moved = pairs(mounting: mounting, world: world, noise: 0)
        for index in 5..<9 { moved[index].phone = moved[index].phone * .aboutX(0.4) }
        #expect {
            try HandEye(moved)
        } throws: { error in
            if case HandEye.Failure.inconsistent(let residual) = error { return residual > 0.05 }
            return false
        }
    }
}
