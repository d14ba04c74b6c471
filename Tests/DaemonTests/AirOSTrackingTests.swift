import GimbalCore
import Links
import Policy
import Port
import Realtime
import TestSupport
import Testing
import Wire

@testable import Daemon

/// Simulated conversations: an app that follows a person, and a simulated gimbal.
@Suite("AirOS: person tracking") struct AirOSTrackingTests {
    private func near(_ a: Double, _ b: Double, _ tolerance: Double) -> Bool {
        abs(a - b) <= tolerance
    }

    private func withGimbal(
        _ overrides: [String] = [], _ body: (BluetoothBench) throws -> Void
    ) throws {
        try withTemporaryDirectory { directory in
            let bench = try BluetoothBench(directory, overrides)
            try bench.start()
            try body(bench)
        }
    }

    /// Writes of the app when its tracking switch is turned on.
    private func turnOn(_ bench: BluetoothBench, by central: Central = BluetoothBench.iPhone) throws
    {
        try bench.write(.mode, [4], by: central)
        try bench.say("track_pan:0.00", by: central)
        try bench.say("track_tilt:0.00", by: central)
    }

    /// Sends one pan and one tilt command for each image of the phone's camera.
    private func follow(
        _ bench: BluetoothBench, pan: String, tilt: String, pictures: Int
    ) throws {
        for _ in 0..<pictures {
            try bench.say("track_pan:\(pan)")
            try bench.say("track_tilt:\(tilt)")
            bench.run(1.0 / 30)
        }
    }

    @Test("the camera follows a person to the right and below, and the reported angles increase")
    func conversation() throws {
        try withGimbal { bench throws in
            try turnOn(bench)
            #expect(try bench.read(.mode) == [4])
            #expect(try bench.read(.status) == [5])
            // An uncalibrated accelerometer tilts the horizon by about a degree, so the test
            // compares only differences of angles.
            let start = bench.camera
            let seen = try bench.angle(.pitch)
            bench.run(0.2)
            #expect(near(bench.camera.yaw, start.yaw, 0.05))
            #expect(near(bench.camera.pitch, start.pitch, 0.05))
            try follow(bench, pan: "20.00", tilt: "10.00", pictures: 30)
            try bench.say("track_pan:0.00")
            try bench.say("track_tilt:0.00")
            bench.run(0.4)
            let way = bench.camera - start
            #expect(near(way.yaw, 20.4, 0.3), "\(way)")
            #expect(near(way.pitch, -10.2, 0.3), "\(way)")
            #expect(near(try bench.angle(.yaw), 20.4, 0.3))
            #expect(near(try bench.angle(.pitch) - seen, 10.2, 0.3))
            #expect(near(try bench.angle(.roll), 0, 0.3))
            try bench.write(.mode, [1])
            #expect(try bench.read(.status) == [2])
        }
    }

    @Test("airos.sign reverses an axis in reported angles and in commands")
    func sign() throws {
        try withGimbal(["airos.sign=[-1, 1, -1]"]) { bench throws in
            let start = bench.camera
            try turnOn(bench)
            try follow(bench, pan: "20.00", tilt: "10.00", pictures: 15)
            let way = bench.camera - start
            #expect(way.pitch > 3 && way.yaw < -6, "\(way)")
            #expect(try bench.angle(.pitch) > 3)
            #expect(try bench.angle(.yaw) > 6)
        }
    }

    @Test("one second without a rate after the selection of tracking locks the camera")
    func silenceAtEntry() throws {
        try withGimbal { bench throws in
            try bench.write(.mode, [4])
            let seconds = bench.run(until: { bench.door.mode == .locked }, atMost: 2)
            #expect(near(try #require(seconds), 1, 0.01))
            #expect(try bench.read(.mode) == [1])
            #expect(try bench.read(.status) == [2])
        }
    }

