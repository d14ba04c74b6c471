import Configuration
import Wire

/// Checks of `doctor` for the links. The checks warn of network links that can move the camera or
/// the wheels without a key, and of buttons, sticks and gamepads that cannot be opened. The checks
/// read neither files nor sockets.
struct LinkDoctor {
    let settings: Settings
    /// State of the buttons, sticks and gamepads; nil if they are not used.
    var controls: ControlsReport?

    /// The results of the checks; empty if no link is open to a network, and no button, stick or
    /// gamepad is connected.
    var checks: [DoctorCheck] { network + buttons }

    private var buttons: [DoctorCheck] {
        guard let controls, controls.isEnabled else { return [] }
        if let problem = controls.problem {
            return [
                DoctorCheck(
                    "controls", .warn, "an input device is not used",
                    remedy: problem)
            ]
        }
        let names = controls.devices.map(\.name)
        return names.isEmpty ? [] : [DoctorCheck("controls", .ok, names.joined(separator: ", "))]
    }

    private var network: [DoctorCheck] {
        var open: [String] = []
        var keyed: [String] = []
        func judge(_ link: String, _ listen: String, needsKey: Bool, mayMove: Bool) {
            guard let endpoint = NetworkEndpoint(listen), !endpoint.isThisComputer else { return }
            if needsKey { keyed.append(link) } else if mayMove { open.append(link) }
        }
        judge(
            "mavlink", settings.mavlink.listen, needsKey: settings.mavlink.requireSignature,
            mayMove: settings.commander.allowMavlink)
        judge(
            "rider", settings.rider.listen, needsKey: settings.rider.requireSignature,
            mayMove: settings.commander.allowUdp)
        if !open.isEmpty {
            return [
                DoctorCheck(
                    "network", .warn,
                    "\(open.joined(separator: " and ")) without a key: anyone who can reach the port can move the gimbal",
                    remedy: open.map { "set \($0).require_signature = true" }.joined(
                        separator: ", ")
                        + " and write a key file, or keep strangers out of this network.")
            ]
        }
        if keyed.isEmpty { return [] }
        return [DoctorCheck("network", .ok, "\(keyed.joined(separator: " and ")) with a key")]
    }
}

extension NetworkEndpoint {
    /// True if only programs on the same computer can reach the address.
    fileprivate var isThisComputer: Bool { host.hasPrefix("127.") || host == "::1" }
}
