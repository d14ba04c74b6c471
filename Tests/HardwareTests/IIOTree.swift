import Glibc
import Testing

@testable import Hardware

/// A simulated tree of IIO devices in its own folder. The device files are pipes. The other files
/// keep every value that is written to them, like files of a driver that accepts every value.
final class MadeUpIIO {
    let folder: String
    let tree: IIOTree
    private var pipes: [Int: Int32] = [:]

    init() {
        var path = Array("/tmp/airframe-iio-XXXXXX".utf8CString)
        precondition(mkdtemp(&path) != nil)
        folder = String(decoding: path.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        tree = IIOTree(devices: "\(folder)/sys", files: "\(folder)/dev")
        mkdir(tree.devices, 0o755)
        mkdir(tree.files, 0o755)
    }

    deinit {
        for pipe in pipes.values { close(pipe) }
        Self.remove(folder)
    }

    static func remove(_ path: String) {
        for entry in KernelFolder(path: path).entries {
            var kind = stat()
            let child = "\(path)/\(entry)"
            if lstat(child, &kind) == 0, kind.st_mode & S_IFMT == S_IFDIR {
                remove(child)
            } else {
                unlink(child)
            }
        }
        rmdir(path)
    }

    func write(_ text: String, to file: String) {
        let path = "\(tree.devices)/\(file)"
        var parent = tree.devices
        for part in file.split(separator: "/").dropLast() {
            parent += "/\(part)"
            mkdir(parent, 0o755)
        }
        let handle = fopen(path, "w")
        precondition(handle != nil, path)
        fputs(text + "\n", handle)
        fclose(handle)
    }

    func text(_ file: String) -> String? { KernelFolder(path: tree.devices).text(file) }

    /// Adds a device whose buffer has these channels in this order, then the timestamp.
    func add(
        _ number: Int, name: String, channels: [(String, String)], timestamp: Bool = true,
        files: [String: String] = [:]
    ) {
        let device = "iio:device\(number)"
        write(name, to: "\(device)/name")
        write("realtime", to: "\(device)/current_timestamp_clock")
        for (file, text) in files { write(text, to: "\(device)/\(file)") }
        let all = channels + (timestamp ? [("in_timestamp", "le:s64/64>>0")] : [])
        for (index, channel) in all.enumerated() {
            write("1", to: "\(device)/scan_elements/\(channel.0)_en")
            write("\(index)", to: "\(device)/scan_elements/\(channel.0)_index")
            write(channel.1, to: "\(device)/scan_elements/\(channel.0)_type")
        }
        write("0", to: "\(device)/buffer/enable")
        write("2", to: "\(device)/buffer/length")
        let path = tree.file(number)
        precondition(mkfifo(path, 0o600) == 0)
        pipes[number] = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
    }

    /// Delivers bytes from a device to its readers.
    func deliver(_ bytes: [UInt8], from number: Int) {
        precondition(Glibc.write(pipes[number] ?? -1, bytes, bytes.count) == bytes.count)
    }

    /// Removes a device, as the kernel does when its chip is unplugged.
    func removeDevice(_ number: Int) {
        Self.remove("\(tree.devices)/iio:device\(number)")
        unlink(tree.file(number))
        if let pipe = pipes.removeValue(forKey: number) { close(pipe) }
    }

    /// The six channels of an inertial sensor.
    static func axes(_ quantity: String, _ format: String) -> [(String, String)] {
        ["x", "y", "z"].map { ("in_\(quantity)_\($0)", format) }
    }

    /// Files of a gyroscope and an accelerometer with four ranges each, like those of the kernel's
    /// inv_mpu6050.
    static let mpuFiles = [
        "in_anglvel_scale": "0.000133090",
        "in_anglvel_scale_available": "0.000133090 0.000266181 0.000532362 0.001064724",
        "in_accel_scale": "0.000598",
        "in_accel_scale_available": "0.000598 0.001196 0.002392 0.004785",
        "sampling_frequency": "50",
        "sampling_frequency_available": "10 20 50 100 200 500",
        "in_accel_mount_matrix": "0, -1, 0; 1, 0, 0; 0, 0, 1",
        "in_anglvel_mount_matrix": "0, -1, 0; 1, 0, 0; 0, 0, 1",
    ]

    /// Adds the device of an MPU-6050: accelerometer, temperature, gyroscope.
    func addMPU(_ number: Int = 0, files: [String: String] = [:]) {
        let format = "be:s16/16>>0"
        add(
            number, name: "mpu6050",
            channels: Self.axes("accel", format) + [("in_temp", format)]
                + Self.axes("anglvel", format),
            files: Self.mpuFiles.merging([
                "in_temp_scale": "2.941176", "in_temp_offset": "12420",
            ]) { $1 }.merging(files) { $1 })
    }

    /// A scan of big-endian words and a timestamp, with the kernel's padding.
    static func scan(_ words: [Int16], time: Int64) -> [UInt8] {
        var bytes = words.flatMap { word in
            let bits = UInt16(bitPattern: word)
            return [UInt8(bits >> 8), UInt8(bits & 0xFF)]
        }
        while bytes.count % 8 != 0 { bytes.append(0xAA) }
        return bytes
            + (0..<8).map {
                UInt8(truncatingIfNeeded: UInt64(bitPattern: time) >> (8 * UInt64($0)))
            }
    }
}
