import Testing

@testable import People

/// Recall and precision on six pictures of a car park (vtest.avi of opencv-doc, PETS 2009). A
/// person counted the people by eye on a grid of 96 pixels. The people are 40 to 140 of 576 pixels
/// tall, much smaller than the usual subjects of a gimbal.
@Suite("Recall and precision on real pictures", .timeLimit(.minutes(2)))
struct RecallTests {
    /// Number of the picture, and the middle of each body.
    private static let counted: [(frame: Int, people: [(x: Double, y: Double)])] = [
        (0, [(267, 263), (514, 195), (661, 282)]),
        (100, [(361, 236), (394, 217), (440, 225), (506, 184), (528, 184), (604, 194), (230, 78)]),
        (300, [(201, 197), (252, 190), (310, 195), (329, 253), (596, 197), (631, 197)]),
        (450, [(323, 248), (501, 221), (577, 289)]),
        (600, [(198, 180), (582, 244), (687, 252), (655, 358), (472, 360), (305, 505)]),
        (
            750,
            [
                (198, 243), (255, 259), (385, 221), (411, 256), (521, 213), (655, 268), (675, 146),
                (752, 77),
            ]
        ),
    ]

    @Test(
        "finds most of the small people in parts of the picture, with few false detections",
        arguments: [(divisions: 2, share: 0.5), (3, 0.75)])
    func recall(divisions: Int, share: Double) throws {
        guard let finder = try RealPictures.finder() else { return }
        let pictures = try RealPictures.pictures(
            "vtest.avi", width: 768, height: 576, frames: Self.counted.map(\.frame))
        if pictures.isEmpty { return }
        try #require(pictures.count == Self.counted.count)
        finder.maximumPeople = 16
        var (people, found, wrong) = (0, 0, 0)
        for (picture, counted) in zip(pictures, Self.counted) {
            let pattern = SearchPattern(width: 768, height: 576, divisions: divisions)
            var boxes: [PixelBox] = []
            var all: [Person] = []
            for region in pattern.regions {
                all += try finder.find(in: picture, region, besides: all)
            }
            boxes = all.map(\.box)
            people += counted.people.count
            for person in counted.people {
                // The nearest box that contains the middle of the body and is not much larger than
                // the body.
                let fitting = boxes.indices.filter {
                    boxes[$0].contains(PixelPoint(x: person.x, y: person.y))
                        && boxes[$0].height < 200
                }
                guard
                    let best = fitting.min(by: {
                        abs(boxes[$0].centre.x - person.x) < abs(boxes[$1].centre.x - person.x)
                    })
                else { continue }
                found += 1
                boxes.remove(at: best)
            }
            wrong += boxes.count
        }
        let recall = Double(found) / Double(people)
        let precision = Double(found) / Double(max(1, found + wrong))
        print(
            "measured: \(divisions) divisions, recall \(found)/\(people), precision \(found)/\(found + wrong)"
        )
        #expect(recall >= share)
        #expect(precision > 0.8)
    }
}
