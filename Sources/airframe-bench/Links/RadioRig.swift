import FakeBlueZ
import Wire

/// The real program on a private D-Bus, where a fake bluetoothd has its services, with the outputs
/// on.
struct RadioRig {
    let radio: FakeBlueZ
    let process: DaemonProcess
    private let bus: PrivateBus

    /// Starts it; nil, and said, when it does not come up.
    ///
    /// - Parameters:
    ///   - daemon: The program.
    ///   - settings: `KEY=VALUE` beside the radio's.
    ///   - report: Hears why not.
    /// - Throws: What stands in the way of a process or a bus.
    init?(_ daemon: String, settings: [String], _ report: inout BenchReport) throws {
        bus = try PrivateBus()
        radio = try FakeBlueZ(bus)
        process = try DaemonProcess(
            daemon, settings: ["bluetooth.enabled=true"] + settings, bus: bus.address)
        let radio = radio
        guard radio.serve(until: { radio.advertisements > 0 }),
            process.status(where: { $0["enabled"]?.bool == true }) != nil
        else {
            report.fail("no service on the bus, or no outputs: \(process.log)")
            return nil
        }
    }
}
