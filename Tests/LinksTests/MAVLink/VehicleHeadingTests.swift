import GimbalCore
import Port
import Synchronization
import Testing
import Wire

@testable import Links

@Suite("Headings of the vehicle and of north") struct VehicleHeadingTests {
    private static let degree = Double.pi / 180
    private static let station = MAVLinkAddress(system: 255, component: 190)

    /// A camera and a handle with these headings in the loop's frame, degrees.
    private static func snapshot(camera: Double, handle: Double) -> StabilizerSnapshot {
        var snapshot = StabilizerSnapshot()
        snapshot.mode = .locked
        snapshot.samples.accepted = 1
        snapshot.attitude = .aboutZ(camera * degree)
        snapshot.joints.yaw = (camera - handle) * degree
        snapshot.jointSource = .encoders
        snapshot.showsJoints = true
        snapshot.output.enabled = true
        return snapshot
    }

    private static func state(heading: Double, rate: Double = .nan) -> AutopilotStateForGimbalDevice
    {
        var state = AutopilotStateForGimbalDevice()
        let q = Quaternion.aboutZ(heading * degree)
        state.q = [q.w, q.x, q.y, q.z].map(Float.init)
        state.feedForwardYawRate = Float(rate * degree)
        state.yawRate = .nan
        return state
    }

    @Test(
        "the handle's heading is the camera's heading minus the joint angle, and unknown without encoders"
    )
    func heading() throws {
        var snapshot = Self.snapshot(camera: 50, handle: 20)
        let heading = try #require(VehicleHeading.heading(in: snapshot))
        #expect(abs(heading - 20 * Self.degree) < 1e-9)
        snapshot.jointSource = .assumed
        #expect(VehicleHeading.heading(in: snapshot) == nil)
    }

    @Test("north is set by the first message, then follows over seconds, even through ±180°")
    func north() throws {
        var vehicle = VehicleHeading()
        let snapshot = Self.snapshot(camera: 0, handle: 20)
        vehicle.learn(Self.state(heading: -170), snapshot, now: at(0))
        #expect(abs(try #require(vehicle.north) / Self.degree - 170) < 1e-4)
        for step in 1...200 {
            vehicle.learn(Self.state(heading: -150), snapshot, now: at(Double(step) / 10))
        }
        let north = try #require(vehicle.north)
        #expect(abs(north.remainder(dividingBy: 2 * .pi) / Self.degree + 170) < 0.1)
    }

    @Test("the turn rate is unknown in a message without it, as from PX4")
    func missingRate() {
        var vehicle = VehicleHeading()
        let snapshot = Self.snapshot(camera: 0, handle: 20)
        var state = Self.state(heading: 10, rate: 4)
        state.yawRate = 0.5
        vehicle.learn(state, snapshot, now: at(0))
        #expect(vehicle.rate == 0.5)
        state.yawRate = 0
        vehicle.learn(state, snapshot, now: at(0.1))
        #expect(vehicle.rate == nil)
        #expect(abs(vehicle.feedForward - 4 * Self.degree) < 1e-6)
    }

    @Test("an invalid rotation is ignored")
    func rubbish() {
        var vehicle = VehicleHeading()
        var state = Self.state(heading: 0)
        for q in [[0, 0, 0, 0], [Float.nan, 0, 0, 0], [2, 0, 0, 0]] as [[Float]] {
            state.q = q
            vehicle.learn(state, Self.snapshot(camera: 0, handle: 0), now: at(0))
        }
        #expect(vehicle.north == nil)
    }

    /// A director whose station is in control.
    private func director(_ gimbal: FakePort) throws -> GimbalDirector {
        gimbal.memory.withLock { $0.snapshot = Self.snapshot(camera: 0, handle: 0) }
        var director = GimbalDirector(port: gimbal, link: .mavlink)
        try director.configure(
            [-2, -2, -1, -1], from: Self.station, isHeard: { _ in true }, now: at(0))
        return director
    }

    /// A director whose station has requested a yaw angle relative to the vehicle, degrees.
    private func director(_ gimbal: FakePort, following yaw: Double) throws -> GimbalDirector {
        var director = try director(gimbal)
        let wanted = GimbalRequest(
            flags: [.yawInVehicleFrame],
            angles: AxisVector(yaw: yaw * Self.degree, roll: .nan, pitch: .nan))
        try director.steer(wanted, from: Self.station, now: at(0))
        return director
    }

