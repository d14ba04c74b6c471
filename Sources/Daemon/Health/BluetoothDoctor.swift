import Recording
import SystemPackage
import Wire

/// Checks of `doctor` for Bluetooth. Bluetooth problems never prevent motion, so the most severe
/// result is a warning.
struct BluetoothDoctor {
    let status: BluetoothStatus
    /// Text of bluetoothd's configuration file main.conf; nil if the file cannot be read.
    let daemonConfiguration: String?

    /// Path of bluetoothd's configuration file.
    private static let daemonConfigurationFile: FilePath = "/etc/bluetooth/main.conf"

    /// Results of the Bluetooth checks for `doctor`; empty while Bluetooth is off.
    static func checks(_ status: BluetoothStatus?) -> [DoctorCheck] {
        guard let status else { return [] }
        return BluetoothDoctor(status: status, daemonConfiguration: readConfiguration()).checks
    }

    /// Reads bluetoothd's configuration; nil if the file cannot be read.
    private static func readConfiguration() -> String? {
        let bytes = try? FileDescriptor.bytes(of: daemonConfigurationFile)
        return bytes.map { String(decoding: $0, as: UTF8.self) }
    }

    /// All checks for Bluetooth, with the most basic check first.
    var checks: [DoctorCheck] { [radio, advertising, name, pairing, popUp] }

    private var radio: DoctorCheck {
        let place = [status.adapter, status.address].compactMap(\.self).joined(separator: ", ")
        let found = place.isEmpty ? status.state : "\(status.state) (\(place))"
        guard let sentence = status.sentence else { return DoctorCheck("bluetooth", .ok, found) }
        return DoctorCheck("bluetooth", .warn, found, remedy: sentence)
    }

    private var advertising: DoctorCheck {
        let there = status.advertisements.filter(\.isRegistered).count
        let counters = status.counters
        var found = "\(there) of \(status.advertisements.count) advertisements"
        if let slots = status.freeSlots { found += ", room for \(slots) more advertisements" }
        found += "; renewed \(counters.renewedAdvertisements), lost \(counters.lostAdvertisements)"
        guard there < status.advertisements.count else {
            return DoctorCheck("advertising", .ok, found)
        }
        guard status.freeSlots == 0 else {
            return DoctorCheck(
                "advertising", .warn, found,
                remedy: status.lastError ?? "See the check \"bluetooth\".")
        }
        let fewer =
            status.advertisements.count > 1
            ? ", or set rbl.role = \"off\" and restart airframed, which then sends one advertisement"
            : ""
        return DoctorCheck(
            "advertising", .warn, found,
            remedy:
                "The adapter cannot send another advertisement: end the other programs that advertise\(fewer)."
        )
    }

    private var name: DoctorCheck {
        guard let alias = status.alias else {
            return DoctorCheck(
                "phone name", .warn, "not known", remedy: "See the check \"bluetooth\".")
        }
        return alias == status.name
            ? DoctorCheck("phone name", .ok, "\"\(alias)\"")
            : DoctorCheck(
                "phone name", .warn, "\"\(alias)\" instead of \"\(status.name)\"",
                remedy:
                    "Another program has renamed the adapter, but the AirLink app finds the gimbal only by the name \"\(status.name)\": check Name in /etc/bluetooth/main.conf."
            )
    }

    private var pairing: DoctorCheck {
        status.security == "encrypted"
            ? DoctorCheck("pairing", .ok, "required; \(status.bonds.count) phones are paired")
            : DoctorCheck(
                "pairing", .warn, "not required: anyone in range can steer the camera",
                remedy:
                    "If strangers can come into range, set bluetooth.security = \"encrypted\", restart airframed, and run `airframectl pair allow`."
            )
    }

    /// Check for an unwanted pairing dialogue. When a phone connects, bluetoothd discovers the
    /// phone's services. If the phone is an iPhone, bluetoothd also reads its battery level, and
    /// the iPhone then shows a pairing dialogue.
    private var popUp: DoctorCheck {
        guard let daemonConfiguration else {
            return DoctorCheck(
                "iPhone pop-up", .warn, "/etc/bluetooth/main.conf cannot be read",
                remedy: Self.remedy)
        }
        return Self.isQuiet(daemonConfiguration)
            ? DoctorCheck(
                "iPhone pop-up", .ok,
                "bluetoothd does not discover the GATT services of connected phones, so iPhones show no pairing request"
            )
            : DoctorCheck(
                "iPhone pop-up", .warn,
                "bluetoothd reads the battery level of phones, so iPhones show a pairing request",
                remedy: Self.remedy)
    }

    private static let remedy =
        "Set ReverseServiceDiscovery = false below [General] in /etc/bluetooth/main.conf, then run `systemctl restart bluetooth`."

    /// True if main.conf prevents bluetoothd from discovering the services of connected phones.
    static func isQuiet(_ configuration: String) -> Bool {
        var section = ""
        for line in configuration.split(whereSeparator: \.isNewline) {
            let text = line.filter { !$0.isWhitespace }.lowercased()
            if text.hasPrefix("#") { continue }
            if text.hasPrefix("["), text.hasSuffix("]") { section = text }
            if section == "[general]", text == "reverseservicediscovery=false" { return true }
            if section == "[gatt]", text == "client=false" { return true }
        }
        return false
    }
}
