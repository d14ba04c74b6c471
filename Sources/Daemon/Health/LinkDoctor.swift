import Configuration
import Wire

/// The doctor's check of the links over networks: it warns of those that move the camera or the
/// wheels without a key. Pure.
struct LinkDoctor {
    let settings: Settings

    /// One check; none where no link is open to a network.
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
                    "\(open.joined(separator: " and ")) without a key: anyone who reaches the port may steer",
                    remedy: open.map { "\($0).require_signature = true" }.joined(separator: ", ")
                        + " and write a key file, or keep strangers out of that network.")
            ]
        }
        if keyed.isEmpty { return [] }
        return [DoctorCheck("network", .ok, "\(keyed.joined(separator: " and ")) with a key")]
    }
}

extension NetworkEndpoint {
    /// True where only programs on the same computer reach it.
    fileprivate var isThisComputer: Bool { host.hasPrefix("127.") || host == "::1" }
}
