import GimbalCore

@testable import Aerie

/// Upright adult, 1.75 m tall, from which the tests compute camera images.
struct Skeleton {
    static let intrinsics = CameraIntrinsics(
        fx: 1450, fy: 1450, cx: 960, cy: 720, width: 1920, height: 1440)

    /// Joints relative to the middle of the hips: to the person's left, up, and forward, m.
    static let joints: [JointType: Vector3] = [
        .head: Vector3(0, 0.68, 0.05),
        .leftShoulder: Vector3(0.19, 0.48, 0), .rightShoulder: Vector3(-0.19, 0.48, 0),
        .leftElbow: Vector3(0.25, 0.2, 0.02), .rightElbow: Vector3(-0.25, 0.2, 0.02),
        .leftWrist: Vector3(0.27, -0.05, 0.1), .rightWrist: Vector3(-0.27, -0.05, 0.1),
        .leftHip: Vector3(0.1, 0, 0), .rightHip: Vector3(-0.1, 0, 0),
        .leftKnee: Vector3(0.11, -0.43, 0.03), .rightKnee: Vector3(-0.11, -0.43, 0.03),
        .leftAnkle: Vector3(0.12, -0.86, -0.03), .rightAnkle: Vector3(-0.12, -0.86, -0.03),
    ]

    /// Middle of the hips in the world (y up), m.
    var hips: Vector3
    /// Direction in which the person looks: angle about the world's y axis, rad.
    var heading = 0.0

    func world(_ joint: JointType) -> Vector3 {
        Self.joints[joint].map { Quaternion.aboutY(heading).rotate($0) + hips } ?? hips
    }

    /// Body in the rotated camera image, in the form of a pose detector's result. Pixels and metres
    /// have errors of these standard deviations; `scale` is the detected size divided by the true
    /// size of the person.
    func seen(
        from pose: DevicePose, width: Int = 1920, height: Int = 1440, pixels: Double = 0,
        metres: Double = 0, scale: Double = 1, noise: () -> Double = { 0 }
    ) -> Body {
        let k = Self.intrinsics
        let s = Double(width) / Double(k.width)
        let centre = pose.rotation.inverseRotate(hips - pose.position)
        // The detector's z axis points along the line of sight.
        let ahead = centre / centre.norm
        let right = Vector3(0, 1, 0).cross(ahead) / Vector3(0, 1, 0).cross(ahead).norm
        let down = ahead.cross(right)
        var joints: [JointType: BodyPoint] = [:]
        for type in JointType.allCases {
            let p = pose.rotation.inverseRotate(world(type) - pose.position)
            let d = (p - centre) * scale
            var point = BodyPoint(
                u: (Double(k.fx) * p.x / p.z + Double(k.cx)) * s + pixels * noise(),
                v: (Double(k.fy) * p.y / p.z + Double(k.cy)) * s + pixels * noise(),
                x: d.dot(right) + metres * noise(), y: d.dot(down) + metres * noise(),
                z: d.dot(ahead) + metres * noise(), visibility: p.z > 0 ? 0.9 : 0)
            let (u, v, x, y) = (point.u, point.v, point.x, point.y)
            switch pose.quarterTurns {
            case 1: (point.u, point.v, point.x, point.y) = (Double(height) - v, u, -y, x)
            case 2:
                (point.u, point.v, point.x, point.y) = (
                    Double(width) - u, Double(height) - v, -x, -y
                )
            case 3: (point.u, point.v, point.x, point.y) = (v, Double(width) - u, y, -x)
            default: break
            }
            joints[type] = point
        }
        return Body(confidence: 0.95, points: Array(joints.values), joints: joints)
    }
}

extension DevicePose {
    /// Camera along the world's -z axis, rotated by a heading to the left, a pitch up, and a
    /// clockwise roll from the viewer's side, rad.
    init(at position: Vector3, heading: Double = 0, pitch: Double = 0, roll: Double = 0) {
        self.init(
            rotation: Quaternion.aboutY(heading) * .aboutX(pitch) * .aboutZ(-roll) * .aboutX(.pi),
            position: position)
    }
}

/// Reproducible normally distributed random numbers.
struct Noise {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed &* 0x9e37_79b9_7f4a_7c15 | 1 }

    /// Random number with mean 0 and standard deviation 1: the sum of twelve uniform random
    /// numbers, minus 6.
    mutating func next() -> Double {
        (0..<12).reduce(-6.0) { sum, _ in
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return sum + Double(state >> 11) / Double(1 << 53)
        }
    }
}
