import GimbalCore

/// Test picture that shows the horizon, marks for the heading, and a time code. The horizon and the
/// marks correspond to the camera's attitude. The test picture replaces a missing camera's
/// pictures.
///
/// The format is I420: a luma plane, then two chroma planes with half the width and height.
struct TestPicture {
    let width: Int
    let height: Int
    /// Bytes of the picture in the format I420.
    private(set) var bytes: [UInt8]

    /// Creates a black picture. Width and height, pixels, must be even.
    init(width: Int, height: Int) {
        self.width = width
        self.height = height
        bytes = [UInt8](repeating: 16, count: width * height * 3 / 2)
    }

    /// Draws a picture.
    ///
    /// - Parameters:
    ///   - attitude: Attitude of the camera; nil if it is unknown.
    ///   - notice: Text at the centre of the picture; nil means no text.
    ///   - exposed: Time of exposure, for the time code, ns on CLOCK_MONOTONIC.
    mutating func draw(_ attitude: AxisVector?, notice: String?, exposed: Int64) {
        let rotation = EulerZXY.quaternion(attitude ?? AxisVector(yaw: 0, roll: 0, pitch: 0))
        drawHorizon(down: rotation.inverseRotate(Vector3(0, 0, 1)))
        drawHeadings(rotation)
        let scale = max(2, width / 160)
        if let attitude {
            let text =
                "YAW \(degrees(attitude.yaw)) ROLL \(degrees(attitude.roll)) PITCH \(degrees(attitude.pitch))"
            write(text, x: scale * 4, y: height - scale * 9, scale: scale)
        }
        if let notice {
            let wide = Glyphs.width(of: notice, scale: scale)
            write(notice, x: (width - wide) / 2, y: height / 2 - scale * 3, scale: scale)
        }
        bytes.withUnsafeMutableBytes {
            TimeCode.draw(exposed, into: $0, width: width, height: height)
        }
        for index in 0..<TimeCode.rows {
            let side = TimeCode.cell(width: width) / 2
            for row in index * side..<min(height / 2, (index + 1) * side) {
                fillColour(row, 0..<min(width / 2, TimeCode.columns * side), 128, 128)
            }
        }
    }

    private func degrees(_ angle: Double) -> String { "\(Int((angle * 180 / .pi).rounded()))" }

    /// Focal length, pixels: distance of a point from the picture's centre, divided by the tangent
    /// of the point's angle from the optical axis.
    private var focus: Double { Double(width) / 2 / 0.57735026919 }

    /// Draws the sky above the horizon, and the ground below it.
    ///
    /// - Parameter down: Direction of gravity in the camera's frame (x forward, y right, z down), a
    ///   unit vector.
    private mutating func drawHorizon(down: Vector3) {
        for row in 0..<height {
            let y = (Double(row) + 0.5 - Double(height) / 2) / focus
            // A ray (1, x, y) is below the horizon if its scalar product with `down` is positive.
            let level = down.x + y * down.z
            var ground = level > 0 ? 0..<width : 0..<0
            if abs(down.y) > 1e-6 {
                let edge = -level / down.y * focus + Double(width) / 2
                let column = Int(max(0, min(Double(width), edge)))
                ground = down.y > 0 ? column..<width : 0..<column
            }
            fill(row, 0..<width, 170)
            fill(row, ground, 90)
            if row % 2 == 0 {
                fillColour(row / 2, 0..<width / 2, 150, 108)
                fillColour(row / 2, ground.lowerBound / 2..<ground.upperBound / 2, 110, 140)
            }
        }
    }

    /// Draws a mark on the horizon at every 10° of heading.
    private mutating func drawHeadings(_ rotation: Quaternion) {
        let scale = max(1, width / 320)
        for heading in stride(from: 0, to: 360, by: 10) {
            let angle = Double(heading) * .pi / 180
            let axis = EulerZXY.quaternion(AxisVector(yaw: angle, roll: 0, pitch: 0))
            let ray = rotation.inverseRotate(axis.rotate(Vector3(1, 0, 0)))
            guard ray.x > 0.2 else { continue }
            let column = Int(ray.y / ray.x * focus + Double(width) / 2)
            let row = Int(ray.z / ray.x * focus + Double(height) / 2)
            guard (0..<width).contains(column), (0..<height).contains(row) else { continue }
            for line in max(0, row - 6 * scale)..<min(height, row) {
                fill(line, max(0, column - scale / 2)..<min(width, column + scale), 235)
            }
            let label = "\(heading)"
            write(
                label, x: column - Glyphs.width(of: label, scale: scale) / 2, y: row - 13 * scale,
                scale: scale)
        }
    }

    private mutating func write(_ text: String, x: Int, y: Int, scale: Int) {
        Glyphs.forEachPixel(of: text) { column, row in
            for line in y + row * scale..<y + (row + 1) * scale where (0..<height).contains(line) {
                let start = max(0, x + column * scale)
                let end = min(width, x + (column + 1) * scale)
                if start < end { fill(line, start..<end, 235) }
            }
        }
    }

    private mutating func fill(_ row: Int, _ columns: Range<Int>, _ value: UInt8) {
        set(row * width, columns, value)
    }

    private mutating func fillColour(_ row: Int, _ columns: Range<Int>, _ u: UInt8, _ v: UInt8) {
        let plane = width * height
        set(plane + row * (width / 2), columns, u)
        set(plane * 5 / 4 + row * (width / 2), columns, v)
    }

    private mutating func set(_ start: Int, _ columns: Range<Int>, _ value: UInt8) {
        bytes.withUnsafeMutableBytes {
            _ = $0[start + columns.lowerBound..<start + columns.upperBound].initializeMemory(
                as: UInt8.self, repeating: value)
        }
    }
}
