import Testing

@testable import GimbalCore

/// Tests with three axes that only the probes move.
@Suite("Inertia search of three axes")
struct InertiaSearchTests {
    /// Runs the search until `isOver` returns true; at most 3 s.
    static func search(
        _ search: InertiaSearch, plant: AxisVector, until isOver: (InertiaSearch) -> Bool
    ) -> InertiaSearch {
        var (search, ticks) = (search, 0)
        search.begin(torqueLimit: AxisVector(repeating: 0.25), loopDelay: 0.0035)
        var roll = InertiaIdentifierTests.Axis(inertia: plant.roll)
        var pitch = InertiaIdentifierTests.Axis(inertia: plant.pitch)
        var yaw = InertiaIdentifierTests.Axis(inertia: plant.yaw)
        while ticks < 3000, !isOver(search) {
            let probe = search.probe
            _ = search.observe(
                moment: probe, rate: Vector3(roll.rate, pitch.rate, yaw.rate), dt: 1e-3)
            ticks += 1
            roll.step(probe.x, tenths: 10, at: Double(ticks) * 1e-3)
            pitch.step(probe.y, tenths: 10, at: Double(ticks) * 1e-3)
            yaw.step(probe.z, tenths: 10, at: Double(ticks) * 1e-3)
        }
        return search
    }

    @Test("axes that do not respond get the measured axis's ratio of true to configured inertia")
    func guess() {
        let start = AxisVector(yaw: 5e-3, roll: 2.5e-3, pitch: 2.5e-3)
        // The joints of yaw and pitch are stuck: their inertia is far too large to be measured.
        let search = Self.search(
            InertiaSearch(start: start, isKnown: false),
            plant: AxisVector(yaw: 1e6, roll: 1.5e-4, pitch: 1e6)
        ) { $0.values.roll < 2e-4 }
        #expect(abs(search.values.roll / 1.5e-4 - 1) < 0.1)
        #expect(abs(search.values.yaw / search.values.roll - 2) < 1e-9)
        #expect(abs(search.values.pitch / search.values.roll - 1) < 1e-9)
        // The guess is uncertain, so the gains stay low, and the search continues.
        #expect(search.caution.roll == 1 && search.caution.yaw < 0.4)
        #expect(!search.isReady && search.isProbing)
    }

    @Test("axes that are measured later keep their own inertia")
    func measured() {
        let plant = AxisVector(yaw: 1e-2, roll: 2e-3, pitch: 6e-4)
        let search = Self.search(
            InertiaSearch(start: AxisVector(repeating: 2.5e-3), isKnown: false), plant: plant
        ) { !$0.isProbing }
        for axis in GimbalAxis.allCases {
            #expect(abs(search.values[axis] / plant[axis] - 1) < 0.1)
        }
    }

    @Test("a change of the configured delay changes a measured delay only relative to it")
    func delay() {
        let plant = AxisVector(repeating: 2e-3)
        var search = Self.search(
            InertiaSearch(start: AxisVector(repeating: 2.5e-3), isKnown: false), plant: plant
        ) { !$0.isProbing }
        let extra = search.extraDelay
        search.changeAssumedDelay(by: -0.002)
        // The margins cover 0.3 ms of a difference.
        #expect(abs(search.extraDelay - (extra + 0.002)) < 0.00031)
        // Without a measurement, the configured delay is the only known delay.
        var known = InertiaSearch(start: plant, isKnown: true)
        known.changeAssumedDelay(by: 0.002)
        #expect(known.extraDelay == 0)
    }

    @Test("a configured inertia is not replaced by that of another axis")
    func configured() {
        let start = AxisVector(repeating: 2.5e-3)
        let search = Self.search(
            InertiaSearch(start: start, isKnown: true, isChecked: true),
            plant: AxisVector(yaw: 1e6, roll: 1.5e-4, pitch: 1e6)
        ) { !$0.stale.isEmpty }
        #expect(search.stale == AxisSet(.roll))
        #expect(search.values.yaw == 2.5e-3 && search.values.pitch == 2.5e-3)
    }

    @Test("a reversed response after an oscillation does not remain until airframed ends")
    func reversedResponse() {
        // In a loop below 200 Hz, a configured inertia is probed only after an oscillation.
        var search = InertiaSearch(start: AxisVector(repeating: 1.5e-4), isKnown: true)
        search.increaseUncertainty(AxisSet(.roll))
        search = Self.search(
            search, plant: AxisVector(yaw: 1.5e-4, roll: -1.5e-4, pitch: 1.5e-4)
        ) { !$0.reversed.isEmpty }
        #expect(search.reversed == AxisSet(.roll))
        // The next start of the motors.
        search.begin(torqueLimit: AxisVector(repeating: 0.25), loopDelay: 0.0035)
        #expect(search.reversed.isEmpty)
        #expect(search.sigmas.yaw == 0 && search.values.yaw == 1.5e-4)
        #expect(search.isProbing, "the search on the axis that oscillated starts again")
    }

    @Test(
        "the probe moves every axis, also with the longest configured delay",
        arguments: [0.039, 0.05])
    func longDelay(_ loopDelay: Double) {
        var search = InertiaSearch(start: AxisVector(repeating: 2.5e-3), isKnown: false)
        search.begin(torqueLimit: AxisVector(repeating: 0.25), loopDelay: loopDelay)
        var largest = Vector3.zero
        for _ in 0..<2000 {
            let probe = search.probe
            largest = Vector3(
                max(largest.x, probe.x), max(largest.y, probe.y), max(largest.z, probe.z))
            _ = search.observe(moment: probe, rate: .zero, dt: 1e-3)
        }
        #expect(largest.x > 1e-3 && largest.y > 1e-3 && largest.z > 1e-3, "\(largest)")
    }
}
