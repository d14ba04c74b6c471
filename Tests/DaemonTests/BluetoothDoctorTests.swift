import Testing
import Wire

@testable import Daemon

@Suite("Bluetooth checks of doctor")
struct BluetoothDoctorTests {
    private static func status(_ change: (inout BluetoothStatus) -> Void = { _ in })
        -> BluetoothStatus
    {
        var status = BluetoothStatus()
        status.state = "advertising"
        status.adapter = "hci0"
        status.alias = "AirOS Gimbal"
        status.name = "AirOS Gimbal"
        status.security = "encrypted"
        status.freeSlots = 3
        status.advertisements = [
            AdvertisementStatus(uuid: "x", name: "AirOS Gimbal", isRegistered: true)
        ]
        change(&status)
        return status
    }

    private static func levels(_ status: BluetoothStatus, _ configuration: String? = quiet)
        -> [String: DoctorCheck.Level]
    {
        let checks = BluetoothDoctor(status: status, daemonConfiguration: configuration).checks
        return Dictionary(uniqueKeysWithValues: checks.map { ($0.name, $0.level) })
    }

    private static let quiet = "[General]\n  ReverseServiceDiscovery = false\n"

    @Test("a working configuration gives five checks without a warning")
    func ok() {
        let levels = Self.levels(Self.status())
        #expect(levels.count == 5)
        #expect(levels.values.allSatisfy { $0 == .ok })
    }

    @Test(
        "each fault is a warning with a remedy, never a failure, because the camera moves without Bluetooth"
    )
    func faults() {
        let faults: [(String, (inout BluetoothStatus) -> Void)] = [
            ("bluetooth", { ($0.state, $0.sentence) = ("no adapter", "Plug one in.") }),
            ("advertising", { $0.advertisements[0].isRegistered = false }),
            ("phone name", { $0.alias = "raspberrypi" }),
            ("phone name", { $0.alias = nil }),
            ("pairing", { $0.security = "open" }),
        ]
        for (name, change) in faults {
            let checks = BluetoothDoctor(
                status: Self.status(change), daemonConfiguration: Self.quiet
            ).checks
            let bad = checks.filter { $0.level != .ok }
            #expect(bad.map(\.name) == [name])
            #expect(bad.allSatisfy { $0.level == .warn && !$0.remedy.isEmpty })
        }
    }

    @Test("the remedy for a full adapter names what ends or saves an advertisement")
    func fullAdapter() {
        func remedy(_ change: (inout BluetoothStatus) -> Void) -> String {
            let status = Self.status {
                $0.freeSlots = 0
                $0.advertisements[0].isRegistered = false
                change(&$0)
            }
            let checks = BluetoothDoctor(status: status, daemonConfiguration: Self.quiet).checks
            return checks.first { $0.name == "advertising" }?.remedy ?? ""
        }
        let one = remedy { _ in }
        #expect(one.contains("end the other programs") && !one.contains("rbl.role"))
        let two = remedy {
            $0.advertisements.append(AdvertisementStatus(uuid: "y", name: "", isRegistered: true))
        }
        #expect(two.contains("end the other programs") && two.contains("rbl.role"))
    }

    @Test("the remedy for the pop-up of iPhones is one that doctor can check")
    func popUpRemedy() {
        let checks = BluetoothDoctor(status: Self.status(), daemonConfiguration: "").checks
        let remedy = checks.first { $0.name == "iPhone pop-up" }?.remedy ?? ""
        #expect(remedy.contains("ReverseServiceDiscovery") && !remedy.contains("-P battery"))
    }

    @Test(
        "doctor warns if bluetoothd tries to read the battery of phones",
        arguments: [
            ("[General]\nReverseServiceDiscovery=false", true),
            ("[GATT]\nClient = false", true),
            ("[General]\n#ReverseServiceDiscovery = false", false),
            ("[GATT]\nReverseServiceDiscovery = false", false),
            ("[General]\nReverseServiceDiscovery = true", false),
            ("", false),
        ])
    func popUp(configuration: String, isQuiet: Bool) {
        #expect(BluetoothDoctor.isQuiet(configuration) == isQuiet)
        let level = Self.levels(Self.status(), configuration)["iPhone pop-up"]
        #expect(level == (isQuiet ? .ok : .warn))
    }

    @Test("doctor warns if the configuration of bluetoothd cannot be read")
    func unreadable() {
        #expect(Self.levels(Self.status(), nil)["iPhone pop-up"] == .warn)
    }
}