    @Test(
        "when the person is lost, the camera stops after one second, even if the app does not send zero"
    )
    func silence() throws {
        try withGimbal { bench throws in
            try turnOn(bench)
            try follow(bench, pan: "30.00", tilt: "0.00", pictures: 6)
            try bench.say("track_pan:30.00")
            let seconds = bench.run(until: { bench.door.mode == .locked }, atMost: 2)
            #expect(near(try #require(seconds), 1, 0.01))
            bench.run(0.3)
            let heading = bench.camera.yaw
            // The app continues to send, and does not select mode 4 again.
            try follow(bench, pan: "30.00", tilt: "30.00", pictures: 20)
            #expect(near(bench.camera.yaw, heading, 0.05))
            #expect(try bench.read(.mode) == [1])
        }
    }

    @Test(
        "rates outside mode 4 are accepted, but do not move the camera and do not take control",
        arguments: 0...3)
    func otherModes(mode: UInt8) throws {
        try withGimbal { bench throws in
            try bench.write(.mode, [mode])
            bench.run(0.5)
            bench.commander.disconnected(CommandSource(BluetoothBench.iPhone), now: bench.now)
            let before = bench.snapshot.pointing.angles
            let camera = bench.camera
            try follow(bench, pan: "45.00", tilt: "-45.00", pictures: 30)
            if mode != 0 {
                #expect(near(bench.camera.yaw, camera.yaw, 0.05))
                #expect(near(bench.camera.pitch, camera.pitch, 0.05))
                let moved = bench.snapshot.pointing.angles - before
                #expect(near(moved.yaw, 0, 1e-3) && near(moved.pitch, 0, 1e-3))
            } else {
                #expect(!bench.snapshot.output.enabled)
            }
            #expect(bench.door.holder == nil)
            #expect(bench.log.components("which ignores them") == 1)
        }
    }

    @Test("rates are limited to 45 °/s or to the value of tracking.max_rate_dps")
    func clamp() throws {
        for (overrides, limit) in [([], 45.0), (["tracking.max_rate_dps=20"], 20.0)] {
            try withGimbal(overrides) { bench throws in
                try turnOn(bench)
                try bench.say("track_pan:1e6")
                bench.run(0.5)
                #expect(near(bench.snapshot.pointing.rates.yaw * 180 / .pi, limit, 0.01))
                #expect(bench.camera.yaw > 0.4 * limit && bench.camera.yaw < 0.51 * limit)
            }
        }
    }

    @Test(
        "when the phone disconnects, the camera stops at once, not after the dead-man time"
    )
    func disconnection() throws {
        try withGimbal { bench throws in
            try turnOn(bench)
            try follow(bench, pan: "45.00", tilt: "0.00", pictures: 10)
            let heading = bench.camera.yaw
            bench.airOS.disconnected(BluetoothBench.iPhone, now: bench.now)
            bench.run(0.1)
            #expect(near(bench.snapshot.pointing.rates.yaw, 0, 1e-6))
            bench.run(0.5)
            #expect(bench.camera.yaw - heading < 2.5, "\(bench.camera.yaw - heading)")
            #expect(bench.door.holder == nil)
            #expect(try bench.read(.mode) == [1])
        }
    }

    @Test("a second phone is refused while the first is in control, and accepted afterwards")
    func competition() throws {
        try withGimbal { bench throws in
            try turnOn(bench)
            let iPad = BluetoothBench.iPad
            #expect(throws: ATTError.notAuthorized) { try bench.write(.mode, [2], by: iPad) }
            #expect(throws: ATTError.notAuthorized) { try bench.say("track_pan:45.00", by: iPad) }
            #expect(throws: ATTError.notAuthorized) { try bench.say("calibrate", by: iPad) }
            #expect(throws: ATTError.notAuthorized) { try bench.say("defaults", by: iPad) }
            #expect(bench.log.contains("airos client 1 is in control"))
            try follow(bench, pan: "20.00", tilt: "0.00", pictures: 15)
            #expect(near(bench.camera.yaw, 10, 1))
            // The disconnection of a phone without control does not stop the camera.
            bench.airOS.disconnected(iPad, now: bench.now)
            #expect(bench.door.holder == CommandSource(BluetoothBench.iPhone))
            #expect(bench.door.mode == .tracking)
            bench.airOS.disconnected(BluetoothBench.iPhone, now: bench.now)
            bench.run(0.2)
            try turnOn(bench, by: iPad)
            #expect(bench.door.holder == CommandSource(iPad))
        }
    }

