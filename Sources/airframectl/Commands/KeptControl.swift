import Client
import Wire

/// Control that a command keeps with repeated requests. Without requests, the command loses control
/// after `commander.release_after_s`.
enum KeptControl {
    /// Interval between repeated requests with the daemon's present settings, s.
    static func period(_ client: DaemonClient, atMost longest: Double) throws -> Double {
        let settings: [Wire.Setting] = try client.request(
            .get, ["keys": ["commander.release_after_s"]])
        return period(releaseAfter: settings.first?.value.number ?? longest, atMost: longest)
    }

    /// Interval between repeated requests, s: a third of the time after which airframed releases
    /// control, so that the command keeps control if a request is late.
    static func period(releaseAfter: Double, atMost longest: Double) -> Double {
        min(longest, releaseAfter / 3)
    }
}
