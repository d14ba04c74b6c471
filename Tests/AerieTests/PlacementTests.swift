import GimbalCore
import Testing

@testable import Aerie

@Suite("Positions of people in front of a phone")
struct PlacementTests {
    private func place(_ body: Body, _ pose: DevicePose) throws -> (
        hips: Vector3, body: BodyPlacement
    ) {
        let optics = try #require(Optics(Skeleton.intrinsics, width: 1920, height: 1440))
        let placement = try #require(
            BodyPlacement(body.turnedBack(pose.quarterTurns, width: 1920, height: 1440), optics))
        return (pose.rotation.rotate(placement.hips) + pose.position, placement)
    }

    @Test(
        "the position of a person is right at every distance, at the side, and with a tilted or rotated phone",
        arguments: [
            (Vector3(0, 0, -3), 0.0, 0.0, 0.0), (Vector3(1.5, -0.4, -4), 0, 0, 0),
            (Vector3(0, 0, -12), 0, 0, 0), (Vector3(0.3, -0.5, -2.5), 0, -0.2, 0.1),
            (Vector3(0, 0, -3), 0, 0, Double.pi / 2),
            (Vector3(-0.5, 0.2, -4), 0.2, 0.1, -Double.pi / 2),
            (Vector3(0.4, 0, -3.5), -0.1, 0, Double.pi),
            (Vector3(4, -0.3, 0.5), -Double.pi / 2, 0, 0.05),
        ])
    func exact(offset: Vector3, heading: Double, pitch: Double, roll: Double) throws {
        let camera = Vector3(2, 1.4, -1)
        let pose = DevicePose(at: camera, heading: heading, pitch: pitch, roll: roll)
        let person = Skeleton(hips: camera + offset, heading: 0.7)
        let (hips, placement) = try place(person.seen(from: pose), pose)
        #expect((hips - person.hips).norm < 0.02)
        for (type, place) in placement.joints {
            let world = pose.rotation.rotate(place) + pose.position
            #expect((world - person.world(type)).norm < 0.03)
        }
        #expect(placement.joints.count == 13)
    }

    @Test(
        "with the errors of a real pose detector, the distance has an RMS error below 5 % and never more than 15 %"
    )
    func noisy() throws {
        var noise = Noise(7)
        var worst = 0.0
        var squares = 0.0
        for trial in 0..<300 {
            let distance = 2 + 6 * Double(trial) / 300
            let pose = DevicePose(at: Vector3(0, 1.4, 0), pitch: -0.1, roll: 0.05)
            let person = Skeleton(
                hips: Vector3(0.2 * noise.next() * distance, 0.9, -distance),
                heading: 3 * noise.next())
            // The detected size of a person has an error of 4 %.
            let body = person.seen(
                from: pose, pixels: 6, metres: 0.03,
                scale: 1 + 0.04 * noise.next().clamped(to: 1.5),
                noise: { noise.next() })
            let (hips, _) = try place(body, pose)
            let error =
                (hips - pose.position).norm / (person.hips - pose.position).norm - 1
            worst = max(worst, abs(error))
            squares += error * error / 300
        }
        print("distance: RMS error \(squares.squareRoot()), largest \(worst)")
        #expect(squares.squareRoot() < 0.05)
        #expect(worst < 0.15)
    }

    @Test("a single outlier does not move the person")
    func outlier() throws {
        let pose = DevicePose(at: Vector3(0, 1.4, 0))
        let person = Skeleton(hips: Vector3(0, 0.9, -4))
        var body = person.seen(from: pose)
        body.points[0].u += 300
        let (hips, _) = try place(body, pose)
        #expect((hips - person.hips).norm < 0.25)
    }

    @Test("too few points, or implausible intrinsics, give no position")
    func impossible() throws {
        let pose = DevicePose(at: .zero)
        let optics = try #require(Optics(Skeleton.intrinsics, width: 1920, height: 1440))
        var body = Skeleton(hips: Vector3(0, 0, -3)).seen(from: pose)
        body.points = Array(body.points.prefix(5))
        #expect(BodyPlacement(body, optics) == nil)
        let point = BodyPoint(u: 5, v: 5, x: 0, y: 0, z: 0, visibility: 1)
        let heap = Body(
            confidence: 1, points: [BodyPoint](repeating: point, count: 20), joints: [:])
        #expect(BodyPlacement(heap, optics) == nil)
        for change: (inout CameraIntrinsics) -> Void in [
            { $0.fx = 0 }, { $0.fy = .nan }, { $0.cx = -1 }, { $0.cy = 1e9 }, { $0.width = 0 },
            { $0.height = -5 }, { $0.fx = .infinity },
        ] {
            var wrong = Skeleton.intrinsics
            change(&wrong)
            #expect(Optics(wrong, width: 1920, height: 1440) == nil)
        }
    }

    @Test(
        "a matrix in row order and a matrix in column order give the same pose; other matrices are refused"
    )
    func matrices() throws {
        let pose = DevicePose(at: Vector3(1, 2, 3), heading: 0.3, pitch: -0.4, roll: 1.2)
        for axes in AerieOptions.CameraAxes.allCases {
            let rows = pose.matrix(axes: axes)
            let columns = (0..<4).map { column in rows.map { $0[column] } }
            for matrix in [rows, columns] {
                let read = try #require(DevicePose(matrix, axes: axes))
                #expect((read.position - pose.position).norm < 1e-6)
                #expect((read.rotation.conjugate * pose.rotation).rotationVector.norm < 1e-6)
            }
        }
        var mirrored = pose.matrix(axes: .arkit)
        for row in 0..<3 { mirrored[row][0] *= -1 }
        var stretched = pose.matrix(axes: .arkit)
        stretched[0][0] *= 1.5
        var infinite = pose.matrix(axes: .arkit)
        infinite[1][3] = .infinity
        let zero = [[Float]](repeating: [0, 0, 0, 0], count: 4)
        for matrix in [mirrored, stretched, infinite, zero, [], [[1]], Array(zero.prefix(3))] {
            #expect(DevicePose(matrix, axes: .arkit) == nil)
        }
    }

    @Test("the image is rotated until people are upright")
    func turns() {
        let turns = [0, 0.5, -0.5, Double.pi / 2, -Double.pi / 2, Double.pi].map {
            DevicePose(at: .zero, roll: $0).quarterTurns
        }
        #expect(turns == [0, 0, 0, 1, 3, 2])
    }
}

extension Double {
    fileprivate func clamped(to limit: Double) -> Double {
        Swift.max(-limit, Swift.min(limit, self))
    }
}
