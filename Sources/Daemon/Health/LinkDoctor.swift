import Configuration
import Wire

/// Check of `doctor` for the network links: it warns of links that can move the camera or the
/// wheels without a key. The type only computes; it reads neither files nor sockets.
struct LinkDoctor {
    let settings: Settings

    /// The result of the check; empty if no link is open to a network.
    var checks: [DoctorCheck] {
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
