import Configuration
import GimbalCore
import Testing
import Wire

@testable import Links

@Suite("MAVLink: reports of the gimbal") struct GimbalReportTests {
    private func report(
        _ snapshot: StabilizerSnapshot = StabilizerSnapshot(), settings: Settings = Settings(),
        vehicle: VehicleHeading = VehicleHeading(), isManager: Bool = true
    ) -> GimbalReport {
        GimbalReport(
            snapshot: snapshot, settings: settings, vehicle: vehicle, isManager: isManager,
            bootMs: 0)
    }

    @Test("the device ID is 1 if the gimbal is its own manager, otherwise 0")
    func device() {
        let own = report()
        #expect(own.deviceInformation.device == 1 && own.deviceStatus.device == 1)
        #expect(own.managerInformation.device == 1)
        let managed = report(isManager: false)
        #expect(managed.deviceInformation.device == 0 && managed.deviceStatus.device == 0)
    }

    @Test("a camera that rests at a user's request is in standby, not in a critical state")
    func standby() {
        func state(_ mode: Mode, _ conditions: Conditions, isOn: Bool = false) -> UInt8 {
            var snapshot = StabilizerSnapshot()
            snapshot.mode = mode
            snapshot.conditions = conditions
            snapshot.output.enabled = isOn
            return report(snapshot).heartbeat.status
        }
        #expect(state(.inactive, .inactiveMode) == 3)
        #expect(state(.retract, .retracted) == 3)
        #expect(state(.retract, .none, isOn: true) == 4)
        #expect(state(.retract, .retracted | .imuStale) == 5)
        #expect(state(.locked, .imuStale) == 5)
    }

    @Test(
        "a status text about outputs that are off at a user's request is a notice, not an error",
        arguments: [
            (Conditions.inactiveMode, 5), (.retracted, 5), (.calibrating, 5), (.imuStale, 3),
            (.emergencyStop, 1),
        ] as [(Conditions, UInt8)])
    func severity(condition: Conditions, severity: UInt8) {
        var announcer = FaultAnnouncer()
        let texts = announcer.messages(for: condition, now: at(0))
        #expect(!texts.isEmpty)
        #expect(texts.allSatisfy { $0.severity == severity })
    }

    @Test("a single disturbance is not an error that prevents an autopilot from arming")
    func disturbances() {
        func errors(_ conditions: Conditions) -> UInt32 {
            var snapshot = StabilizerSnapshot()
            snapshot.conditions = conditions
            return report(snapshot).deviceStatus.failures
        }
        #expect(errors(.motorSaturated | .loopOverrun | .canErrors | .motorBytesDamaged) == 0)
        #expect(errors(.motorStalled) == GimbalFailures.motor.rawValue)
        #expect(errors(.loopUnreliable) == GimbalFailures.software.rawValue)
        #expect(errors(.controlFault) == GimbalFailures.software.rawValue)
        #expect(errors(.canBusOff) == GimbalFailures.communication.rawValue)
    }

    @Test("only yaw can follow the vehicle, because roll and pitch are held to the horizon")
    func follow() {
        var snapshot = StabilizerSnapshot()
        snapshot.showsJoints = true
        let report = report(snapshot)
        for flags in [
            report.deviceInformation.moreCapabilities, report.managerInformation.capabilities,
        ] {
            let found = GimbalCapabilities(rawValue: flags)
            #expect(found.contains(.yawFollow))
            #expect(found.isDisjoint(with: [.rollFollow, .pitchFollow]))
        }
    }

    /// True if the rates are equal, with a tolerance for float32.
    private func isEqual(_ rates: [Float], _ expected: [Float]) -> Bool {
        zip(rates, expected).allSatisfy { abs($0 - $1) < 1e-5 }
    }

    @Test("the angular velocity is in the frame of the attitude, not in the camera's own frame")
    func rates() {
        // The camera looks straight down to the right, and turns by 0.5 rad/s about the vertical.
        var snapshot = StabilizerSnapshot()
        snapshot.attitude = EulerZXY.quaternion(
            AxisVector(yaw: .pi / 2, roll: 0, pitch: -.pi / 2))
        snapshot.rate = snapshot.attitude.conjugate.rotate(Vector3(0, 0, 0.5))
        #expect(abs(snapshot.rate.z) < 1e-9, "the gyroscope measures this turn on another axis")
        let earth = report(snapshot).deviceStatus
        #expect(isEqual(earth.rates, [0, 0, 0.5]) && earth.deltaYawRate.isNaN)
        // The vehicle turns with the camera, and the camera pitches up by 0.2 rad/s.
        snapshot.attitude = .aboutZ(.pi / 2)
        snapshot.rate = Vector3(0, 0.2, 0.5)
        snapshot.jointSource = .encoders
        #expect(isEqual(report(snapshot).deviceStatus.rates, [0, 0.2, 0.5]))
        var state = AutopilotStateForGimbalDevice()
        state.yawRate = 0.5
        var vehicle = VehicleHeading()
        vehicle.learn(state, snapshot, now: at(0))
        let moving = report(snapshot, vehicle: vehicle).deviceStatus
        #expect(isEqual(moving.rates, [0, 0.2, 0]) && moving.deltaYawRate == 0.5)
        vehicle.advance(now: at(3))
        #expect(report(snapshot, vehicle: vehicle).deviceStatus.deltaYawRate.isNaN)
    }

    @Test("the device reports the range of its joints, the manager the part that is permitted")
    func ranges() {
        func degrees(_ radians: Float) -> Int { Int((Double(radians) * 180 / .pi).rounded()) }
        func isEndless(_ flags: UInt32) -> Bool {
            GimbalCapabilities(rawValue: flags).contains(.infiniteYaw)
        }
        var settings = Settings()
        settings.motion.rangeDeg.lower.pitch = -90
        let limited = report(settings: settings)
        let device = limited.deviceInformation
        #expect(degrees(device.yawMin) == -170 && degrees(device.yawMax) == 170)
        #expect(degrees(device.rollMax) == 45 && degrees(device.pitchMin) == -120)
        #expect(!isEndless(device.moreCapabilities))
        let manager = limited.managerInformation
        #expect(degrees(manager.yawMin) == -170 && degrees(manager.yawMax) == 170)
        #expect(degrees(manager.rollMax) == 45 && degrees(manager.pitchMin) == -90)
        #expect(!isEndless(manager.capabilities))
        // A slip ring, with and without a limit of the requests.
        (settings.joints.rangeDeg.lower.yaw, settings.joints.rangeDeg.upper.yaw) = (-360, 360)
        let endless = report(settings: settings)
        #expect(isEndless(endless.deviceInformation.moreCapabilities))
        #expect(isEndless(endless.managerInformation.capabilities))
        #expect(degrees(endless.managerInformation.yawMax) == 180)
        settings.motion.rangeDeg.upper.yaw = 90
        let permitted = report(settings: settings)
        #expect(isEndless(permitted.deviceInformation.moreCapabilities))
        #expect(!isEndless(permitted.managerInformation.capabilities))
        #expect(degrees(permitted.managerInformation.yawMax) == 90)
    }
}
