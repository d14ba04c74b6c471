import Configuration
import GimbalCore
import Testing
import Wire

@testable import Links

@Suite("MAVLink: reports of the gimbal") struct GimbalReportTests {
    private func report(
        _ snapshot: StabilizerSnapshot = StabilizerSnapshot(), isManager: Bool = true
    ) -> GimbalReport {
        GimbalReport(
            snapshot: snapshot, settings: Settings(), north: nil, isManager: isManager, bootMs: 0)
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
}
