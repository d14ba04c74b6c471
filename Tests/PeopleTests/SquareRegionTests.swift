import Testing

@testable import People

@Suite("Square regions of pictures")
struct SquareRegionTests {
    /// A picture in which red is x and green is y.
    private let ramp: RGBPicture = {
        let bytes = (0..<20_000).flatMap { index in
            [UInt8(index % 200), UInt8(index / 200), UInt8(7)]
        }
        guard let picture = RGBPicture(width: 200, height: 100, bytes: bytes) else {
            fatalError("The size fits.")
        }
        return picture
    }()

    private func samples(_ region: SquareRegion, _ count: Int) -> [Float] {
        var target = [Float](repeating: -1, count: 3 * count * count)
        region.sample(ramp, count: count, range: 0...255, into: &target)
        return target
    }

    @Test("samples of an upright square are equal to the pixels")
    func upright() {
        let region = SquareRegion(centre: PixelPoint(x: 50, y: 40), side: 20)
        let values = samples(region, 20)
        #expect(abs(values[0] - 40) < 0.01 && abs(values[1] - 30) < 0.01 && values[2] == 7)
        let last = values.suffix(3).map { $0 }
        #expect(abs(last[0] - 59) < 0.01 && abs(last[1] - 49) < 0.01)
    }

    @Test(
        "each sample has the value of the picture at the corresponding point, at any rotation and size of the region",
        arguments: [(rotation: 0.0, count: 10), (1.1, 10), (-2.5, 64), (3.0, 5), (0, 5)])
    func turned(rotation: Double, count: Int) {
        let region = SquareRegion(
            centre: PixelPoint(x: 90, y: 50), side: 40, rotation: rotation)
        let values = samples(region, count)
        for (column, row) in [(0, 0), (count - 1, 0), (count / 2, count - 1)] {
            let place = region.point(
                u: (Double(column) + 0.5) / Double(count), v: (Double(row) + 0.5) / Double(count))
            let index = 3 * (row * count + column)
            // The centre of a pixel is half a pixel from its edge. Means of whole pixels differ by
            // at most half a pixel.
            #expect(abs(Double(values[index]) - (place.x - 0.5)) < 0.51)
            #expect(abs(Double(values[index + 1]) - (place.y - 0.5)) < 0.51)
        }
    }

    @Test("points outside the picture are black")
    func outside() {
        let values = samples(SquareRegion(centre: PixelPoint(x: 0, y: 0), side: 40), 4)
        #expect(values[0...2] == [0, 0, 0])
        #expect(values.suffix(1) == [7])
    }

    @Test(
        "a region without a place or size is black",
        arguments: [
            SquareRegion(centre: PixelPoint(x: .nan, y: 5), side: 10),
            SquareRegion(centre: PixelPoint(x: 5, y: 5), side: .infinity),
            SquareRegion(centre: PixelPoint(x: 5, y: 5), side: 0),
            SquareRegion(centre: PixelPoint(x: 1e9, y: 5), side: 10),
            SquareRegion(centre: PixelPoint(x: 5, y: 5), side: 10, rotation: .nan),
        ])
    func senseless(region: SquareRegion) {
        #expect(samples(region, 4) == Array(repeating: 0, count: 48))
    }

    @Test("a square around a body is rotated so that the head is at the top")
    func body() {
        let region = SquareRegion(
            hips: PixelPoint(x: 100, y: 50), top: PixelPoint(x: 130, y: 50))
        #expect(abs(region.side - 75) < 1e-9)
        // The head is at the upper edge of the square.
        let head = region.point(u: 0.5, v: 0.1)
        #expect(abs(head.x - 130) < 1e-9 && abs(head.y - 50) < 1e-9)
    }

    @Test("the search covers the whole picture with overlapping squares")
    func search() {
        let pattern = SearchPattern(width: 640, height: 480, divisions: 2)
        #expect(pattern.regions[0] == SquareRegion(centre: PixelPoint(x: 320, y: 240), side: 640))
        let squares = pattern.regions.dropFirst()
        #expect(squares.count == 12)
        for (x, y) in [(1.0, 1.0), (639, 479), (320, 240), (200, 300)] {
            #expect(
                squares.contains {
                    abs($0.centre.x - x) <= $0.side / 2 && abs($0.centre.y - y) <= $0.side / 2
                })
        }
        #expect(SearchPattern(width: 640, height: 480, divisions: 1).regions.count == 1)
    }
}

@Suite("Detections of bodies")
struct PoseDetectorTests {
    @Test("the anchors are the model's 2254 anchors, layer by layer")
    func anchors() {
        let anchors = PoseAnchors.all
        #expect(anchors.count == 2254)
        #expect(anchors[0] == anchors[1] && anchors[0] == PixelPoint(x: 0.5 / 28, y: 0.5 / 28))
        #expect(anchors[2] == PixelPoint(x: 1.5 / 28, y: 0.5 / 28))
        #expect(anchors[1568] == PixelPoint(x: 0.5 / 14, y: 0.5 / 14))
        #expect(anchors[2253] == PixelPoint(x: 6.5 / 7, y: 6.5 / 7))
    }

    @Test("detections of one face are merged, weighted by their scores; other faces remain")
    func merging() {
        func body(_ score: Double, x: Double) -> DetectedBody {
            DetectedBody(
                score: score, face: PixelBox(left: x, top: 0, width: 10, height: 10),
                hips: PixelPoint(x: x, y: 50), top: PixelPoint(x: x, y: 0))
        }
        let merged = PoseDetector.merged([body(0.5, x: 2), body(0.9, x: 100), body(1, x: 0)])
        #expect(merged.map(\.score) == [1, 0.9])
        #expect(abs(merged[0].hips.x - 2.0 / 3) < 1e-9)
        // A detection without area also remains.
        var flat = body(0.7, x: 0)
        flat.face.width = 0
        #expect(PoseDetector.merged([flat]) == [flat])
    }
}
