import Links
import Port
import SystemPackage
import Wire

/// What the diagnostics socket may ask of the radio.
struct BluetoothDoor: Sendable {
    /// bluetoothd's own configuration.
    private static let daemonConfiguration: FilePath = "/etc/bluetooth/main.conf"

    /// Nil when it is off.
    let server: BluetoothServer?
    /// `bluetooth.enabled`.
    let isEnabled: Bool

    /// - Throws: What is in the way of pairing.
    func pair(_ request: PairRequest) throws(Refusal) -> BluetoothStatus {
        guard let server else {
            throw Refusal(
                .refused,
                isEnabled
                    ? "There is no radio while a simulator owns time."
                    : "The radio is off: set bluetooth.enabled = true and restart airframed.")
        }
        let status = server.status
        switch request {
        case .status: break
        case .allow(let seconds):
            guard status.security == BluetoothConfiguration.Security.encrypted.rawValue else {
                throw Refusal(
                    .refused,
                    "Nobody has to pair: bluetooth.security is \"\(status.security)\". Set it to \"encrypted\" and restart airframed."
                )
            }
            server.allowPairing(seconds: seconds)
        case .forget(let address):
            guard status.bonds.contains(where: { $0.address == address }) else {
                let known = status.bonds.map(\.address).joined(separator: ", ")
                throw Refusal(
                    .refused,
                    "\(address.prefix(32)) is not paired. "
                        + (known.isEmpty ? "Nobody is." : "These are: \(known)."),
                    field: "address")
            }
            server.forget(address: address)
        }
        return status
    }

    /// The radio's lines of `doctor`; none while it is off.
    func checks(_ status: BluetoothStatus?) -> [DoctorCheck] {
        guard let status else { return [] }
        return BluetoothDoctor(status: status, daemonConfiguration: Self.readConfiguration()).checks
    }

    /// Nil where it cannot be read.
    private static func readConfiguration() -> String? {
        guard let file = try? FileDescriptor.open(daemonConfiguration, .readOnly) else {
            return nil
        }
        defer { try? file.close() }
        let limit = 64 * 1024
        return try? String(unsafeUninitializedCapacity: limit) { buffer in
            try file.read(into: UnsafeMutableRawBufferPointer(buffer))
        }
    }
}
