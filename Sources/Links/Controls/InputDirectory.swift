import CLinuxShim
import GimbalCore
import Glibc
import SystemPackage

/// Source of input devices: the kernel, or a test.
protocol InputDirectory: Sendable {
    /// Descriptor that becomes readable when devices are connected or disconnected; nil if the
    /// source does not report these changes.
    var changes: FileDescriptor? { get }
    /// Names of all devices, such as event3.
    func nodes() -> [String]
    /// Properties of a device; nil if the device has been removed.
    func description(of node: String) -> InputDescription?
    /// Opens a device for non-blocking reading.
    func open(_ node: String) throws(Errno) -> FileDescriptor
    /// Present state of an open device with the given axes; nil if the device has been removed.
    func state(_ descriptor: FileDescriptor, axes: Set<UInt16>) -> InputState?
}

/// Input devices of the kernel in /dev/input. The devices' properties are read from /sys. Therefore
/// unused devices, such as keyboards, need not be opened.
final class KernelInputs: InputDirectory {
    private static let devices = FilePath("/dev/input")
    private static let properties = FilePath("/sys/class/input")

    let changes: FileDescriptor?

    init() {
        // udev sets the permissions of a device file after its creation; therefore IN_ATTRIB is
        // also watched.
        let descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        guard descriptor >= 0 else {
            changes = nil
            return
        }
        let events = UInt32(IN_CREATE | IN_ATTRIB | IN_DELETE)
        guard inotify_add_watch(descriptor, Self.devices.string, events) >= 0 else {
            close(descriptor)
            changes = nil
            return
        }
        changes = FileDescriptor(rawValue: descriptor)
    }

    deinit { try? changes?.close() }

    func nodes() -> [String] {
        guard let directory = opendir(Self.devices.string) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name.hasPrefix("event") { names.append(name) }
        }
        return names.sorted()
    }

    func description(of node: String) -> InputDescription? {
        let folder = Self.properties.appending(node).appending("device")
        guard let name = Self.text(folder.appending("name")) else { return nil }
        var description = InputDescription(name: name)
        let bus = Self.text(folder.appending("id").appending("bustype")) ?? ""
        description.bus = UInt16(bus, radix: 16) ?? 0
        func codes(_ kind: String) -> Set<UInt16> {
            InputDescription.codes(
                inBitmap: Self.text(folder.appending("capabilities").appending(kind)) ?? "")
        }
        description.keys = codes("key")
        description.axes = codes("abs")
        description.dials = codes("rel")
        description.properties = InputDescription.codes(
            inBitmap: Self.text(folder.appending("properties")) ?? "")
        return description
    }

    func open(_ node: String) throws(Errno) -> FileDescriptor {
        let path = Self.devices.appending(node)
        let descriptor: FileDescriptor
        do {
            descriptor = try FileDescriptor.open(
                path, .readOnly, options: [.nonBlocking, .closeOnExec])
        } catch {
            throw error as? Errno ?? .ioError
        }
        let error = cl_input_use_monotonic(descriptor.rawValue)
        guard error == 0 else {
            try? descriptor.close()
            throw Errno(rawValue: error)
        }
        return descriptor
    }

    func state(_ descriptor: FileDescriptor, axes: Set<UInt16>) -> InputState? {
        var state = InputState()
        var bits = [UInt8](repeating: 0, count: 96)
        guard cl_input_keys(descriptor.rawValue, &bits, bits.count) == 0 else { return nil }
        for code in 0..<768 where bits[code / 8] & (1 << (code % 8)) != 0 {
            state.pressed.insert(UInt16(code))
        }
        for code in axes where code <= 0x3F {
            var (value, lower, upper): (Int32, Int32, Int32) = (0, 0, 0)
            guard cl_input_axis(descriptor.rawValue, code, &value, &lower, &upper) == 0 else {
                return nil
            }
            if lower <= upper {
                state.axes[code] = InputState.Axis(value: value, range: lower...upper)
            }
        }
        return state
    }

    /// First 4096 bytes of a file in /sys, without the line end; nil if the file cannot be read.
    private static func text(_ path: FilePath) -> String? {
        guard let file = try? FileDescriptor.open(path, .readOnly, options: .closeOnExec) else {
            return nil
        }
        defer { try? file.close() }
        return withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { buffer in
            guard let count = try? file.read(into: buffer) else { return nil }
            var text = String(decoding: buffer.prefix(count), as: UTF8.self)
            while text.last?.isNewline == true { text.removeLast() }
            return text
        }
    }
}
