import Glibc
import Testing

@testable import People

@Suite("Finding people in pictures", .serialized, .timeLimit(.minutes(2)))
struct PersonFinderTests {
    @Test("finds a player, with the head above the hips and the hips above the feet")
    func player() throws {
        guard let finder = try RealPictures.finder(),
            let picture = try RealPictures.pictures("messi5.jpg", width: 548, height: 342).first
        else { return }
        let people = try finder.find(in: picture)
        try #require(people.count == 1)
        let person = people[0]
        #expect(person.score > 0.9)
        // Positions in the photo, determined by eye.
        func expect(_ part: Landmark.Part, x: Double, y: Double, within: Double = 15) {
            let point = person[part].point
            #expect(abs(point.x - x) < within && abs(point.y - y) < within, "\(part): \(point)")
        }
        expect(.nose, x: 238, y: 112)
        expect(.rightWrist, x: 92, y: 99)
        expect(.leftWrist, x: 358, y: 165)
        expect(.leftAnkle, x: 420, y: 266, within: 20)
        #expect(person.box.contains(PixelPoint(x: 250, y: 180)))
        #expect(person.box.top < 100 && person.box.top + person.box.height > 300)
        // The model's coordinates are metres: an adult's hips are about half a metre below the
        // shoulders.
        let shoulders = (person[.leftShoulder].y + person[.rightShoulder].y) / 2
        #expect(shoulders < -0.3 && shoulders > -0.7)
    }

    @Test("finds a person again in the next picture without the detector")
    func follow() throws {
        guard let finder = try RealPictures.finder(),
            let picture = try RealPictures.pictures("messi5.jpg", width: 548, height: 342).first
        else { return }
        let person = try #require(try finder.find(in: picture).first)
        let again = try #require(try finder.find(in: picture, person.region) as Person?)
        #expect(again.isSame(as: person))
        #expect(again.box.overlap(person.box) > 0.8)
        let nowhere = SquareRegion(centre: PixelPoint(x: 480, y: 30), side: 60)
        #expect(try finder.find(in: picture, nowhere) as Person? == nil)
    }

    @Test("a body of the previous picture is not lost, even with one picture per second")
    func slowPictures() {
        #expect(PictureExaminer.isKnown(lastSeen: 1, previous: 1, at: 2))
        // The body was missing in one of the pictures between.
        #expect(PictureExaminer.isKnown(lastSeen: 1, previous: 1.2, at: 1.4))
        #expect(!PictureExaminer.isKnown(lastSeen: 1, previous: 1.5, at: 2))
    }

    @Test("finds distant people in parts of the picture")
    func farAway() throws {
        guard let finder = try RealPictures.finder(),
            let picture = try RealPictures.pictures("vtest.avi", width: 768, height: 576).first
        else { return }
        let pattern = SearchPattern(width: 768, height: 576, divisions: 2)
        var people: [Person] = []
        for region in pattern.regions {
            people += try finder.find(in: picture, region, besides: people)
        }
        // The middles of the three people, determined by eye.
        for (x, y) in [(267.0, 263.0), (514, 195), (661, 282)] {
            let found = people.filter {
                $0.box.contains(PixelPoint(x: x, y: y))
                    && $0.box.height > 60 && $0.box.height < 110
            }
            #expect(found.count == 1, "at \(x), \(y)")
        }
    }

    @Test("progress is reported before the detector and before each landmark model")
    func progress() throws {
        guard let finder = try RealPictures.finder(),
            let picture = try RealPictures.pictures("messi5.jpg", width: 548, height: 342).first
        else { return }
        var calls = 0
        let found = try finder.find(
            in: picture, SquareRegion(around: picture), besides: [], progress: { calls += 1 })
        #expect(calls > found.count && found.count == 1)
    }

    @Test("an empty picture contains no person")
    func empty() throws {
        guard let finder = try RealPictures.finder() else { return }
        let grey = try #require(
            RGBPicture(
                width: 320, height: 240, bytes: Array(repeating: 128, count: 3 * 320 * 240)))
        #expect(try finder.find(in: grey).isEmpty)
    }

    @Test("a missing library is reported with the remedy")
    func missing() {
        let error = #expect(throws: InferenceError.self) {
            _ = try PersonFinder(directory: "/nonexistent")
        }
        #expect(error?.description.contains("/nonexistent/libLiteRt.so") == true)
        #expect(error?.description.contains("make deps-eyes") == true)
    }

    @Test(
        "files that are not the model are reported",
        .enabled(
            if: access("\(RealPictures.models)/libLiteRt.so", R_OK) == 0,
            "the library is missing (make deps-eyes)"))
    func wrongFiles() throws {
        let library = try InferenceLibrary(path: "\(RealPictures.models)/libLiteRt.so")
        let wrong = #expect(throws: InferenceError.self) {
            _ = try PoseDetector(library, path: "/dev/null", threads: 1)
        }
        #expect(wrong?.description.contains("/dev/null") == true)
        let other = #expect(throws: InferenceError.self) {
            _ = try PoseDetector(
                library, path: "\(RealPictures.models)/\(PersonFinder.Files.landmarks)", threads: 1)
        }
        #expect(other?.description.contains("not the model") == true)
    }
}
