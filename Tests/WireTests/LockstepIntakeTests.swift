import GimbalCore
import Testing
import Wire

@Suite("Sample lines of a lockstep connection")
struct LockstepIntakeTests {
    private static let start = Instant(nanoseconds: 5_000_000_000)

    private func line(_ t: Double, _ rest: String = "") throws -> LockstepSample {
        try LockstepSample(
            parsing: Array(#"{"t":\#(t),"gyro":[0,0,0],"accel":[0,0,-9.81]\#(rest)}"#.utf8))
    }

    @Test(
        "the first t can have any value, and later times follow from the differences of t",
        arguments: [0, -1e6, 1_763_740_000.25, 3.5, 1e-9])
    func anyBeginning(first: Double) throws {
        var intake = LockstepIntake(start: Self.start)
        #expect(try intake.admit(line(first)).time == Self.start)
        for k in 1...2000 {
            let sample = try intake.admit(line(first + Double(k) * 1e-3))
            let error = sample.time.seconds(since: Self.start) - Double(k) * 1e-3
            #expect(abs(error) < 3e-7)
        }
    }

    @Test("samples at 1 kHz are exactly 1 ms apart despite the rounding of t")
    func exactSteps() throws {
        var intake = LockstepIntake(start: Self.start)
        for k in 0..<3000 {
            let sample = try intake.admit(line(Double(k) * 0.001))
            #expect(sample.time.nanoseconds == 5_000_000_000 + Int64(k) * 1_000_000)
        }
    }

    @Test(
        "a line whose t does not increase by the minimum step is refused, and changes no state",
        arguments: [
            (1.0, .timeBackwards), (0.5, .timeBackwards), (-1e300, .timeBackwards),
            (1.00001, .timeStep), (1.00009, .timeStep),
        ] as [(Double, LockstepError.Code)])
    func refused(t: Double, code: LockstepError.Code) throws {
        var intake = LockstepIntake(start: Self.start)
        _ = try intake.admit(line(1))
        let late = try line(t)
        let error = #expect(throws: LockstepError.self) { _ = try intake.admit(late) }
        #expect(error?.code == code)
        #expect(error?.field == "t")
        #expect(intake.lastT == 1)
        #expect(try intake.admit(line(1.001)).time.seconds(since: Self.start) == 0.001)
    }

    @Test("steps of 0.1 ms are accepted, even if t is as large as a Unix time")
    func shortestStep() throws {
        var intake = LockstepIntake(start: Self.start)
        for k in 0..<1000 { _ = try intake.admit(line(1_763_740_000 + Double(k) * 1e-4)) }
    }

    @Test("repeated jumps of t are accepted up to 1e300, and the time never decreases")
    func jumps() throws {
        var intake = LockstepIntake(start: Self.start)
        var last = Self.start
        for exponent in stride(from: -3, through: 300, by: 3) {
            var text = "1e\(exponent)"
            if exponent == -3 { text = "0" }
            let sample = try intake.admit(
                LockstepSample(
                    parsing: Array(#"{"t":\#(text),"gyro":[0,0,0],"accel":[0,0,-9.81]}"#.utf8)))
            #expect(sample.time >= last)
            last = sample.time
        }
    }

    @Test("a sensor of the first line that is missing later is reported, a new one is ignored")
    func sensors() throws {
        var intake = LockstepIntake(start: Self.start)
        let first = try intake.admit(line(0, #","joints":[1,2,3],"base_gyro":[4,5,6]"#))
        #expect(intake.sensors.lockstepNames == ["joints", "base_gyro"])
        #expect(first.contents.contains(.joints) && first.contents.contains(.baseGyro))
        #expect(first.joints == AxisVector(yaw: 1, roll: 2, pitch: 3))
        #expect(first.baseGyro == Vector3(4, 5, 6))

        let second = try intake.admit(line(0.001, #","mag":[2e-5,0,0],"joint_rates":[0,0,0]"#))
        #expect(intake.missing.lockstepNames == ["joints", "base_gyro"])
        #expect(intake.ignoredValues == 2)
        #expect(!second.contents.contains(.magneticField) && second.magneticField == .zero)
        #expect(!second.contents.contains(.baseGyro))
        #expect(second.joints == AxisVector(yaw: 1, roll: 2, pitch: 3))

        _ = try intake.admit(line(0.002, #","joints":[1,2,3],"base_gyro":[4,5,6]"#))
        #expect(intake.missing.lockstepNames.isEmpty)
    }

    @Test("the magnetic field is converted from tesla to microtesla")
    func tesla() throws {
        var intake = LockstepIntake(start: Self.start)
        let sample = try intake.admit(line(0, #","mag":[2e-5,0,4.5e-5]"#))
        #expect(abs(sample.magneticField.x - 20) < 1e-9)
        #expect(abs(sample.magneticField.z - 45) < 1e-9)
    }
}