    @Test("a local user takes control from the app, and the app's requests are refused")
    func laptop() throws {
        try withGimbal { bench throws in
            try turnOn(bench)
            try bench.commander.request(.mode(.locked), from: BluetoothBench.laptop, now: bench.now)
            bench.run(0.1)
            try bench.say("track_pan:20.00")
            #expect(throws: ATTError.notAuthorized) { try bench.write(.mode, [4]) }
            bench.run(0.5)
            #expect(near(bench.camera.yaw, 0, 0.1))
        }
    }

    @Test("notifications follow the camera at the configured rate", arguments: [10, 50])
    func notifications(hz: Int) throws {
        try withGimbal(["airos.notify_hz=\(hz)"]) { bench throws in
            let yaw = GATTUUID(AirOSCharacteristic.yaw.rawValue)
            bench.airOS.subscription(yaw, isOn: true, now: bench.now)
            try turnOn(bench)
            try follow(bench, pan: "45.00", tilt: "0.00", pictures: 60)
            let count = bench.phone.heard[yaw]?.count ?? 0
            // An image takes 17 ticks, and the first notification is immediate.
            #expect(abs(count - Int(2.04 * Double(hz)) - 1) <= 1, "\(count)")
            #expect(bench.phone.heard.count == 1)
        }
    }

    @Test("100,000 random writes of a phone without control cause no crash and no motion")
    func randomWrites() throws {
        try withGimbal { bench throws in
            try bench.write(.mode, [1])
            let camera = bench.camera
            var farthest = 0.0
            var accepted = 0
            var generator = Seeded(state: 42)
            let words = [
                "calibrate", "save", "defaults", "reset_yaw", "reset_pid", "yaw_status",
                "force_decay", "track_pan:", "track_tilt:", "TRACK_PAN:45.00", "track_tilt:-9e9",
            ]
            for index in 0..<100_000 {
                let characteristic = AirOSCharacteristic.allCases[
                    Int.random(in: 0..<10, using: &generator)]
                var value = (0..<Int.random(in: 0...20, using: &generator)).map { _ in
                    UInt8.random(in: 0...255, using: &generator)
                }
                if characteristic == .control, index % 3 == 0 {
                    value = Array(words[index / 3 % words.count].utf8) + value.prefix(index % 5)
                }
                if (try? bench.write(characteristic, value, by: BluetoothBench.iPad)) != nil {
                    accepted += 1
                }
                guard index % 50 == 0 else { continue }
                // The phone in control keeps sending.
                if index % 1000 == 0 { try bench.write(.mode, [1]) }
                bench.run(0.002)
                let moved = bench.camera - camera
                farthest = max(farthest, abs(moved.yaw), abs(moved.roll), abs(moved.pitch))
            }
            #expect(farthest < 0.1, "\(farthest)°")
            #expect(accepted > 0 && accepted < 10_000, "\(accepted)")
            #expect(bench.door.mode == .locked)
            #expect(bench.door.holder == CommandSource(BluetoothBench.iPhone))
            #expect(bench.snapshot.output.enabled)
            #expect(bench.snapshot.attitude.isFinite)
        }
    }
}

/// Reproducible random number generator (SplitMix64, Steele et al. 2014).
private struct Seeded: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

extension String {
    /// Number of lines that contain this text.
    fileprivate func components(_ text: String) -> Int {
        split(separator: "\n").count { $0.contains(text) }
    }
}
