import Configuration
import GimbalCore
import SystemPackage
import TestSupport
import Testing

@testable import Daemon

@Suite("Signals of the light and the buzzer") struct SignalTests {
    private func snapshot(
        _ conditions: Conditions = .none, isOn: Bool = true, rate: Double = 0
    ) -> StabilizerSnapshot {
        var snapshot = StabilizerSnapshot()
        snapshot.samples.accepted = 1
        snapshot.conditions = conditions
        snapshot.output.enabled = isOn
        snapshot.pointing.rates.yaw = rate
        return snapshot
    }

    @Test("the signal follows from the conditions that keep the motors off")
    func states() {
        #expect(SignalCode(nil) == .starting)
        #expect(SignalCode(snapshot()) == .ready)
        #expect(SignalCode(snapshot(rate: 0.5)) == .moving)
        #expect(SignalCode(snapshot(.inactiveMode, isOn: false)) == .resting)
        #expect(SignalCode(snapshot(.estimateNotConverged, isOn: false)) == .starting)
        #expect(SignalCode(snapshot(.emergencyStop | .inactiveMode, isOn: false)) == .fault(1))
        #expect(SignalCode(snapshot(.imuStale, isOn: false)) == .fault(2))
        #expect(SignalCode(snapshot(.busError | .imuStale, isOn: false)) == .fault(2))
        for drive: Conditions in [.driveOverload, .driveOverheated, .motorPortLost] {
            #expect(SignalCode(snapshot(drive, isOn: false)) == .fault(3))
        }
        #expect(SignalCode(snapshot(.controlFault, isOn: false)) == .fault(4))
        #expect(SignalCode(snapshot(.jointsOutOfReach, isOn: false)) == .fault(5))
        #expect(SignalCode(snapshot(.supplyEmpty, isOn: false)) == .fault(6))
        #expect(SignalCode(snapshot(.controlFault | .supplyEmpty, isOn: false)) == .fault(4))
        #expect(SignalCode(snapshot(.gravityMismatch, isOn: false)) == .fault(7))
    }

    @Test("a low battery is shown while the motors are on, and the buzzer warns every minute")
    func battery() {
        for rate in [0, 0.5] {
            #expect(SignalCode(snapshot(rate: rate), isBatteryLow: true) == .low)
            #expect(SignalCode(snapshot(.supplyLow, rate: rate)) == .low)
        }
        #expect(SignalCode(snapshot(.inactiveMode, isOn: false), isBatteryLow: true) == .resting)
        #expect(SignalCode(snapshot(.busError, isOn: false), isBatteryLow: true) == .fault(3))
        let times = stride(from: 0.0, to: 120, by: 0.05).map { $0 }
        let tones = [false] + times.map { SignalCode.low.isSounding(at: $0) }
        #expect(zip(tones, tones.dropFirst()).count { !$0 && $1 } == 2)
        let lit = times.map { SignalCode.low.isLit(at: $0) }
        #expect(zip(lit, lit.dropFirst()).count { $0 && !$1 } == 80 - 1)
        #expect(lit.count(where: \.self) > 2 * lit.count / 3, "the light is on most of the time")
    }

    @Test("a fault is shown as its number of flashes and a pause, repeatedly")
    func flashes() {
        let period = 0.4 * 3 + 1.5
        let lit = stride(from: 0.0, to: 2 * period, by: 0.01).map {
            SignalCode.fault(3).isLit(at: $0)
        }
        let begins = zip(lit, lit.dropFirst()).count { !$0 && $1 }
        #expect(begins == 5 && lit.first == true)
        #expect(!SignalCode.fault(3).isLit(at: period - 0.1))
    }

    @Test(
        "the buzzer sounds once per state: as many times as the light flashes, and briefly when ready"
    )
    func sounds() {
        let times = stride(from: 0.0, to: 20, by: 0.01)
        let fault = times.map { SignalCode.fault(2).isSounding(at: $0) }
        #expect(zip(fault, fault.dropFirst()).count { $0 && !$1 } == 2)
        #expect(times.count { SignalCode.ready.isSounding(at: $0) } < 20)
        #expect(!times.contains { SignalCode.moving.isSounding(at: $0) })
    }

    private func text(_ path: FilePath) throws -> String {
        String(decoding: try bytes(of: path), as: UTF8.self)
    }

    @Test("the LED is switched on with its highest brightness, and off at the end")
    func device() throws {
        try withTemporaryDirectory { directory throws in
            let led = directory.appending("green")
            try makeDirectory(led)
            for (file, text) in [("brightness", "0"), ("max_brightness", "255\n"), ("trigger", "")]
            {
                try write(text, to: led.appending(file))
            }
            var writer = SignalWriter(directory: directory, log: .silent)
            var settings = Settings().signals
            settings.led = "green"
            let start = Instant(nanoseconds: 1_000_000_000)
            writer.show(.ready, settings, now: start)
            #expect(try text(led.appending("brightness")).hasPrefix("255"))
            #expect(try text(led.appending("trigger")) == "none")
            writer.end()
            #expect(try text(led.appending("brightness")).hasPrefix("0"))
        }
    }

    @Test(
        "the tone of the ready gimbal sounds once, not after each motion, and again after a fault")
    func motions() throws {
        try withTemporaryDirectory { directory throws in
            let beeper = directory.appending("beeper")
            try makeDirectory(beeper)
            for file in ["brightness", "max_brightness", "trigger"] {
                try write(file == "max_brightness" ? "1" : "0", to: beeper.appending(file))
            }
            var writer = SignalWriter(directory: directory, log: .silent)
            var settings = Settings().signals
            settings.buzzer = "beeper"
            var step = 0
            /// Shows these states for 0.5 s each, and counts the tones.
            func tones(_ codes: SignalCode...) throws -> Int {
                var count = 0
                var wasOn = false
                for code in codes {
                    for _ in 0..<10 {
                        writer.show(code, settings, now: Instant(seconds: 0.05 * Double(step)))
                        step += 1
                        let isOn = try text(beeper.appending("brightness")).hasPrefix("1")
                        if isOn, !wasOn { count += 1 }
                        wasOn = isOn
                    }
                }
                return count
            }
            #expect(try tones(.starting, .moving, .ready) == 1)
            #expect(try tones(.moving, .ready, .moving, .ready) == 0)
            #expect(try tones(.fault(2), .fault(2)) == 2)
            #expect(try tones(.moving, .ready, .moving, .ready) == 1)
        }
    }

    @Test("an LED that appears later is used within a second")
    func lateDevice() throws {
        try withTemporaryDirectory { directory throws in
            var writer = SignalWriter(directory: directory, log: .silent)
            var settings = Settings().signals
            settings.led = "green"
            func show(at seconds: Double) {
                writer.show(.ready, settings, now: Instant(seconds: seconds))
            }
            for step in 0..<20 { show(at: Double(step) * 0.2) }
            let led = directory.appending("green")
            try makeDirectory(led)
            for file in ["brightness", "max_brightness", "trigger"] {
                try write(file == "trigger" ? "" : "7", to: led.appending(file))
            }
            show(at: 4.81)
            #expect(try text(led.appending("brightness")).hasPrefix("7"))
            #expect(try text(led.appending("trigger")) == "none")
        }
    }
}
