import FakeBlueZ
import Wire

/// The real daemon on a private D-Bus. The daemon has registered its Bluetooth services with a fake
/// bluetoothd, and its outputs are on.
struct RadioRig {
    let radio: FakeBlueZ
    let process: DaemonProcess
    private let bus: PrivateBus

    /// Starts the daemon. If the daemon does not start, the initializer reports the reason, and the
    /// result is nil.
    ///
    /// - Parameters:
    ///   - daemon: Path of the daemon's program.
    ///   - settings: Settings as `KEY=VALUE`, in addition to those of Bluetooth.
    ///   - report: Report to which the reason for a failure is added.
    /// - Throws: The reason why a process or a bus cannot start.
    init?(_ daemon: String, settings: [String], _ report: inout BenchReport) throws {
        bus = try PrivateBus()
        radio = try FakeBlueZ(bus)
        process = try DaemonProcess(
            daemon, settings: ["bluetooth.enabled=true"] + settings, bus: bus.address)
        let radio = radio
        guard radio.serve(until: { radio.advertisements > 0 }),
            process.status(where: { $0["enabled"]?.bool == true }) != nil
        else {
            report.fail("no service on the bus, or the outputs are off: \(process.log)")
            return nil
        }
    }
}
