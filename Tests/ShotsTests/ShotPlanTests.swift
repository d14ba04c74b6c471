import FoundationEssentials
import Testing

@testable import Shots

@Suite("Plan of a photo series")
struct ShotPlanTests {
    @Test(
        "a full circle does not repeat its first photo, and a partial circle has a photo at both ends"
    )
    func orbit() throws {
        let whole = try ShotPlan(ShotRecipe(.orbit(.init(photos: 8))))
        #expect(whole.frames.map(\.pose.yaw) == [0, 45, 90, 135, 180, -135, -90, -45])
        let part = try ShotPlan(ShotRecipe(.orbit(.init(photos: 3, turn: -90, pitch: 20))))
        #expect(part.frames.map(\.pose.yaw) == [0, -45, -90])
        #expect(part.frames.allSatisfy { $0.pose.pitch == 20 && $0.photo != nil })
    }

    @Test(
        "the first waypoint that the yaw joint cannot reach is named",
        arguments: [
            (-170...170.0, 0.0, "Waypoint 5: "), (-170...170, 85, "Waypoint 3: "),
            (-170...170, 20, nil), (-360...360, 0, nil), (-90...45, 0, "Waypoint 3: "),
        ] as [(ClosedRange<Double>, Double, String?)])
    func joint(range: ClosedRange<Double>, angle: Double, warning: String?) throws {
        let orbit = try ShotPlan(ShotRecipe(.orbit(.init(photos: 8))))
        let sentence = orbit.warning(YawJoint(angle: angle, range: range))
        #expect(sentence?.prefix(12) == warning?.prefix(12), "\(sentence ?? "none")")
    }

    @Test(
        "a waypoint is within the yaw range if whole turns bring it into the range, as in airframed",
        arguments: [
            (0...300.0, 200.0, nil), (0...300, -160, nil), (0...300, 260, "Waypoint 2: yaw -55.0°"),
            (-300...(-30), 80, nil), (-90...90, 0, nil), (-90...90, 50, "Waypoint 2: yaw 95.0°"),
            (-360...360, 170, nil),
        ] as [(ClosedRange<Double>, Double, String?)])
    func yawRange(range: ClosedRange<Double>, origin: Double, refusal: String?) throws {
        let orbit = try ShotPlan(ShotRecipe(.orbit(.init(photos: 3, turn: 90))))
        let ranges = [[range.lowerBound, range.upperBound], [-45, 45], [-90, 90]]
        let sentence = orbit.refusal(outside: ranges, originYaw: origin)
        if let refusal {
            #expect(sentence?.hasPrefix(refusal) == true, "\(sentence ?? "none")")
        } else {
            #expect(sentence == nil)
        }
        #expect(orbit.refusal(outside: [[-360, 360], [5, 45], [-90, 90]], originYaw: 0) != nil)
    }

    @Test("a time-lapse has one photo for each interval")
    func timelapse() throws {
        let plan = try ShotPlan(
            ShotRecipe(
                .timelapse(.init(photos: 5, interval: 12)),
                frames: [.init(Pose()), .init(Pose(yaw: 40))]))
        #expect(plan.frames.map(\.due) == [0, 12, 24, 36, 48])
        #expect(plan.frames.map(\.pose.yaw) == [0, 10, 20, 30, 40])
    }

    @Test(
        "a path of exactly 180° turns in the direction of the written angles",
        arguments: [
            ([0, -180], [0, -45, -90, -135, 180]), ([0, 180], [0, 45, 90, 135, 180]),
            ([-90, 90, -90], [-90, 0, 90, 0, -90]), ([170, -170], [170, 175, 180, -175, -170]),
        ] as [([Double], [Double])])
    func halfTurn(written: [Double], yaws: [Double]) throws {
        let plan = try ShotPlan(
            ShotRecipe(
                .timelapse(.init(photos: 5, interval: 12)),
                frames: written.map { .init(Pose(yaw: $0)) }))
        let errors = zip(plan.frames, yaws).map { abs($0.pose.yaw - $1) }
        #expect(errors.allSatisfy { $0 < 1e-6 }, "\(plan.frames.map(\.pose.yaw))")
    }

