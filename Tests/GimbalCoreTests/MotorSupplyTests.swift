import Testing

@testable import GimbalCore

@Suite("Switch of the drives' supply")
struct MotorSupplyTests {
    private static let tick = 0.002

    /// A supply with a boot time of 1 s, and drives that answer `answerSeconds` after the supply was
    /// switched on.
    private struct Bench {
        var supply = MotorSupply()
        var parameters = MotorSupply.Parameters()
        var answerSeconds = 0.4
        var areOutputsOff = true
        /// Conditions besides the silence of drives without supply.
        var others = Conditions.none
        /// True if a drive is silent although it has supply.
        var isUnplugged = false
        private(set) var suppliedSeconds = 0.0
        private(set) var judged = Conditions.none

        init() {
            parameters.isSwitched = true
            parameters.bootSeconds = 1
        }

        mutating func run(_ seconds: Double) {
            for _ in 0..<Int((seconds / MotorSupplyTests.tick).rounded()) {
                suppliedSeconds = supply.isOn ? suppliedSeconds + MotorSupplyTests.tick : 0
                let answers = suppliedSeconds >= answerSeconds && !isUnplugged
                judged = supply.step(
                    answers ? others : others | .driveSilent, areOutputsOff: areOutputsOff,
                    dt: MotorSupplyTests.tick, parameters: parameters)
            }
        }
    }

    @Test("without a switch, the supply changes no condition")
    func absent() {
        var supply = MotorSupply()
        let conditions = supply.step(
            .driveSilent | .emergencyStop, areOutputsOff: true, dt: Self.tick,
            parameters: MotorSupply.Parameters())
        #expect(conditions == .driveSilent | .emergencyStop)
        #expect(supply.isOn && supply.areDrivesStarted)
    }

    @Test("the supply is on from the first tick, while silent drives still keep the outputs off")
    func beginning() {
        var bench = Bench()
        bench.run(Self.tick)
        #expect(bench.supply.isOn)
        #expect(bench.judged == .drivesStarting)
        bench.run(0.99)
        #expect(bench.judged == .drivesStarting, "silence does not count during the boot time")
        bench.run(0.02)
        #expect(bench.judged == .none && bench.supply.areDrivesStarted)
    }

    @Test("drives that do not answer within the boot time are reported, and keep their supply")
    func slow() {
        var bench = Bench()
        bench.answerSeconds = 3
        bench.run(2)
        #expect(bench.judged == .driveSilent && bench.supply.isOn)
        bench.run(1.1)
        #expect(bench.judged == .none)
    }

    @Test("a stop switches the supply off in the same tick, and on again after the reset")
    func stop() {
        var bench = Bench()
        bench.run(2)
        for stop in [Conditions.emergencyStop, .shutdown, .controlFault] {
            bench.areOutputsOff = false
            bench.others = stop
            bench.run(Self.tick)
            #expect(!bench.supply.isOn)
            #expect(bench.judged == stop | .drivesStarting)
            bench.areOutputsOff = true
            bench.run(10)
            #expect(!bench.supply.isOn, "it stays off until the reset")
            bench.others = .none
            bench.run(Self.tick)
            #expect(bench.supply.isOn && bench.judged == .drivesStarting)
            bench.run(1.01)
            #expect(bench.judged == .none)
        }
    }

    @Test(
        "a drive that becomes silent loses its supply after the motors have braked, for 5 s; the cause stays visible"
    )
    func silence() {
        var bench = Bench()
        bench.run(2)
        bench.areOutputsOff = false
        bench.isUnplugged = true
        bench.run(0.02)
        #expect(bench.judged == .driveSilent && bench.supply.isOn, "the motors brake")
        bench.areOutputsOff = true
        bench.run(Self.tick)
        #expect(!bench.supply.isOn)
        bench.run(4.9)
        #expect(!bench.supply.isOn && bench.judged == .driveSilent | .drivesStarting)
        bench.run(0.2)
        #expect(bench.supply.isOn && bench.judged == .driveSilent | .drivesStarting)
        bench.run(20)
        #expect(
            bench.supply.isOn && bench.judged == .driveSilent,
            "a drive that has not answered since then does not lose its supply again")
        bench.isUnplugged = false
        bench.run(Self.tick)
        #expect(bench.judged == .none)
    }

    @Test(
        "a bus that fails switches the supply off",
        arguments: [Conditions.canBusOff, .motorPortLost, .busError])
    func bus(fault: Conditions) {
        var bench = Bench()
        bench.run(2)
        bench.others = fault
        bench.run(Self.tick)
        #expect(!bench.supply.isOn && bench.judged == fault | .drivesStarting)
    }

    @Test("drives that must start before they answer do not keep a gimbal off")
    func outputs() {
        var parameters = Stabilizer.Parameters()
        parameters.motorSupply.isSwitched = true
        parameters.motorSupply.bootSeconds = 0.5
        var stabilizer = Stabilizer(parameters: parameters)
        var noise = SeededNoise(seed: 1)
        var suppliedSeconds = 0.0
        var onSeconds: Double?
        for tick in 1...3000 where onSeconds == nil {
            let now = Instant(nanoseconds: Int64(tick) * 2_000_000)
            stabilizer.integrate(
                IMUSample(
                    time: now, gyro: noise.vector() * 1e-3,
                    accel: Vector3(0, 0, -9.80665) + noise.vector() * 0.02))
            stabilizer.report(suppliedSeconds >= 0.4 ? .none : .driveSilent)
            let output = stabilizer.step(now: now)
            suppliedSeconds = output.isSupplied ? suppliedSeconds + Self.tick : 0
            #expect(output.isSupplied || !output.enabled)
            if output.enabled { onSeconds = Double(tick) * Self.tick }
        }
        #expect((onSeconds ?? .infinity) < 5)
        stabilizer.apply(.emergencyStop, now: Instant(nanoseconds: 7_000_000_000))
        let output = stabilizer.step(now: Instant(nanoseconds: 7_000_000_000))
        #expect(!output.isSupplied && !output.enabled)
    }
}
