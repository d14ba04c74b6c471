import Glibc
import Testing

@testable import Shots

/// Random numbers that are the same in every run (SplitMix64).
struct SeededNumbers: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

@Suite("Photo grid of a panorama")
struct PanoramaGridTests {
    /// Cameras with field of view in degrees (wide, normal, long lens, portrait), and the
    /// panoramas' fields.
    static let cases: [(camera: FieldOfView, width: Double, elevations: ClosedRange<Double>)] = [
        (FieldOfView(width: 66, height: 41), 180, -30...30),
        (FieldOfView(width: 66, height: 41), 360, -90...90),
        (FieldOfView(width: 41, height: 66), 360, -40...90),
        (FieldOfView(width: 100, height: 80), 120, 0...75),
        (FieldOfView(width: 20, height: 14), 60, 40...85),
        (FieldOfView(width: 20, height: 14), 10, -3...3),
        (FieldOfView(width: 160, height: 140), 360, -90...90),
    ]

    @Test(
        "the pictures cover the whole field, even without their overlap",
        arguments: cases.indices, [0.0, 0.3, 0.6])
    func coverage(index: Int, overlap: Double) {
        let (camera, width, elevations) = Self.cases[index]
        let grid = PanoramaGrid(
            camera: camera, overlap: overlap, width: width, elevations: elevations)
        let poses = grid.poses
        #expect(poses.count == grid.count)
        #expect(!poses.isEmpty)
        let core = camera.shrunk(to: 1 - overlap)
        var numbers = SeededNumbers(UInt64(index))
        for _ in 0..<2000 {
            let yaw = Double.random(in: -width / 2...width / 2, using: &numbers)
            let elevation = Double.random(in: elevations, using: &numbers)
            let isCovered = poses.contains {
                core.contains(yaw: yaw - $0.yaw, elevation: elevation, pitch: $0.pitch)
            }
            #expect(isCovered, "\(yaw), \(elevation)")
        }
    }

    @Test("rows far from the horizon have fewer pictures, and a row at the zenith has at most two")
    func zenith() {
        let grid = PanoramaGrid(
            camera: FieldOfView(width: 66, height: 41), overlap: 0.3, width: 360,
            elevations: 0...90)
        let columns = grid.rows.map(\.columns)
        #expect(columns == columns.sorted())
        #expect(columns[0] <= 2)
    }

    @Test("the pictures have at most 2.2 times the area of the field")
    func thrift() {
        // Area of a field of 180° × 60° around the horizon, in square degrees on the sphere.
        let field = 180.0 * 2 * sin(30 * Double.pi / 180) * 180 / Double.pi
        let camera = FieldOfView(width: 66, height: 41)
        let grid = PanoramaGrid(camera: camera, overlap: 0, width: 180, elevations: -30...30)
        let (a, b) = (33 * Double.pi / 180, 20.5 * Double.pi / 180)
        let picture = 4 * asin(sin(a) * sin(b)) * pow(180 / Double.pi, 2)
        #expect(Double(grid.count) * picture < 2.2 * field)
        #expect(Double(grid.count) * picture >= field)
    }

    @Test("the grid has one picture if the field fits into one picture")
    func single() {
        let grid = PanoramaGrid(
            camera: FieldOfView(width: 66, height: 41), overlap: 0.2, width: 30,
            elevations: 5...15)
        #expect(grid.count == 1)
        #expect(grid.poses == [Pose(pitch: grid.rows[0].pitch)])
        #expect(abs(grid.rows[0].pitch - 10) < 1)
    }

    @Test("the outline of a picture is continuous, even around the zenith")
    func outline() {
        let camera = FieldOfView(width: 66, height: 41)
        for pitch in [0.0, 50, 77, 90, -80] {
            let points = camera.outline(of: Pose(yaw: 170, pitch: pitch))
            for (a, b) in zip(points, points.dropFirst()) where b.elevation.magnitude < 90 {
                #expect(abs(a.yaw - b.yaw) < 90)
            }
            let yaws = points.map(\.yaw)
            let span = (yaws.max() ?? 0) - (yaws.min() ?? 0)
            #expect(abs(pitch) >= 77 ? abs(span - 360) < 1e-6 : span < 180)
        }
    }

    @Test("the rows are photographed from the top, in alternating direction")
    func order() {
        let poses = PanoramaGrid(
            camera: FieldOfView(width: 66, height: 41), overlap: 0.3, width: 120,
            elevations: -40...40
        ).poses
        for (a, b) in zip(poses, poses.dropFirst()) {
            #expect(a.pitch == b.pitch || b.pitch < a.pitch && abs(a.yaw - b.yaw) < 60)
        }
    }
}

@Suite("Camera path of a time-lapse")
struct ShotPathTests {
    private let corners = [
        Pose(yaw: 0, pitch: 0), Pose(yaw: 60, pitch: 0), Pose(yaw: 60, pitch: 30),
    ]

    /// Largest change of the step between photos, degrees, for 300 photos.
    private func jerkiness(_ path: ShotPath) -> Double {
        let poses = (0...300).map { path.pose(at: Double($0) / 300) }
        return zip(zip(poses, poses.dropFirst()), poses.dropFirst(2)).map { pair, c in
            let (a, b) = pair
            return max(abs(a.yaw - 2 * b.yaw + c.yaw), abs(a.pitch - 2 * b.pitch + c.pitch))
        }.max() ?? 0
    }

    @Test(
        "the path begins at the first and ends at the last key frame, for every smoothing and ease",
        arguments: [0, 0.05, 0.4, 1], [0, 0.1, 0.5])
    func ends(smoothing: Double, ease: Double) {
        let path = ShotPath(through: corners, smoothing: smoothing, ease: ease)
        #expect(path.pose(at: 0).distance(to: corners[0]) < 1e-9)
        #expect(path.pose(at: 1).distance(to: corners[2]) < 1e-9)
    }

    @Test("smoothing reduces the change of the step at a corner to less than a tenth")
    func smooth() {
        let hard = jerkiness(ShotPath(through: corners))
        #expect(abs(hard - 0.4) < 0.01)
        #expect(jerkiness(ShotPath(through: corners, smoothing: 0.2)) < hard / 10)
    }

    @Test("the path stays within the range of its key frames")
    func noOvershoot() {
        let path = ShotPath(through: corners, smoothing: 0.3, ease: 0.2)
        for share in stride(from: 0.0, through: 1, by: 0.01) {
            let pose = path.pose(at: share)
            #expect((-1e-9...60 + 1e-9).contains(pose.yaw))
            #expect((-1e-9...30 + 1e-9).contains(pose.pitch))
        }
    }

    @Test("the path begins and ends at rest if ease is set")
    func eased() {
        let path = ShotPath(through: [Pose(), Pose(yaw: 100)], ease: 0.25)
        #expect(path.pose(at: 0.001).yaw < 0.01)
        #expect(path.pose(at: 0.999).yaw > 99.99)
        #expect(abs(path.pose(at: 0.5).yaw - 50) < 1e-9)
    }

    @Test("the path takes the shorter way across 180°")
    func wrap() {
        let path = ShotPath(through: [Pose(yaw: 170), Pose(yaw: -170)])
        #expect(abs(path.pose(at: 0.5).yaw - 180) < 1e-9)
        #expect(path.pose(at: 0.75).turned(byYaw: 0).yaw == -175)
    }
}