    @Test("key frames without a photo are visited, but have no photo number")
    func keyFrames() throws {
        let plan = try ShotPlan(
            ShotRecipe(
                .keyFrames,
                frames: [
                    .init(Pose()), .init(Pose(yaw: 5), dwell: 2, shoots: false),
                    .init(Pose(yaw: 9)),
                ]))
        #expect(plan.frames.map(\.photo) == [1, nil, 2])
        #expect(plan.photos == 2)
        #expect(ShotForecast(plan).duration > 2)
    }

    @Test("the forecast of the remaining time decreases to zero")
    func forecast() throws {
        let plan = try ShotPlan(ShotRecipe(.orbit(.init(photos: 20))))
        let forecast = ShotForecast(plan)
        let rests = (0...20).map(forecast.rest)
        #expect(rests == rests.sorted(by: >))
        #expect(rests[0] == forecast.duration)
        #expect(rests[20] == 0)
        // 19 moves of 18° at 30°/s with 0.8 s of acceleration, and 20 rests of 0.5 s.
        #expect(abs(forecast.duration - (19 * (0.6 + 0.8) + 20 * 0.5)) < 1e-9)
    }

    @Test("the identification changes with the recipe, and is the same after a JSON round trip")
    func identification() throws {
        let recipe = ShotRecipe(.panorama(.init(fovWidth: 66, fovHeight: 41)))
        var other = recipe
        other.kind = .panorama(.init(fovWidth: 66, fovHeight: 41, pitch: 1))
        let plan = try ShotPlan(recipe)
        #expect(try ShotPlan(other).identification != plan.identification)
        let copy = try JSONDecoder().decode(
            ShotRecipe.self, from: try JSONEncoder().encode(recipe))
        #expect(copy == recipe)
        #expect(try ShotPlan(copy).identification == plan.identification)
    }

    @Test("numbers from a program's options have the same ranges as numbers in a file")
    func numbers() throws {
        var recipe = ShotRecipe(.orbit(.init(photos: 1)))
        #expect(throws: RecipeProblem(key: "orbit.photos", text: "= 1 is outside 2...10000")) {
            try recipe.checkNumbers()
        }
        recipe = ShotRecipe(.orbit(.init(photos: 8)))
        try recipe.checkNumbers()
        recipe.shutter.hold = 4000
        #expect(throws: RecipeProblem(key: "shutter.hold_s", text: "= 4000 is outside 0...3600")) {
            try recipe.checkNumbers()
        }
        recipe.shutter.hold = 0
        recipe.rate = .nan
        let problem = #expect(throws: RecipeProblem.self) { try recipe.checkNumbers() }
        #expect(problem?.key == "rate_dps")
    }

    @Test(
        "an error in the description names its key",
        arguments: [
            (#"{"panorama":{"fov_width":66}}"#, "panorama.fov_height is missing"),
            (
                #"{"panorama":{"fov_width":66,"fov_height":400}}"#,
                "panorama.fov_height = 400 is outside 5...170"
            ),
            (#"{"orbit":{"photo":3}}"#, #"orbit.photo is not a known key. Did you mean "photos"?"#),
            (#"{"orbit":{"photos":"3"}}"#, "orbit.photos is not a whole number"),
            (#"{"orbit":{"photos":4},"shutter":{"kind":"gpio"}}"#, "shutter.gpio_line is missing"),
            (#"{"orbit":{"photos":4},"timelapse":{}}"#, "are different kinds of shots"),
            (
                #"{"timelapse":{"photos":9,"interval_s":5},"frame":[{"dwell_s":2}]}"#,
                "[[frame]] of a time-lapse is a waypoint"
            ),
            (#"{}"#, "needs [[frame]], [panorama], [timelapse] or [orbit]"),
            (
                #"{"orbit":{"photos":4},"shutter":{"kind":"command","command":["x"],"file":"a"}}"#,
                "shutter.file needs {number}"
            ),
            (
                #"{"orbit":{"photos":4},"shutter":{"kind":"command","command":["x","-o={file}"]}}"#,
                "shutter.file is missing; it is the path for {file}"
            ),
            (
                #"{"orbit":{"photos":4},"shutter":{"kind":"command","command":["{file}"],"file":"{number}-{yaw}"}}"#,
                "shutter.file contains {yaw}, but only {number} is replaced"
            ),
        ])
    func mistakes(json: String, sentence: String) {
        let error = #expect(throws: RecipeProblem.self) {
            try JSONDecoder().decode(ShotRecipe.self, from: Data(json.utf8))
        }
        #expect(error?.sentence.contains(sentence) == true, "\(error?.sentence ?? "")")
    }
}
