import CMathShim
import Testing

@testable import GimbalCore

@Suite("Search for the rotor of a motor without encoder")
struct RotorSearchTests {
    /// Motor with inertia, kg·m², sliding friction, N·m, rotor angle, electrical rad, and delay from
    /// the field to the measured rate, in periods; simulated in periods of `period` ms.
    private static func run(
        inertia: Double, friction: Double = 0, rotor: Double, delay: Int, load: Double = 0,
        period: Int = 1
    ) -> (result: RotorSearch.Result?, rotor: Double, largestRate: Double) {
        var search = RotorSearch(isOver: false)
        var (angle, rate, largest) = (0.0, 0.0, 0.0)
        var fields = Array(repeating: (angle: 0.0, power: 0.0), count: delay + 1)
        for tick in 0..<(2000 / period) {
            let authority = min(Double(tick * period) / 500, 1)
            let result = search.step(
                RotorSearch.Sample(
                    cameraRate: rate, jointRate: rate, power: authority, isFull: authority >= 1,
                    peakTorque: 0.25, polePairs: 7, frequency: 2 * .pi * 30),
                dt: Double(period) * 1e-3)
            if let result { return (result, rotor + 7 * angle, largest) }
            fields.removeFirst()
            fields.append((search.turned, search.power))
            // Ten steps for each millisecond, because the friction is not smooth.
            for _ in 0..<(10 * period) {
                let push =
                    0.25 * fields[0].power * cm_sin(fields[0].angle - rotor - 7 * angle) + load
                let brake = min(max(rate * inertia / 1e-4 + push, -friction), friction)
                rate += (push - brake) / inertia * 1e-4
                angle += rate * 1e-4
            }
            largest = max(largest, abs(rate))
        }
        return (nil, rotor, largest)
    }

    @Test(
        "inertia from 1/20 to 5 times the usual value and the delay are measured, and the tremor stays small",
        arguments: [1.25e-4, 5e-4, 2.5e-3, 12.5e-3], [3, 7])
    func measured(inertia: Double, delay: Int) throws {
        for rotor in [-2.5, 0, 1.5] {
            let (found, angle, rate) = Self.run(inertia: inertia, rotor: rotor, delay: delay)
            let result = try #require(found)
            #expect(abs(result.inertia / inertia - 1) < 0.2, "\(result)")
            // The measured rate is momentary, and the field is held for the period before it.
            let expected = (Double(delay) - 1.5) * 1e-3
            #expect(abs(result.delay - expected) < 0.6e-3, "\(result)")
            #expect(abs(cm_sin(0.5 * (result.electrical - angle))) < 0.2, "\(result) \(angle)")
            #expect(rate < 3, "\(rate)")
        }
    }

    /// In a slow loop, the hold of the field and the mean rate are part of the loop delay.
    @Test(
        "the delay of a slow loop is measured, which includes the hold of the field",
        arguments: [2, 3, 4], [2, 3])
    func slowLoop(period: Int, delay: Int) throws {
        for rotor in [-2.5, 0, 1.5] {
            let (found, angle, _) = Self.run(
                inertia: 2.5e-3, rotor: rotor, delay: delay, period: period)
            let result = try #require(found)
            // Without the hold and the mean that are usual at 1 kHz.
            let expected = (Double(delay) - 0.5) * Double(period) * 1e-3 - 1e-3
            #expect(abs(result.delay - expected) < 0.8e-3, "\(result) \(expected)")
            #expect(abs(cm_sin(0.5 * (result.electrical - angle))) < 0.2, "\(result) \(angle)")
        }
    }

    @Test("friction hardly changes the measured inertia", arguments: [5e-3, 20e-3, 60e-3])
    func friction(friction: Double) throws {
        let (found, _, _) = Self.run(inertia: 2.5e-3, friction: friction, rotor: 1, delay: 4)
        let result = try #require(found)
        #expect(result.inertia / 2.5e-3 > 0.7 && result.inertia / 2.5e-3 < 1.5, "\(result)")
    }

    @Test(
        "with a light camera, a friction that needs a tenth of the motor's torque is measured",
        arguments: [1.25e-4, 3e-4, 6e-4], [25e-3, 60e-3])
    func measuredFriction(inertia: Double, friction: Double) throws {
        for rotor in [-2.5, 0, 1.5] {
            let (found, _, _) = Self.run(
                inertia: inertia, friction: friction, rotor: rotor, delay: 4)
            let result = try #require(found)
            #expect(abs(result.friction / friction - 1) < 0.5, "\(result)")
        }
    }

    @Test("without friction, the measured friction is small; without a tremor, it is unknown")
    func unmeasuredFriction() throws {
        let (found, _, _) = Self.run(inertia: 2.5e-3, friction: 0, rotor: 1, delay: 4)
        #expect(try #require(found).friction < 20e-3)
        let (blocked, _, _) = Self.run(inertia: 1e6, rotor: 1, delay: 4)
        #expect(try #require(blocked).friction.isNaN)
    }

    @Test("a falling camera ends the search without a result, so that the motors can hold it")
    func falling() throws {
        let (found, _, _) = Self.run(inertia: 2.5e-3, rotor: 1, delay: 4, load: 50e-3)
        #expect(try #require(found).inertia.isNaN)
    }

