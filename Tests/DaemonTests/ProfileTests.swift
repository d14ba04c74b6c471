import Configuration
import GimbalCore
import Policy
import Simulation
import TestSupport
import Testing
import Wire

@testable import Daemon

@Suite("Profiles of settings") struct ProfileTests {
    @Test(
        "a profile is a baseline: all its values take effect at once, and `next` cycles through the profiles"
    )
    func next() throws {
        try withDaemon([]) { daemon in
            for (name, rate) in [("calm", 30), ("quick", 90)] {
                _ = try daemon.ask(
                    "set", #"{"key":"controls.max_rate_dps","value":[\#(rate),45,60]}"#)
                _ = try daemon.ask(
                    "set",
                    #"{"key":"follow.preset","value":"\#(name == "calm" ? "slow" : "sport")"}"#)
                _ = try daemon.ask("baseline", #"{"action":"store","name":"\#(name)"}"#)
            }
            let seen = try (0..<3).map { _ in
                let report = try daemon.ask("baseline", #"{"action":"next"}"#)
                let preset = try daemon.ask("get", #"{"keys":["follow.preset"]}"#).array?.first
                return "\(report["active"]?.string ?? "") \(preset?["value"]?.string ?? "")"
            }
            #expect(seen == ["calm slow", "quick sport", "calm slow"])
            // The answer fits `airframectl profile use` and `airframectl baseline restore`.
            let used = try daemon.ask("baseline", #"{"action":"restore","name":"calm"}"#)
            #expect(used["sentence"]?.string == "The tuning calm is active, but not saved.")
            #expect(try daemon.ask("baseline")["active"]?.string == "calm")
        }
    }

    @Test(
        "a change of the gains moves the camera by less than 0.05°, compared with a simulation without the change"
    )
    func withoutJump() {
        var settings = Settings()
        let calm = settings.stabilizerParameters
        settings.control.attitudeGain = settings.control.attitudeGain * 0.7
        settings.control.rateGain = settings.control.rateGain * 0.7
        settings.control.rateIntegralGain = settings.control.rateIntegralGain * 0.5
        settings.follow.preset = .sport
        let quick = settings.stabilizerParameters
        var loop = SimulatedLoop(BaseMotion(.handheld, seed: 3))
        loop.stabilizer.apply(calm)
        loop.run(seconds: 8)
        var twin = loop
        var largest = 0.0
        for round in 0..<8 {
            loop.stabilizer.apply(round % 2 == 0 ? quick : calm)
            for _ in 0..<500 {
                loop.step()
                twin.step()
                let apart = loop.gimbal.attitude.conjugate * twin.gimbal.attitude
                largest = max(largest, apart.rotationVector.norm)
            }
        }
        #expect(Angle(radians: largest).degrees < 0.05, "\(Angle(radians: largest).degrees)°")
    }
}
