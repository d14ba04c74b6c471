public import GimbalCore
public import Port
public import Wire

/// What the daemon offers to AirOS apps; the service owns the bytes, the daemon implements this.
///
/// Called on airframed-ble; nothing waits. What is refused changes nothing.
public protocol AirOSBackend: Sendable {
    /// How often a subscribed value is sent, Hz.
    var notifyHz: Double { get }
    /// Where the camera looks; nil before the sensor's first sample.
    var angles: AirOSAngles? { get }
    /// The mode in force, or asked for and about to be.
    var mode: AirOSMode { get }
    /// The status of that mode, or that something is calibrated.
    var status: AirOSStatus { get }
    /// The gains of an axis, as written.
    func pid(_ axis: GimbalAxis) -> PIDTriple
    /// The numbers of the filter, as written.
    var kalman: KalmanTriple { get }

    /// Changes the mode. `now` is here and below when the request was received, for dead-men and `Stage.request`.
    func setMode(_ mode: AirOSMode, by central: Central, now: Instant) throws(Refusal)
    /// Changes the gains of an axis.
    func setPID(
        _ pid: PIDTriple, of axis: GimbalAxis, by central: Central, now: Instant
    ) throws(Refusal)
    /// Changes the numbers of the filter.
    func setKalman(_ kalman: KalmanTriple, by central: Central, now: Instant) throws(Refusal)
    /// Does what was written to the control characteristic. What has to reach the disk is answered `later`.
    func carryOut(
        _ command: AirOSCommand, by central: Central, now: Instant, later: GATTLater
    ) throws(Refusal)
    /// The connection ended: what it turns stands still at once.
    func disconnected(_ central: Central, now: Instant)
}
