import GimbalCore
import Port
import Realtime
import Simulation
import Testing

@testable import airframe_bench

/// The campaign in short: one seed of every fault in every mode, from one source; `airframe-bench faults` has them all.
@Suite("Campaign of faults, in short")
struct FaultCampaignTests {
    @Test("every fault ends in a safe state in time, and moves the camera by no more than it may")
    func campaign() {
        var campaign = FaultCampaign()
        campaign.links = [.airos]
        for row in campaign.rows(seeds: 1) {
            let bars = row.fault.bars
            #expect(row.unsafe == 0, "\(row.fault.rawValue)")
            #expect(row.returned == 0, "\(row.fault.rawValue)")
            #expect(row.slowest <= bars.seconds, "\(row.fault.rawValue)")
            #expect(row.largestUntilSafe <= bars.degrees, "\(row.fault.rawValue)")
            #expect(row.largest <= bars.coasting, "\(row.fault.rawValue)")
        }
    }

    @Test(
        "a sensor that lies moves a phone by no more than it may, standing and walking",
        arguments: FaultRun.Fault.sensorLies)
    func lie(fault: FaultRun.Fault) {
        for motion in [BaseMotion.Kind.still, .walking] {
            for gimbal in [FaultGimbal.phone, .blindPhone] {
                let outcome = FaultRun(
                    fault: fault, mode: .locked, seed: 2, gimbal: gimbal, motion: motion
                ).run()
                let name = "\(gimbal.name), \(motion)"
                // A hand that moves hides the answer to the motors for some milliseconds more.
                let most = motion == .still ? 1 : 1.5
                #expect(outcome.unintended <= most * fault.bars.degrees, "\(name)")
                if fault.kind == .sensor {
                    #expect(outcome.secondsToSafe <= fault.bars.seconds, "\(name)")
                }
            }
        }
    }

    @Test(
        "servos do not follow a gyroscope that says 500 °/s for 100 ms, in any mode, in a walker's hand",
        arguments: [333.0, 73, 50])
    func burstOnServos(frameHz: Double) {
        var campaign = FaultCampaign()
        campaign.gimbal = .driven(by: .servo)
        // An owner who tells the pulses.
        let longer = 0.5 / frameHz - 0.5 / 333
        campaign.gimbal.simulated.servo.frameRate = frameHz
        campaign.gimbal.simulated.servo.totalDelay += longer
        campaign.gimbal.stabilizer.servo.framePeriod = 1 / frameHz
        campaign.gimbal.stabilizer.servo.delay += longer
        campaign.faults = [.gyroBurst]
        campaign.links = [.diagnostics]
        for row in campaign.rows(seeds: 1) {
            #expect(row.largest <= row.fault.bars.coasting, "\(row.worst)")
        }
    }

    /// A rotor without encoder cannot brake: it is let go, and coasts.
    @Test(
        "a gyroscope whose sign flips is found in 0.1 s on motors without encoders, too",
        arguments: [1, 1 / 17.0], [1, 2, 3] as [UInt64])
    func flipWithoutEncoders(inertia: Double, seed: UInt64) {
        var gimbal = FaultGimbal.driven(by: .field)
        gimbal.simulated.plant.scale(inertia: inertia, imbalance: inertia)
        let outcome = FaultRun(
            fault: .gyroReversed, seed: seed, gimbal: gimbal, motion: .still
        ).run()
        #expect(outcome.secondsToSafe < 0.1)
        #expect(outcome.unintended < FaultRun.Fault.gyroReversed.bars.coasting)
    }

    @Test(
        "one wild sample does not kick a phone that a walker carries, whose friction is in dispute as a rule",
        arguments: [2, 5, 8] as [UInt64])
    func spikeInDispute(seed: UInt64) {
        let outcome = FaultRun(
            fault: .gyroSpike, seed: seed, gimbal: .phone, motion: .walking
        ).run()
        #expect(outcome.unintended < 0.1)
        #expect(outcome.isOn && outcome.secondsToSafe.isNaN)
    }

    @Test("one wild sample, or ten, do not turn the outputs off", arguments: [2, 3] as [UInt64])
    func spikes(seed: UInt64) {
        for fault in [FaultRun.Fault.gyroSpike, .gyroSpikes] {
            let outcome = FaultRun(fault: fault, seed: seed, gimbal: .phone, motion: .still).run()
            #expect(outcome.isOn && outcome.secondsToSafe.isNaN)
        }
    }
}
