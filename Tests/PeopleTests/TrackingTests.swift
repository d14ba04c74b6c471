import GimbalCore
import Testing

@testable import People

@Suite("Directions to people")
struct CameraViewTests {
    private let view = CameraView(width: 640, height: 480, fieldOfView: 60 * .pi / 180)

    @Test(
        "an edge of the picture is half the angle of view from the middle, and points convert both ways"
    )
    func roundTrip() throws {
        let level = Quaternion.identity
        let right = view.direction(of: PixelPoint(x: 640, y: 240), level)
        #expect(abs(right.yaw - .pi / 6) < 1e-9 && abs(right.pitch) < 1e-9)
        let attitude = EulerZXY.quaternion(AxisVector(yaw: 2, roll: 0.2, pitch: -0.4))
        for point in [PixelPoint(x: 10, y: 20), PixelPoint(x: 500, y: 400)] {
            let back = try #require(
                view.point(of: view.direction(of: point, attitude), attitude))
            #expect(abs(back.x - point.x) < 1e-6 && abs(back.y - point.y) < 1e-6)
        }
        #expect(view.point(of: EarthDirection(yaw: .pi, pitch: 0), level) == nil)
    }

    @Test(
        "a small person is centred, a large one has head room, and a third is one third of the width"
    )
    func framing() {
        var framing = Framing()
        let small = PixelBox(left: 0, top: 200, width: 50, height: 100)
        #expect(abs(framing.centreHeight(for: small, view) - 250) < 1e-9)
        let large = PixelBox(left: 0, top: 100, width: 200, height: 600)
        // With this pitch the head is 0.12 of the picture's height below the upper edge.
        #expect(abs(framing.centreHeight(for: large, view) - (100 + 240 - 57.6)) < 1e-9)
        framing.side = .leftThird
        // The camera looks to the right of the person, so the person is on the left.
        let direction = EarthDirection(yaw: -framing.offset(view), pitch: 0)
        let place = view.point(of: direction, .identity)
        #expect(abs((place?.x ?? 0) - 640 / 3) < 1e-6)
    }
}

@Suite("Tracking of people")
struct PersonTrackerTests {
    private func sighting(_ degrees: Double, _ distance: Double? = 3) -> Sighting {
        Sighting(yaw: degrees * .pi / 180, aimPitch: 0, distance: distance)
    }

    @Test("the filter predicts a straight walk, even with a wrong distance")
    func straight() {
        for scale in [0.7, 1, 1.5] {
            var tracker = PersonTracker()
            func place(_ time: Double) -> Double { (-2 + 1.5 * time) }
            var id: Int?
            for step in 0..<15 {
                let east = place(Double(step) * 0.1)
                let sighting = Sighting(
                    yaw: (east / 3.0).arctangent, aimPitch: 0,
                    distance: scale * (9 + east * east).squareRoot())
                id = tracker.update([sighting], at: Double(step) * 0.1)[0]
            }
            // Predicted half a second after the last sighting.
            let expected = (place(1.9) / 3).arctangent
            let predicted = id.flatMap { tracker[$0] }?.direction(at: 1.9).yaw ?? 9
            #expect(abs(predicted - expected) < 0.03, "\(scale)")
            #expect(tracker.people.count == 1)
        }
    }

    @Test("each sighting is assigned to one person, with the best total fit")
    func assignment() {
        var tracker = PersonTracker()
        #expect(tracker.update([sighting(0), sighting(10)], at: 0) == [1, 2])
        // Both people moved to the right, and the sightings are in reverse order. The smallest sum
        // of the distances decides.
        #expect(tracker.update([sighting(11), sighting(1)], at: 0.1) == [2, 1])
        // A sighting far from all people is a new person.
        #expect(tracker.update([sighting(60), sighting(1), sighting(11)], at: 0.2) == [3, 1, 2])
        #expect(tracker.update([], at: 0.3) == [])
        #expect(tracker.people.map(\.id) == [1, 2, 3])
    }

    @Test(
        "people are remembered for 1.5 s, the chosen person for longer, a single sighting for less"
    )
    func memory() {
        var tracker = PersonTracker()
        for step in 0..<5 {
            _ = tracker.update([sighting(0), sighting(20)], at: 0.1 * Double(step))
        }
        _ = tracker.update([sighting(-30)], at: 0.5)
        tracker.keep(2, seconds: 5)
        _ = tracker.update([], at: 0.9)
        #expect(tracker.people.map(\.id) == [1, 2])
        _ = tracker.update([], at: 2.1)
        #expect(tracker.people.map(\.id) == [2])
        _ = tracker.update([], at: 5.5)
        #expect(tracker.people.isEmpty)
    }