    @Test("a search without a result keeps the loop delay of an earlier search")
    func keptDelay() {
        let parameters = FieldController.Parameters()
        var search = FieldSearch()
        search.begin(field: .zero, loopDelay: parameters.loopDelay)
        var (angle, rate) = (AxisVector.zero, AxisVector.zero)
        var fields = Array(repeating: search.fields, count: 8)
        for tick in 0..<2000 where !search.sought.isEmpty {
            _ = search.step(
                cameraRates: rate, jointRates: rate, authority: min(Double(tick) / 500, 1),
                parameters: parameters, dt: 1e-3)
            fields.removeFirst()
            fields.append(search.fields)
            for axis in GimbalAxis.allCases where search.sought.contains(axis) {
                let (field, power) = (fields[0].angle[axis], fields[0].power[axis])
                for _ in 0..<10 {
                    let push = 0.25 * power * cm_sin(field - 1 - 7 * angle[axis])
                    rate[axis] += push / 2.5e-3 * 1e-4
                    angle[axis] += rate[axis] * 1e-4
                }
            }
        }
        let delay = search.delay
        #expect(search.sought.isEmpty && delay > 4e-3 && delay < 7e-3, "\(delay)")
        search.begin(field: .zero, loopDelay: parameters.loopDelay)
        let falling = AxisVector(repeating: 1)
        _ = search.step(
            cameraRates: falling, jointRates: falling, authority: 0.5, parameters: parameters,
            dt: 1e-3)
        #expect(search.sought.isEmpty)
        #expect(search.delay == delay)
    }

    /// Period and configured loop delay, which contains the hold of the field, in steps of 0.1 ms.
    @Test(
        "the rotors are found in a slow loop and with a long loop delay",
        arguments: zip([100, 154, 77, 10, 10], [125, 179, 102, 125, 200]))
    func longDelay(period: Int, loopDelay: Int) {
        var parameters = FieldController.Parameters()
        parameters.loopDelay = Double(loopDelay) * 1e-4
        let dt = Double(period) * 1e-4
        for inertia in [5e-4, 2.5e-3, 5e-3] {
            var search = FieldSearch()
            search.begin(field: .zero, loopDelay: parameters.loopDelay)
            var (angle, rate, number) = (AxisVector.zero, AxisVector.zero, 0)
            var fields = Array(repeating: search.fields, count: loopDelay - period / 2 + 1)
            for tick in 0..<2000 where !search.sought.isEmpty {
                let field = search.fields
                let found = search.step(
                    cameraRates: rate, jointRates: rate, authority: min(Double(tick) * dt / 0.5, 1),
                    parameters: parameters, dt: dt)
                for axis in GimbalAxis.allCases where !found.electrical[axis].isNaN {
                    number += 1
                    let error = found.electrical[axis] - 0.9 - 7 * angle[axis]
                    #expect(abs(cm_sin(0.5 * error)) < 0.5, "\(inertia) \(axis) \(error)")
                    let ratio = found.inertia[axis] / inertia
                    #expect(ratio > 0.5 && ratio < 2.5, "\(inertia) \(axis) \(ratio)")
                }
                for _ in 0..<period {
                    fields.removeFirst()
                    fields.append(field)
                    for axis in GimbalAxis.allCases where search.sought.contains(axis) {
                        let load = fields[0].angle[axis] - 0.9 - 7 * angle[axis]
                        let push = 0.25 * fields[0].power[axis] * cm_sin(load)
                        rate[axis] += push / inertia * 1e-4
                        angle[axis] += rate[axis] * 1e-4
                    }
                }
            }
            #expect(number == 3)
        }
    }

    @Test("the power follows the authority down, also during a measurement")
    func stopping() {
        var search = RotorSearch(isOver: false)
        for tick in 0..<600 {
            let authority = tick < 500 ? 1 : 1 - Double(tick - 500) / 100
            let angle = search.turned
            _ = search.step(
                RotorSearch.Sample(
                    cameraRate: -0.3 * cm_cos(angle), jointRate: 0, power: authority,
                    isFull: authority >= 1, peakTorque: 0.25, polePairs: 7,
                    frequency: 2 * .pi * 30), dt: 1e-4)
            #expect(search.power <= authority)
        }
        #expect(!search.isOver && search.power < 0.02)
    }

    @Test("the search ends although a gap interrupts it every 100 ms")
    func interrupted() {
        var search = RotorSearch(isOver: false)
        for tick in 0..<3000 where !search.isOver {
            if tick % 100 == 0 { search.restart() }
            _ = search.step(
                RotorSearch.Sample(
                    cameraRate: 0.3 * cm_sin(search.turned), jointRate: 0,
                    power: min(Double(tick) / 500, 1), isFull: tick >= 500, peakTorque: 0.25,
                    polePairs: 7, frequency: 2 * .pi * 30), dt: 1e-3)
        }
        #expect(search.isOver)
    }

    @Test("a blocked rotor has no result")
    func blocked() throws {
        let (found, _, rate) = Self.run(inertia: 1e6, rotor: 1, delay: 4)
        #expect(try #require(found).inertia.isNaN && rate < 1e-3)
    }
}
