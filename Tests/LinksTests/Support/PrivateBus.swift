import CFakeBlueZ
import CLinuxShim
import Foundation
import Glibc

/// A dbus-daemon of its own, on which nobody but the test is. It ends with this object.
final class PrivateBus {
    let address: String
    private let directory = TemporaryDirectory()
    private var daemon: pid_t = 0

    init() throws {
        let path = directory.file("bus")
        address = "unix:path=\(path)"
        let configuration = """
            <busconfig><type>session</type><listen>\(address)</listen><auth>EXTERNAL</auth>
            <policy context="default"><allow send_destination="*"/><allow receive_sender="*"/>
            <allow own="*"/></policy></busconfig>
            """
        let file = directory.file("bus.conf")
        try configuration.write(toFile: file, atomically: false, encoding: .utf8)
        try start(["dbus-daemon", "--nofork", "--nopidfile", "--config-file=\(file)"], path)
    }

    /// Not by Foundation's Process: waiting for one needs a run loop, which the threads of tests have not.
    private func start(_ arguments: [String], _ path: String) throws {
        var words = arguments.map { strdup($0) } + [nil]
        defer { words.forEach { free($0) } }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        // It complains about a limit on descriptors that nobody here reaches.
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        defer { posix_spawn_file_actions_destroy(&actions) }
        let error = posix_spawnp(&daemon, "dbus-daemon", &actions, nil, &words, environ)
        guard error == 0 else { throw POSIXError(.init(rawValue: error) ?? .EIO) }
        // The file is there before anybody listens.
        var connection: Int32 = -1
        var attempts = 0
        while cl_socket_connect(path, &connection) != 0, attempts < 5000 {
            usleep(1000)
            attempts += 1
        }
        close(connection)
    }

    /// Ends the bus under everybody's feet.
    func stop() {
        guard daemon > 0 else { return }
        kill(daemon, SIGKILL)
        waitpid(daemon, nil, 0)
        daemon = 0
    }

    /// Lets it hang until it is stopped.
    func freeze() { kill(daemon, SIGSTOP) }

    deinit { stop() }
}

/// The fake bluetoothd of Tests/FakeBlueZ.
final class FakeBlueZ {
    static let phone = "/org/bluez/hci0/dev_C0_1A_B0_00_00_02"

    private let handle: OpaquePointer

    init(_ bus: PrivateBus) throws {
        var handle: OpaquePointer?
        let error = fake_open(bus.address, &handle)
        guard error == 0, let handle else { throw POSIXError(.init(rawValue: error) ?? .EIO) }
        self.handle = handle
    }

    deinit { fake_close(handle) }

    var state: fake_state { fake_look(handle).pointee }
    var replies: Int { Int(fake_look(handle).pointee.replies) }
    var notifications: Int { Int(fake_look(handle).pointee.notifications) }
    var disconnections: Int { Int(fake_look(handle).pointee.disconnections) }
    var applications: Int { Int(fake_look(handle).pointee.applications) }
    var advertisements: Int { Int(fake_look(handle).pointee.advertisements) }
    var handles: [UInt16] {
        let state = fake_look(handle).pointee
        return withUnsafeBytes(of: state.handles) {
            Array($0.bindMemory(to: UInt16.self).prefix(Int(state.handle_count)))
        }
    }
    var descriptor: Int32 { fake_descriptor(handle) }
    func process() { _ = fake_process(handle) }

    func refuse(_ member: String?, _ error: String = "", _ message: String = "") {
        fake_refuse(handle, member, error, message)
    }
    func abdicate() { fake_abdicate(handle) }
    func say(active: UInt8) { fake_say_active(handle, active) }
    func say(isPowered: Bool) { fake_say_powered(handle, isPowered) }
    func connect(_ device: String = phone, _ isOn: Bool) { fake_connect(handle, device, isOn) }

    func write(_ path: String, _ bytes: [UInt8], device: String = phone, offset: UInt16 = 0) {
        fake_write(handle, path, device, bytes, bytes.count, offset)
    }
    func read(_ path: String, device: String = phone, offset: UInt16 = 0) {
        fake_read(handle, path, device, offset)
    }
    func call(_ path: String, _ interface: String, _ member: String) {
        fake_call(handle, path, interface, member)
    }
    func get(_ path: String, _ interface: String, _ name: String) {
        fake_get(handle, path, interface, name)
    }
    func callWrongly(_ path: String, _ kind: Int) { fake_call_wrongly(handle, path, UInt32(kind)) }
    func signalWrongly(_ kind: Int) { fake_signal_wrongly(handle, UInt32(kind)) }

    /// The name of the last error, without its prefix.
    var error: String { string(state.error).replacing("org.bluez.Error.", with: "") }
    var message: String { string(state.message) }
    var alias: String { string(state.alias) }
    var value: [UInt8] { withUnsafeBytes(of: state.value) { Array($0.prefix(state.count)) } }
    var objects: [String] {
        String(cString: fake_objects(handle)).split(separator: "\n").map(String.init)
    }
}

/// A C string in a fixed array.
private func string<T>(_ tuple: T) -> String {
    withUnsafeBytes(of: tuple) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
}
