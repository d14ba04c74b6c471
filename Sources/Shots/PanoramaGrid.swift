import Glibc

/// Grid of a panorama: rows at constant pitch, each with pictures at equal steps of yaw.
///
/// Rule of the grid: pictures whose width and height are reduced by the overlap must still cover
/// the whole field. Therefore neighbouring pictures and neighbouring rows overlap by at least this
/// fraction of a picture, at every pitch. Rows far from the horizon need fewer pictures, because a
/// picture covers more yaw there.
public struct PanoramaGrid: Sendable, Equatable {
    /// Row of a grid.
    public struct Row: Sendable, Equatable {
        /// Pitch of the camera, degrees.
        public var pitch: Double
        /// Number of pictures.
        public var columns: Int
    }

    /// Rows from top to bottom.
    public private(set) var rows: [Row] = []
    private let width: Double

    /// Number of pictures.
    public var count: Int { rows.reduce(0) { $0 + $1.columns } }

    /// Computes the grid with the smallest number of pictures among grids whose rows have equal
    /// heights.
    ///
    /// - Parameters:
    ///   - camera: Field of view of the camera.
    ///   - overlap: Overlap of neighbouring pictures, as a fraction of a picture, 0...0.9.
    ///   - width: Width of the field, degrees of yaw, 0...360; 360 is the whole circle.
    ///   - elevations: Lower and upper end of the field, degrees, -90...90.
    public init(
        camera: FieldOfView, overlap: Double, width: Double, elevations: ClosedRange<Double>
    ) {
        self.width = width
        let core = camera.shrunk(to: 1 - overlap)
        let height = elevations.upperBound - elevations.lowerBound
        let fewest = max(1, Int((height / core.height - 1e-9).rounded(.up)))
        // A grid with the fewest rows can need many pictures in each row, because the upper and
        // lower edges of pictures are curved. Therefore grids with up to three more rows are also
        // compared.
        for number in fewest...fewest + 3 {
            let found = (0..<number).compactMap { index -> Row? in
                let top = elevations.upperBound - height * Double(index) / Double(number)
                let bottom = elevations.upperBound - height * Double(index + 1) / Double(number)
                return Self.row(covering: bottom...top, core: core, width: width)
            }
            guard found.count == number else { continue }
            if rows.isEmpty || found.reduce(0, { $0 + $1.columns }) < count { rows = found }
        }
    }

    /// Poses in the order of the shot: row by row from the top, in alternating direction, so that
    /// the camera moves as little as possible. Yaw is relative to the centre of the field.
    public var poses: [Pose] {
        rows.enumerated().flatMap { index, row in
            let poses = (0..<row.columns).map { column in
                let share = (Double(column) + 0.5) / Double(row.columns)
                return Pose(yaw: Pose.wrapped(width * (share - 0.5)), pitch: row.pitch)
            }
            return index.isMultiple(of: 2) ? poses : poses.reversed()
        }
    }

    /// The row with the fewest pictures that covers a band of elevations; nil if no row covers it.
    private static func row(
        covering band: ClosedRange<Double>, core: FieldOfView, width: Double
    ) -> Row? {
        var best: Row?
        let middle = (band.lowerBound + band.upperBound) / 2
        // The best pitch differs from the middle of the band by at most half the picture's height.
        // Of several rows with the same number of pictures, the row nearest to the middle of the
        // band is used.
        for step in 0...120 {
            let offset = core.height / 2 * Double((step + 1) / 2) / 60
            let pitch = step.isMultiple(of: 2) ? middle + offset : middle - offset
            guard (-90...90).contains(pitch) else { continue }
            let reach = reach(at: pitch, over: band, core: core)
            guard reach > 0 else { continue }
            let columns = reach >= 180 ? 1 : max(1, Int((width / (2 * reach) - 1e-9).rounded(.up)))
            if columns < best?.columns ?? .max { best = Row(pitch: pitch, columns: columns) }
        }
        return best
    }

    /// Half the yaw range in which the picture covers all elevations of the band, degrees; the
    /// range is centred on the picture.
    private static func reach(
        at pitch: Double, over band: ClosedRange<Double>, core: FieldOfView
    ) -> Double {
        // In the picture plane of a rectilinear lens, the picture is convex, and the band's upper
        // and lower edges are curves. Therefore it is sufficient to check points on the curves.
        func isCovered(_ yaw: Double) -> Bool {
            core.contains(yaw: yaw, elevation: band.lowerBound, pitch: pitch)
                && core.contains(yaw: yaw, elevation: band.upperBound, pitch: pitch)
        }
        var covered = -1.0
        while covered < 180, isCovered(covered + 1) { covered += 1 }
        guard covered >= 0 else { return 0 }
        if covered >= 180 { return 180 }
        var (low, high) = (covered, covered + 1)
        for _ in 0..<30 {
            let middle = (low + high) / 2
            if isCovered(middle) { low = middle } else { high = middle }
        }
        return low
    }
}
