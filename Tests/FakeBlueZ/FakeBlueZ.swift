package import CFakeBlueZ
import Foundation

/// The fake bluetoothd of Tests/CFakeBlueZ, driven by the thread that calls `process`.
package final class FakeBlueZ {
    package static let phone = "/org/bluez/hci0/dev_C0_1A_B0_00_00_02"

    private let handle: OpaquePointer

    package init(_ bus: PrivateBus) throws {
        var handle: OpaquePointer?
        let error = fake_open(bus.address, &handle)
        guard error == 0, let handle else { throw POSIXError(.init(rawValue: error) ?? .EIO) }
        self.handle = handle
    }

    /// Another program on the bus, without a name, that sends messages to the client of `other`.
    package init(strangerOn bus: PrivateBus, beside other: FakeBlueZ) throws {
        var handle: OpaquePointer?
        let error = fake_open_stranger(bus.address, other.handle, &handle)
        guard error == 0, let handle else { throw POSIXError(.init(rawValue: error) ?? .EIO) }
        self.handle = handle
    }

    deinit { fake_close(handle) }

    package var state: fake_state { fake_look(handle).pointee }
    package var replies: Int { Int(fake_look(handle).pointee.replies) }
    package var errors: Int { Int(fake_look(handle).pointee.errors) }
    package var notifications: Int { Int(fake_look(handle).pointee.notifications) }
    package var disconnections: Int { Int(fake_look(handle).pointee.disconnections) }
    package var isPowered: Bool { fake_look(handle).pointee.powered != 0 }
    package var switchedOff: Int { Int(fake_look(handle).pointee.switched_off) }
    package var applications: Int { Int(fake_look(handle).pointee.applications) }
    package var advertisements: Int { Int(fake_look(handle).pointee.advertisements) }
    package var handles: [UInt16] {
        let state = fake_look(handle).pointee
        return withUnsafeBytes(of: state.handles) {
            Array($0.bindMemory(to: UInt16.self).prefix(Int(state.handle_count)))
        }
    }
    package var descriptor: Int32 { fake_descriptor(handle) }
    package func process() { _ = fake_process(handle) }

    package func refuse(_ member: String?, _ error: String = "", _ message: String = "") {
        fake_refuse(handle, member, error, message)
    }
    package func abdicate() { fake_abdicate(handle) }
    package func say(active: UInt8) { fake_say_active(handle, active) }
    package func say(isPowered: Bool) { fake_say_powered(handle, isPowered) }
    package func connect(_ device: String = phone, _ isOn: Bool) {
        fake_connect(handle, device, isOn)
    }
    package func say(icon: String, of device: String) { fake_say_icon(handle, device, icon) }
    package func say(isPaired: Bool, of device: String) {
        fake_say_paired(handle, device, isPaired)
    }
    package func show(passkey: UInt32, of device: String = phone) {
        fake_show_passkey(handle, device, passkey)
    }

    package func write(_ path: String, _ bytes: [UInt8], device: String = phone, offset: UInt16 = 0)
    {
        fake_write(handle, path, device, bytes, bytes.count, offset)
    }
    package func read(_ path: String, device: String = phone, offset: UInt16 = 0) {
        fake_read(handle, path, device, offset)
    }
    package func call(_ path: String, _ interface: String, _ member: String) {
        fake_call(handle, path, interface, member)
    }
    package func get(_ path: String, _ interface: String, _ name: String) {
        fake_get(handle, path, interface, name)
    }
    package func callWrongly(_ path: String, _ kind: Int) {
        fake_call_wrongly(handle, path, UInt32(kind))
    }
    package func signalWrongly(_ kind: Int) { fake_signal_wrongly(handle, UInt32(kind)) }

    /// - Returns: 0 or an errno.
    package func spoof(_ kind: Int, device: String = phone) -> Int32 {
        fake_spoof(handle, UInt32(kind), device)
    }

    /// The name of the last error, without its prefix.
    package var error: String { string(state.error).replacing("org.bluez.Error.", with: "") }
    package var message: String { string(state.message) }
    package var alias: String { string(state.alias) }
    package var value: [UInt8] {
        withUnsafeBytes(of: state.value) { Array($0.prefix(state.count)) }
    }
    package var objects: [String] {
        String(cString: fake_objects(handle)).split(separator: "\n").map(String.init)
    }
}

/// A C string in a fixed array.
private func string<T>(_ tuple: T) -> String {
    withUnsafeBytes(of: tuple) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
}