    @Test("without joint angles, a place is refused because of the missing sensor")
    func unknownJoints() throws {
        let gimbal = FakePort()
        var director = try director(gimbal)
        func look() -> Refusal? {
            do throws(Refusal) {
                try director.look(at: .system(2), from: Self.station, now: at(0))
                return nil
            } catch {
                return error
            }
        }
        #expect(look()?.code == .noValue)
        gimbal.memory.withLock { $0.snapshot.showsJoints = false }
        #expect(look()?.code == .sensorMissing)
    }

    @Test(
        "a yaw relative to north is corrected for the drift of the loop's heading, at the requested rate and also after the secondary station has left"
    )
    func drift() throws {
        let gimbal = FakePort()
        var director = try director(gimbal)
        let other = MAVLinkAddress(system: 250, component: 190)
        try director.configure(
            [-1, -1, 250, 190], from: Self.station, isHeard: { _ in true }, now: at(0))
        #expect(director.secondary == other)
        director.vehicle.learn(
            Self.state(heading: 90), Self.snapshot(camera: 0, handle: 0), now: at(0))
        let wanted = GimbalRequest(
            flags: [.yawLock, .yawInEarthFrame],
            angles: AxisVector(yaw: 100 * Self.degree, roll: .nan, pitch: 0),
            rates: AxisVector(yaw: 5 * Self.degree, roll: .nan, pitch: .nan))
        try director.steer(wanted, from: Self.station, now: at(0))
        director.holdHeading(now: at(0.1))
        _ = gimbal.takeRequests()
        director.holdHeading(now: at(0.2))
        #expect(gimbal.takeRequests().isEmpty)
        // The loop's heading has drifted by 5°, so the same vehicle has another heading in the
        // loop's frame.
        for step in 1...300 {
            director.vehicle.learn(
                Self.state(heading: 90), Self.snapshot(camera: 10, handle: 5),
                now: at(Double(step) / 10))
        }
        let wasSecondary = director.left(other, now: at(30))
        #expect(wasSecondary)
        director.holdHeading(now: at(31))
        guard case .camera(.point(let point)) = gimbal.takeRequests().last?.effect else {
            Issue.record("nothing was asked for")
            return
        }
        #expect(abs(point.target.yaw / Self.degree - 15) < 0.1)
        #expect(abs(point.rate / Self.degree - 5) < 1e-6)
    }

