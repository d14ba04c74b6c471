import Configuration
import GimbalCore
import Testing
import Wire

@testable import Links

@Suite("MAVLink: reports of the gimbal") struct GimbalReportTests {
    private func report(
        _ snapshot: StabilizerSnapshot = StabilizerSnapshot(), settings: Settings = Settings(),
        isManager: Bool = true
    ) -> GimbalReport {
        GimbalReport(
            snapshot: snapshot, settings: settings, north: nil, isManager: isManager, bootMs: 0)
    }

    @Test("the device ID is 1 if the gimbal is its own manager, otherwise 0")
    func device() {
        let own = report()
        #expect(own.deviceInformation.device == 1 && own.deviceStatus.device == 1)
        #expect(own.managerInformation.device == 1)
        let managed = report(isManager: false)
        #expect(managed.deviceInformation.device == 0 && managed.deviceStatus.device == 0)
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
