import GimbalCore
import Port
import Realtime
import Simulation
import Testing

@testable import airframe_bench

/// Short version of the fault campaign: one seed of every fault in every mode, with one command
/// source; `airframe-bench faults` simulates all combinations.
@Suite("Short fault campaign")
struct FaultCampaignTests {
    @Test(
        "every fault ends in a safe state in time, and moves the camera by no more than the limit"
    )
    func campaign() {
        var campaign = FaultCampaign()
        campaign.links = [.airos]
        let rows = campaign.rows(seeds: 1)
        // `rows` contains no row for a fault without a result. Each fault of this campaign concerns
        // the standard gimbal.
        #expect(rows.map(\.fault) == campaign.faults)
        for row in rows {
            let bars = row.fault.bars
            #expect(row.unsafe == 0, "\(row.fault.rawValue)")
            #expect(row.returned == 0, "\(row.fault.rawValue)")
            #expect(row.slowest <= bars.seconds, "\(row.fault.rawValue)")
            #expect(row.largestUntilSafe <= bars.degrees, "\(row.fault.rawValue)")
            #expect(row.largest <= bars.coasting, "\(row.fault.rawValue)")
        }
    }

    @Test(
        "a wrong sensor value moves a phone by no more than the limit, when the user is at rest or walks",
        arguments: FaultRun.Fault.sensorLies)
    func lie(fault: FaultRun.Fault) {
        for motion in [HandleMotion.still, .walking] {
            for gimbal in [FaultGimbal.phone, .blindPhone] {
                let outcome = FaultRun(
                    fault: fault, mode: .locked, seed: 2, gimbal: gimbal, motion: motion
                ).run()
                let name = "\(gimbal.name), \(motion)"
                // The motion of the hand masks the response to the motors for a few more
                // milliseconds.
                let most = motion == .still ? 1 : 1.5
                #expect(outcome.unintended <= most * fault.bars.degrees, "\(name)")
                if fault.kind == .sensor {
                    #expect(outcome.secondsToSafe <= fault.bars.seconds, "\(name)")
                }
            }
        }
    }

    @Test(
        "servos do not follow a gyroscope that reports 500 °/s for 100 ms, in any mode, in a walker's hand",
        arguments: [333.0, 73, 50])
    func burstOnServos(frameHz: Double) throws {
        var campaign = FaultCampaign()
        campaign.gimbals = [try .servos(frameHz: frameHz)]
        campaign.faults = [.gyroBurst]
        campaign.links = [.diagnostics]
        let rows = campaign.rows(seeds: 1)
        #expect(rows.map(\.fault) == campaign.faults)
        for row in rows {
            #expect(row.largest <= row.fault.bars.coasting, "\(row.worst?.name ?? "")")
        }
    }

    /// A rotor without an encoder cannot brake: its motor is turned off, and the rotor coasts.
    @Test(
        "a reversed gyroscope is detected within 0.1 s on motors without encoders, too",
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
        "one wild gyroscope sample moves a phone in a walker's hand by less than 0.1°",
        arguments: [2, 5, 8] as [UInt64])
    func spikeInDispute(seed: UInt64) {
        let outcome = FaultRun(
            fault: .gyroSpike, seed: seed, gimbal: .phone, motion: .walking
        ).run()
        #expect(outcome.unintended < 0.1)
        #expect(outcome.isOn && outcome.secondsToSafe.isNaN)
    }

    @Test(
        "one wild gyroscope sample, or ten, do not turn the outputs off",
        arguments: [2, 3] as [UInt64])
    func spikes(seed: UInt64) {
        for fault in [FaultRun.Fault.gyroSpike, .gyroSpikes] {
            let outcome = FaultRun(fault: fault, seed: seed, gimbal: .phone, motion: .still).run()
            #expect(outcome.isOn && outcome.secondsToSafe.isNaN)
        }
    }

    @Test(
        "a wrong model of the gimbal moves a phone at rest by no more than the limit, and turns no output off",
        arguments: FaultRun.Fault.plantFaults)
    func plant(fault: FaultRun.Fault) throws {
        for gimbal in [FaultGimbal.phone, .blindPhone, .standard] {
            let outcome = FaultRun(fault: fault, seed: 2, gimbal: gimbal, motion: .still).run()
            let plant = try #require(outcome.plant)
            #expect(outcome.unintended <= fault.bars.degrees, "\(gimbal.name)")
            #expect(plant.start <= fault.bars.degrees, "\(gimbal.name)")
            #expect(plant.unnamed <= PlantBars.unnamed, "\(gimbal.name)")
            #expect(!plant.isShutOff && !plant.isTrembling, "\(gimbal.name)")
        }
    }

    @Test(
        "an unexpected delay without encoders is measured at the start, so the loop does not oscillate",
        arguments: [1, 2, 3] as [UInt64])
    func laterWithoutEncoders(seed: UInt64) throws {
        let outcome = FaultRun(
            fault: .plantLater, seed: seed, gimbal: .driven(by: .field), motion: .still
        ).run()
        let plant = try #require(outcome.plant)
        #expect(!outcome.conditions.intersects(.loopOscillating))
        #expect(outcome.unintended <= 3)
        #expect(!plant.isShutOff && !plant.isTrembling)
        #expect(abs(plant.inertiaRatio - 1) < 0.3)
    }

    /// Elastic friction adds phase lead, so the slow identification of these gimbals finds a delay
    /// that is too short.
    @Test(
        "a random gimbal with 5 ms of unexpected delay keeps its outputs on, and finds its inertia",
        arguments: [
            (2, .locked), (3, .fpv), (4, .locked), (6, .neutral),
        ] as [(UInt64, Mode)])
    func drawnLater(gimbal: UInt64, mode: Mode) throws {
        let outcome = FaultRun(
            fault: .plantLater, mode: mode, seed: 1,
            gimbal: try .drawn(seed: gimbal, motor: .torque), motion: .still
        ).run()
        let plant = try #require(outcome.plant)
        #expect(!plant.isShutOff)
        #expect(!outcome.conditions.intersects(.inertiaNotFound), "\(plant)")
        #expect(abs(plant.inertiaRatio - 1) < 0.3)
        #expect(outcome.unintended < 3)
    }

    @Test("random gimbals run at their own loop rate with the daemon's tuning")
    func drawn() throws {
        let drawn = DrawnGimbal(seed: 4, motor: .torque)
        let gimbal = try FaultGimbal.drawn(seed: 4, motor: .torque)
        #expect(gimbal.loopHz == drawn.loopHz && drawn.loopHz < 1000)
        #expect(gimbal.stabilizer.controller.loopDelay > 0.0035)
        #expect(gimbal.atFullRate.loopHz == 1000)
        let outcome = FaultRun(fault: .gyroFrozen, seed: 1, gimbal: gimbal, motion: .still).run()
        #expect(outcome.secondsToSafe < 0.1)
        #expect(outcome.unintended < 3)
    }
}
