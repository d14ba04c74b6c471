import CMathShim

extension SquareRegion {
    /// Samples the square for the input of a model, row by row, with red, green and blue of each
    /// sample. Samples outside the picture are black.
    ///
    /// If the square is enlarged, each sample is interpolated bilinearly between four pixels. If
    /// the square is reduced, each sample is the mean of several pixels, which avoids aliasing.
    ///
    /// - Parameters:
    ///   - picture: The picture.
    ///   - count: Number of samples along an edge.
    ///   - range: Sample values for black and white.
    ///   - target: Buffer for the samples, 3 · count² values.
    func sample(
        _ picture: RGBPicture, count: Int, range: ClosedRange<Float>, into target: inout [Float]
    ) {
        // A model can return an invalid region. Positions in an invalid region can be too large for
        // an integer.
        let far = 1e5
        guard side > 0, side < far, abs(centre.x) < far, abs(centre.y) < far, rotation.isFinite
        else {
            for index in target.indices { target[index] = range.lowerBound }
            return
        }
        let step = side / Double(count)
        let parts = min(max(Int(step.rounded()), 1), 8)
        picture.bytes.withUnsafeBufferPointer { bytes in
            target.withUnsafeMutableBufferPointer { samples in
                guard let pixels = bytes.baseAddress, samples.count >= 3 * count * count else {
                    return
                }
                let sampler = Sampler(
                    pixels: pixels, width: picture.width, height: picture.height,
                    step: Grid(self, step: step / Double(parts)), parts: parts)
                let scale = (range.upperBound - range.lowerBound) / 255
                var index = 0
                for row in 0..<count {
                    for column in 0..<count {
                        let value =
                            parts == 1
                            ? sampler.interpolated(column, row) : sampler.mean(column, row)
                        samples[index] = range.lowerBound + scale * value.x
                        samples[index + 1] = range.lowerBound + scale * value.y
                        samples[index + 2] = range.lowerBound + scale * value.z
                        index += 3
                    }
                }
            }
        }
    }
}

/// Positions of the samples in the picture. Coordinates of pixel centres are integers.
private struct Grid {
    /// Position of the first sample.
    let x: Float, y: Float
    /// Steps from one sample to its right neighbour and to its lower neighbour.
    let right: (x: Float, y: Float), down: (x: Float, y: Float)

    init(_ region: SquareRegion, step: Double) {
        let (cosine, sine) = (cm_cos(region.rotation), cm_sin(region.rotation))
        let start = -region.side / 2 + step / 2
        x = Float(region.centre.x - 0.5 + start * cosine - start * sine)
        y = Float(region.centre.y - 0.5 + start * sine + start * cosine)
        right = (Float(step * cosine), Float(step * sine))
        down = (Float(-step * sine), Float(step * cosine))
    }

    @inline(__always)
    func point(_ column: Int, _ row: Int) -> (x: Float, y: Float) {
        let (c, r) = (Float(column), Float(row))
        return (x + c * right.x + r * down.x, y + c * right.y + r * down.y)
    }
}

private struct Sampler {
    let pixels: UnsafePointer<UInt8>
    let width: Int
    let height: Int
    /// Positions of a sample's sub-samples.
    let step: Grid
    /// Number of sub-samples along the edge of a sample.
    let parts: Int

    /// Mean of the pixels at a sample's sub-samples, for downsampling.
    @inline(__always)
    func mean(_ column: Int, _ row: Int) -> SIMD3<Float> {
        var (red, green, blue) = (UInt32(0), UInt32(0), UInt32(0))
        for part in 0..<parts {
            var (x, y) = step.point(column * parts, row * parts + part)
            for _ in 0..<parts {
                // The conversion to an integer rounds towards zero. The offset makes the
                // coordinates near the picture positive. Positive coordinates are all rounded down.
                let (column, row) = (Int(x + 4096.5) - 4096, Int(y + 4096.5) - 4096)
                if column >= 0, row >= 0, column < width, row < height {
                    let pixel = pixels + 3 * (row * width + column)
                    red &+= UInt32(pixel[0])
                    green &+= UInt32(pixel[1])
                    blue &+= UInt32(pixel[2])
                }
                x += step.right.x
                y += step.right.y
            }
        }
        return SIMD3(Float(red), Float(green), Float(blue)) / Float(parts * parts)
    }

    /// Bilinear interpolation between the four pixels around a sample.
    @inline(__always)
    func interpolated(_ column: Int, _ row: Int) -> SIMD3<Float> {
        let (x, y) = step.point(column, row)
        let (left, top) = (x.rounded(.down), y.rounded(.down))
        let (right, down) = (x - left, y - top)
        let (column, row) = (Int(left), Int(top))
        let upper = pixel(column, row) * (1 - right) + pixel(column + 1, row) * right
        let lower = pixel(column, row + 1) * (1 - right) + pixel(column + 1, row + 1) * right
        return upper * (1 - down) + lower * down
    }

    @inline(__always)
    private func pixel(_ x: Int, _ y: Int) -> SIMD3<Float> {
        guard x >= 0, y >= 0, x < width, y < height else { return .zero }
        let pixel = pixels + 3 * (y * width + x)
        return SIMD3(Float(pixel[0]), Float(pixel[1]), Float(pixel[2]))
    }
}
