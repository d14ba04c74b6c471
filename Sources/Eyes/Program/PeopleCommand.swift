import ArgumentParser
import CVideo
import Client
import Glibc
import People
import PlainText

/// Command that finds people in a photo or a video, and prints the computing time and the memory
/// use.
struct PeopleCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "people",
        abstract:
            "Find people in a photo or a video, and print computing time and memory use.",
        discussion: """
            Each line states the score of a person, 0...1, and the box around the person in pixels: left, top, width, height.
            """)

    @Argument(help: "File that GStreamer can decode.")
    var file: String

    @Option(help: "Largest number of pictures to process.")
    var limit = 100_000

    @Option(help: "Number of times that each picture is processed, to measure the computing time.")
    var repeats = 1

    @Option(
        help:
            "Number of parts into which the shorter edge of the picture is divided to search for people: a higher number finds people who are farther away."
    )
    var divisions = 1

    @Option(
        help:
            "Directory of the models and of the library libLiteRt.so; \"auto\" = the installed directory."
    )
    var models = "auto"

    func validate() throws {
        guard limit > 0, repeats > 0, (1...8).contains(divisions) else {
            throw ValidationError(
                "--limit and --repeats must be at least 1; --divisions must be 1 to 8.")
        }
    }

    func run() throws {
        do {
            try VideoLibrary.start()
            try examine()
        } catch let error as VideoError {
            Log.write(error.description)
            throw ExitCode(69)
        } catch let error as InferenceError {
            Log.write(error.description)
            throw ExitCode(69)
        }
    }

    private func examine() throws {
        let pictures = try PictureFile(file)
        let finder = try PersonFinder(directory: ModelFiles.directory(models))
        var (count, nanoseconds) = (0, [Int64]())
        while count < limit, let picture = try pictures.next() {
            var people: [Person] = []
            for _ in 0..<repeats {
                let start = cv_now()
                people = try Self.find(in: picture, finder, divisions)
                nanoseconds.append(cv_now() - start)
            }
            print("picture \(count): \(people.count) \(people.count == 1 ? "person" : "people")")
            for person in people { print("  \(person.text)") }
            count += 1
        }
        nanoseconds.sort()
        guard let median = nanoseconds.dropFirst(nanoseconds.count / 2).first else { return }
        print(
            "\(count) \(count == 1 ? "picture" : "pictures"), median computing time \(Format.fixed(Double(median) * 1e-6, 1)) ms on one thread, peak memory use \(Self.peakMemory) MB"
        )
    }

    private static func find(
        in picture: RGBPicture, _ finder: PersonFinder, _ divisions: Int
    ) throws -> [Person] {
        let pattern = SearchPattern(
            width: picture.width, height: picture.height, divisions: divisions)
        return try pattern.regions.reduce(into: []) { people, region in
            people += try finder.find(in: picture, region, besides: people)
        }
    }

    /// Largest resident memory of this process since its start, MB.
    private static var peakMemory: Int {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return usage.ru_maxrss / 1024
    }
}

extension Person {
    /// Score and box as text for display.
    fileprivate var text: String {
        let numbers = [box.left, box.top, box.width, box.height].map { Format.fixed($0, 0) }
        return "score \(Format.fixed(score, 2)), box \(numbers.joined(separator: " "))"
    }
}