    @Test("a heading near ±180° is tracked like any other heading")
    func wrap() {
        var tracker = PersonTracker()
        for step in 0..<10 {
            let degrees = 175 + Double(step)
            #expect(
                tracker.update(
                    [sighting(degrees > 180 ? degrees - 360 : degrees)], at: 0.1 * Double(step))
                    == [1])
        }
        let ahead = tracker[1]?.direction(at: 1).yaw ?? 0
        #expect(abs(ahead + 175 * .pi / 180) < 0.02)
    }

    @Test("a person who walks towards the camera, and is then hidden, stops in front of it")
    func approach() throws {
        var tracker = PersonTracker()
        // The path is a straight line 0.2 m to the right of the camera.
        func place(_ time: Double) -> Vector3 { Vector3(4 - 1.2 * time, 0.2, 0) }
        for step in 0...20 {
            let place = place(0.1 * Double(step))
            _ = tracker.update(
                [Sighting(yaw: EarthDirection(place).yaw, aimPitch: 0, distance: place.norm)],
                at: 0.1 * Double(step))
        }
        tracker.keep(1, seconds: 15)
        for step in 21...60 {
            let time = 0.1 * Double(step)
            _ = tracker.update([], at: time)
            let direction = try #require(tracker[1]).direction(at: time)
            #expect(abs(direction.yaw) < 25 * .pi / 180 && direction.distance > 0.6)
        }
        #expect(tracker[1]?.direction(at: 6).yawRate == 0)
    }

    @Test("forgotten people are deleted, and later people have new track IDs")
    func forget() {
        var tracker = PersonTracker()
        #expect(tracker.update([sighting(0), sighting(10)], at: 0) == [1, 2])
        tracker.forget()
        #expect(tracker.people.isEmpty)
        #expect(tracker.update([sighting(0)], at: 0.1) == [3])
    }

    @Test("people beyond the limit are not tracked")
    func limit() {
        var tracker = PersonTracker()
        let many = (0..<12).map { sighting(Double($0) * 10) }
        let ids = tracker.update(many, at: 0)
        #expect(ids.compactMap { $0 }.count == PersonTracker.limit)
        #expect(ids.suffix(4) == [nil, nil, nil, nil])
    }
}

extension Double {
    fileprivate var arctangent: Double { EarthDirection(Vector3(1, self, 0)).yaw }
}

@Suite("Choice of the person to follow")
struct PersonFollowerTests {
    private let view = CameraView(width: 640, height: 480, fieldOfView: 60 * .pi / 180)
    private let axis = EarthDirection(yaw: 0, pitch: 0)

    /// Passes pictures of people at fixed headings, in degrees.
    private func show(
        _ follower: inout PersonFollower, _ degrees: [Double], from start: Double, pictures: Int = 4
    ) -> Double {
        var time = start
        for _ in 0..<pictures {
            time += 0.1
            _ = follower.update(
                degrees.map { Sighting(yaw: $0 * .pi / 180, aimPitch: 0.1, distance: 4) },
                axis: axis,
                point: { x, y in
                    view.direction(of: PixelPoint(x: x * 640, y: y * 480), .identity)
                }, exposed: time, now: time)
        }
        return time
    }

    private func heading(_ follower: inout PersonFollower, _ time: Double) -> Double? {
        follower.aim(at: time, axis: axis, view).map { $0.yaw * 180 / .pi }
    }

    @Test(
        "`on` follows the person nearest to the middle, `next` the one to the right, `off` follows no one"
    )
    func choices() throws {
        var follower = PersonFollower()
        var time = show(&follower, [-20, 5, 15], from: 0)
        #expect(heading(&follower, time) == nil)
        follower.ask(.on, at: time)
        time = show(&follower, [-20, 5, 15], from: time)
        #expect(abs(try #require(heading(&follower, time)) - 5) < 0.5)
        for expected in [15.0, -20, 5] {
            follower.ask(.next, at: time)
            time = show(&follower, [-20, 5, 15], from: time)
            #expect(abs(try #require(heading(&follower, time)) - expected) < 0.5)
        }
        follower.ask(.point(x: 0.2, y: 0.5), at: time)
        time = show(&follower, [-20, 5, 15], from: time)
        #expect(abs(try #require(heading(&follower, time)) + 20) < 0.5)
        // The choice `on` keeps the person that is followed.
        follower.ask(.on, at: time)
        time = show(&follower, [-20, 5, 15], from: time)
        #expect(abs(try #require(heading(&follower, time)) + 20) < 0.5)
        follower.ask(.off, at: time)
        #expect(heading(&follower, time) == nil)
    }