    @Test("a request with a value outside its range changes neither the mode nor the held heading")
    func outOfRange() throws {
        let gimbal = FakePort()
        var director = try director(gimbal)
        director.vehicle.learn(
            Self.state(heading: 90), Self.snapshot(camera: 0, handle: 0), now: at(0))
        let held = GimbalRequest(
            flags: [.yawLock, .yawInEarthFrame],
            angles: AxisVector(yaw: 100 * Self.degree, roll: .nan, pitch: 0))
        try director.steer(held, from: Self.station, now: at(0))
        director.holdHeading(now: at(0.1))
        _ = gimbal.takeRequests()
        let high = AxisVector(yaw: 0, roll: .nan, pitch: 200 * Self.degree)
        let fast = AxisVector(yaw: 900 * Self.degree, roll: .nan, pitch: 0)
        let refused = [
            GimbalRequest(flags: [.yawInVehicleFrame], angles: high),
            GimbalRequest(flags: [.yawInVehicleFrame], rates: fast),
        ]
        for request in refused {
            #expect(throws: Refusal.self) {
                try director.steer(request, from: Self.station, now: at(0.2))
            }
        }
        #expect(gimbal.takeRequests().isEmpty && gimbal.control.mode == .locked)
        let yaw = try heldYaw(&director, gimbal)
        #expect(abs(yaw - 15) < 0.1)
    }

    /// Yaw angle that holds the heading after 30 s in which the loop's frame has turned by 5°,
    /// degrees.
    private func heldYaw(_ director: inout GimbalDirector, _ gimbal: FakePort) throws -> Double {
        for step in 1...300 {
            director.vehicle.learn(
                Self.state(heading: 90), Self.snapshot(camera: 10, handle: 5),
                now: at(0.2 + Double(step) / 10))
        }
        director.holdHeading(now: at(31))
        var yaw: Double?
        if case .camera(.point(let point)) = gimbal.takeRequests().last?.effect {
            yaw = point.target.yaw / Self.degree
        }
        return try #require(yaw, "the heading is not held")
    }

    @Test("a locked yaw relative to the vehicle does not turn when north becomes known")
    func lateNorth() throws {
        let gimbal = FakePort()
        var director = try director(gimbal)
        let wanted = GimbalRequest(
            flags: [.yawLock, .yawInVehicleFrame], angles: AxisVector(yaw: 0, roll: .nan, pitch: 0))
        try director.steer(wanted, from: Self.station, now: at(0))
        director.holdHeading(now: at(0.1))
        _ = gimbal.takeRequests()
        director.vehicle.learn(
            Self.state(heading: 90), Self.snapshot(camera: 0, handle: 0), now: at(0.2))
        director.holdHeading(now: at(0.2))
        #expect(gimbal.takeRequests().isEmpty)
        // From now on, the camera keeps its heading relative to north.
        let yaw = try heldYaw(&director, gimbal)
        #expect(abs(yaw - 5) < 0.1)
    }

    @Test("a refused request does not end the pointing at a region")
    func refusedRequest() throws {
        let gimbal = FakePort()
        var director = try director(gimbal)
        var own = GlobalPosition()
        // 0.001° and 100 m.
        (own.longitude, own.altitude) = (10_000, 100_000)
        _ = director.region.note(own, from: 1, isOwn: true, now: at(0))
        director.vehicle.learn(
            Self.state(heading: 0), Self.snapshot(camera: 0, handle: 0), now: at(0))
        let place = RegionOfInterest.Place(latitude: 0.001, longitude: 0, altitude: 100)
        try director.look(at: .place(place), from: Self.station, now: at(0))
        let refused = [
            GimbalRequest(
                flags: [.yawInVehicleFrame, .yawInEarthFrame], angles: AxisVector(repeating: 0)),
            GimbalRequest(
                flags: [.yawLock], angles: AxisVector(yaw: .nan, roll: .nan, pitch: 0),
                rates: AxisVector(yaw: 0.1, roll: .nan, pitch: .nan)),
        ]
        for request in refused {
            #expect(throws: Refusal.self) {
                try director.steer(request, from: Self.station, now: at(0.1))
            }
            #expect(director.region.target == .place(place))
        }
        gimbal.memory.withLock { $0.refusal = Refusal(.busy, "busy") }
        for flags in [GimbalFlags.retract, [.yawLock]] {
            #expect(throws: Refusal.self) {
                try director.steer(
                    GimbalRequest(
                        flags: flags, angles: .unknown, rates: AxisVector(repeating: 0.1)),
                    from: Self.station, now: at(0.2))
            }
            #expect(director.region.target == .place(place))
        }
        gimbal.memory.withLock { $0.refusal = nil }
        try director.steer(GimbalRequest(flags: .retract), from: Self.station, now: at(0.3))
        #expect(director.region.target == nil)
    }

    @Test(
        "a repeated request for the rest pose or the neutral pose prolongs control",
        arguments: [GimbalFlags.retract, .neutral])
    func repeatedPose(flags: GimbalFlags) throws {
        let gimbal = FakePort()
        var director = try director(gimbal)
        for step in 0..<3 {
            _ = gimbal.takeRequests()
            try director.steer(
                GimbalRequest(flags: flags), from: Self.station, now: at(Double(step)))
            let mode = flags == .retract ? Mode.retract : .neutral
            let expected: [MotionRequest] = step == 0 ? [.mode(mode)] : [.take]
            #expect(gimbal.takeRequests() == expected)
        }
    }

    @Test(
        "with yaw relative to the vehicle, yaw is ahead by the announced turn rate times the configured lag"
    )
    func feedForward() throws {
        let gimbal = FakePort()
        var director = try director(gimbal, following: 10)
        director.vehicle.learn(
            Self.state(heading: 0, rate: 30), Self.snapshot(camera: 0, handle: 0), now: at(0.1))
        _ = gimbal.takeRequests()
        director.leadVehicle(now: at(0.1))
        guard case .camera(.lookAside(let yaw, _, let lead)) = gimbal.takeRequests().last?.effect
        else {
            Issue.record("nothing was asked for")
            return
        }
        // 30 °/s multiplied by the configured lag; the requested yaw does not change.
        #expect(yaw.isNaN && abs(lead / Self.degree - 12) < 0.1)
        director.vehicle.advance(now: at(3))
        director.leadVehicle(now: at(3))
        guard case .camera(.lookAside(_, _, let ahead)) = gimbal.takeRequests().last?.effect else {
            Issue.record("an autopilot that is silent still turns")
            return
        }
        #expect(ahead == 0)
    }

    @Test("after a restart of the motors, a turn of the vehicle does not change the mode")
    func restartedMotors() throws {
        let gimbal = FakePort()
        var director = try director(gimbal, following: 30)
        for mode in [Mode.inactive, .locked] {
            try gimbal.request(.mode(mode), from: CommandSource(Self.station), now: at(0.1))
        }
        director.vehicle.learn(
            Self.state(heading: 0, rate: 30), Self.snapshot(camera: 0, handle: 0), now: at(0.2))
        _ = gimbal.takeRequests()
        director.leadVehicle(now: at(0.2))
        #expect(gimbal.takeRequests().isEmpty)
        #expect(gimbal.control.mode == .locked)
    }

    @Test(
        "after a stop or a change of mode, the camera does not turn to an earlier heading",
        arguments: [Mode.inactive, .retract])
    func stoppedMotors(mode: Mode) throws {
        let gimbal = FakePort()
        var director = try director(gimbal)
        let wanted = GimbalRequest(
            flags: [.yawLock, .yawInVehicleFrame], angles: AxisVector(yaw: 1, roll: .nan, pitch: 0))
        try director.steer(wanted, from: Self.station, now: at(0))
        for (step, present) in [Mode.locked, mode, .locked].enumerated() {
            gimbal.memory.withLock { $0.control.mode = present }
            gimbal.memory.withLock { $0.snapshot.output.enabled = present == .locked }
            _ = gimbal.takeRequests()
            director.holdHeading(now: at(Double(step) + 1))
        }
        #expect(gimbal.takeRequests().isEmpty)
    }

    @Test("a rate in a request for a yaw relative to the vehicle limits the rate of this turn")
    func followRate() throws {
        let gimbal = FakePort()
        var director = try director(gimbal)
        try director.steer(
            GimbalRequest(
                flags: [.yawInVehicleFrame],
                angles: AxisVector(yaw: 10 * Self.degree, roll: .nan, pitch: .nan),
                rates: AxisVector(yaw: 5 * Self.degree, roll: .nan, pitch: .nan)),
            from: Self.station, now: at(0))
        guard case .camera(.lookAside(let yaw, let rate, _)) = gimbal.takeRequests().last?.effect
        else {
            Issue.record("nothing was asked for")
            return
        }
        #expect(abs(yaw / Self.degree - 10) < 1e-9 && abs(rate / Self.degree - 5) < 1e-9)
    }

    @Test(
        "a long sentence is sent in chunks of 50 bytes with one number, a short one without a number"
    )
    func chunks() {
        var announcer = FaultAnnouncer()
        let long = String(repeating: "abcde", count: 25)
        let chunks = announcer.sentence(long, severity: 4)
        #expect(chunks.map(\.text).joined() == long)
        #expect(chunks.map(\.chunk) == [0, 1, 2])
        #expect(Set(chunks.map(\.number)).count == 1 && chunks[0].number > 0)
        #expect(announcer.sentence("short", severity: 4).map(\.number) == [0])
        // An empty chunk marks the end of a text that fills its chunks.
        let full = announcer.sentence(String(repeating: "abcde", count: 20), severity: 4)
        #expect(full.map(\.text.count) == [50, 50, 0] && full.map(\.chunk) == [0, 1, 2])
        let whole = announcer.sentence(String(repeating: "abcde", count: 10), severity: 4)
        #expect(whole.map(\.text.count) == [50] && whole.map(\.number) == [0])
        #expect(announcer.sentence("", severity: 4).count == 1)
        #expect(announcer.messages(for: .imuStale, now: at(0)).isEmpty == false)
        #expect(announcer.messages(for: .imuStale, now: at(0.1)).isEmpty)
        #expect(announcer.messages(for: .none, now: at(0.2)).isEmpty)
        // The fault recurs quickly, and is announced at most once per second.
        #expect(announcer.messages(for: .imuStale, now: at(0.3)).isEmpty)
    }

    @Test(
        "a text keeps every character at the end of a chunk, and only its last chunk is shorter",
        arguments: ["°", "€", "𝜋"])
    func characters(character: String) {
        var announcer = FaultAnnouncer()
        for count in 30...38 {
            let word = String(repeating: "x", count: count) + character
            let last = String(repeating: character, count: 9)
            let text = "The limit is \(word) \(last), so it moves."
            let chunks = announcer.sentence(text, severity: 4)
            // Chunks can contain additional spaces between words.
            let words = chunks.map(\.text).joined().split(separator: " ")
            #expect(words.joined(separator: " ") == text)
            #expect(chunks.dropLast().allSatisfy { $0.text.utf8.count == 50 })
            #expect(chunks.count > 1 && (chunks.last?.text.utf8.count ?? 50) < 50)
        }
        // Without spaces, the additional ones precede a character.
        let word = "x" + String(repeating: character, count: 60)
        let joined = announcer.sentence(word, severity: 4).map(\.text).joined()
        #expect(joined.filter { $0 != " " } == word)
    }
}