    @Test("`on` does not follow a person who was found in one picture only")
    func falseDetection() throws {
        var follower = PersonFollower()
        follower.ask(.on, at: 0)
        var time = show(&follower, [0, 25], from: 0, pictures: 1)
        #expect(follower.state == .waiting)
        time = show(&follower, [25], from: time)
        #expect(abs(try #require(heading(&follower, time)) - 25) < 0.5)
        // A point selects a person at once. If this was a false detection, the search begins again.
        follower.ask(.point(x: 0.5, y: 0.5), at: time)
        time = show(&follower, [0, 25], from: time, pictures: 1)
        #expect(follower.target == 3)
        time = show(&follower, [25], from: time, pictures: 8)
        #expect(follower.target == 2)
        follower.stop()
        #expect(follower.tracker.people.isEmpty)
    }

    @Test("a lost person's motion is continued for 4 s")
    func coast() throws {
        var follower = PersonFollower()
        follower.ask(.on, at: 0)
        var time = 0.0
        while time < 7.95 {
            time += 0.1
            let place = Vector3(4, 0.5 * time, 0)
            let person = Sighting(yaw: EarthDirection(place).yaw, aimPitch: 0, distance: place.norm)
            _ = follower.update(
                time < 2.05 ? [person] : [], axis: axis, point: { _, _ in axis },
                exposed: time, now: time)
            let expected = EarthDirection(Vector3(4, 0.5 * min(time, 6), 0)).yaw
            guard time > 1 else { continue }
            let next = follower.aim(at: time, axis: axis, view)
            let aim = try #require(next)
            #expect(abs(aim.yaw - expected) < 0.05, "\(time)")
            if time > 6.05 { #expect(aim.yawRate == 0) }
        }
    }

    @Test("the time for loading the models does not count as time without a person")
    func loading() {
        var follower = PersonFollower()
        follower.patience = 3
        follower.ask(.on, at: 0)
        follower.extendSearch(at: 5)
        let time = show(&follower, [], from: 5, pictures: 25)
        #expect(follower.state == .waiting)
        _ = show(&follower, [], from: time, pictures: 10)
        #expect(follower.state == .off)
    }

    @Test("without a person the camera holds its direction until the timeout")
    func patience() throws {
        var follower = PersonFollower()
        follower.patience = 3
        follower.ask(.on, at: 0)
        var time = show(&follower, [], from: 0)
        #expect(heading(&follower, time) == 0 && follower.state == .waiting)
        time = show(&follower, [8], from: time)
        #expect(abs(try #require(heading(&follower, time)) - 8) < 0.5)
        time = show(&follower, [], from: time, pictures: 20)
        guard case .lost = follower.state else {
            Issue.record("\(follower.state)")
            return
        }
        #expect(abs(try #require(heading(&follower, time)) - 8) < 2)
        time = show(&follower, [], from: time, pictures: 20)
        #expect(follower.state == .off)
        #expect(heading(&follower, time) == nil)
    }

    @Test("a user's new choice restarts the time without a person", arguments: [false, true])
    func choiceAgain(isLost: Bool) {
        var follower = PersonFollower()
        follower.patience = 3
        follower.ask(.on, at: 0)
        var time = show(&follower, isLost ? [8] : [], from: 0)
        time = show(&follower, [], from: time, pictures: 20)
        #expect(isLost ? follower.target == 1 : follower.state == .waiting)
        follower.ask(.on, at: time)
        time = show(&follower, [], from: time, pictures: 20)
        #expect(follower.state != .off)
        _ = show(&follower, [], from: time, pictures: 15)
        #expect(follower.state == .off)
    }

    @Test("the dead zone keeps the camera still while the person is within it")
    func deadZone() throws {
        var follower = PersonFollower()
        follower.framing.deadZone = 0.1
        follower.ask(.on, at: 0)
        var time = show(&follower, [0], from: 0)
        let before = try #require(heading(&follower, time))
        time = show(&follower, [3], from: time, pictures: 10)
        #expect(heading(&follower, time) == before)
        time = show(&follower, [15], from: time, pictures: 30)
        let after = try #require(heading(&follower, time))
        #expect(after > before + 6 && after < 14)
    }
}
