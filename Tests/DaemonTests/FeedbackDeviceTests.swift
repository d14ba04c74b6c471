import CLinuxShim
import Configuration
import GimbalCore
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import Daemon

@Suite("Vibration and tones of input devices") struct FeedbackDeviceTests {
    /// Simulated kernel interface: records uploaded effects and written events.
    final class Kernel {
        var uploads: [(isPeriodic: Bool, length: UInt16)] = []
        var events: [[Int]] = []
        var uploadError: Int32 = 0
        var writeError: Int32 = 0

        func device(_ root: FilePath) -> FeedbackDevice {
            FeedbackDevice(
                root: root, log: .silent,
                upload: { _, isPeriodic, length, effect in
                    self.uploads.append((isPeriodic != 0, length))
                    effect.pointee = 7
                    return self.uploadError
                },
                write: { _, type, code, value in
                    self.events.append([Int(type), Int(code), Int(value)])
                    return self.writeError
                })
        }
    }

    /// Adds an input device to the test directory.
    private func add(
        _ root: FilePath, _ node: String, _ name: String, ff: String = "0", snd: String = "0"
    ) throws {
        let device = root.appending("sys/class/input/\(node)/device")
        var path = root
        for part in "sys/class/input/\(node)/device/capabilities".split(separator: "/") {
            path.append(String(part))
            if mkdir(path.string, 0o755) != 0 { continue }
        }
        try write(name + "\n", to: device.appending("name"))
        try write(ff + "\n", to: device.appending("capabilities/ff"))
        try write(snd + "\n", to: device.appending("capabilities/snd"))
        mkdir(root.appending("dev").string, 0o755)
        mkdir(root.appending("dev/input").string, 0o755)
        try write("", to: root.appending("dev/input/\(node)"))
    }

    @Test("a gamepad vibrates with the pattern of the buzzer, and uploads its effect once")
    func rumble() throws {
        try withTemporaryDirectory { root throws in
            try add(root, "event2", "Keyboard")
            // Bits of FF_RUMBLE (0x50), FF_PERIODIC (0x51) and FF_SINE (0x5A), as the driver xpad
            // reports them.
            try add(root, "event5", "Pad", ff: "107030000 0")
            let kernel = Kernel()
            var writer = SignalWriter(feedback: kernel.device(root), log: .silent)
            var settings = Settings().signals
            settings.feedbackDevice = "Pad"
            let start = Instant(nanoseconds: 1_000_000_000)
            for step in 0..<60 {
                writer.show(
                    .fault(2), settings, now: start.advanced(bySeconds: 0.05 * Double(step)))
            }
            #expect(kernel.events == [[0x15, 7, 1], [0x15, 7, 0], [0x15, 7, 1], [0x15, 7, 0]])
            #expect(kernel.uploads.map(\.isPeriodic) == [false])
            #expect(kernel.uploads.allSatisfy { $0.length <= 1000 }, "ends without a stop")
        }
    }

    @Test("a beeper sounds, and stops at the end of the service")
    func tone() throws {
        try withTemporaryDirectory { root throws in
            try add(root, "event0", "pwm-beeper", snd: "6")
            let kernel = Kernel()
            var device = kernel.device(root)
            device.set(true, name: "pwm-beeper")
            device.turnOff()
            #expect(kernel.events == [[0x12, 2, 2500], [0x12, 2, 0]])
            #expect(kernel.uploads.isEmpty)
        }
    }

    @Test("a device that was disconnected is used again for the next signal")
    func reconnects() throws {
        try withTemporaryDirectory { root throws in
            try add(root, "event5", "Motor", ff: "20000 0")
            let kernel = Kernel()
            var device = kernel.device(root)
            device.set(true, name: "Absent")
            #expect(kernel.events.isEmpty)
            device.set(true, name: "Motor")
            #expect(kernel.uploads.map(\.isPeriodic) == [true])
            kernel.writeError = ENODEV
            device.set(false, name: "Motor")
            kernel.writeError = 0
            device.set(true, name: "Motor")
            #expect(kernel.uploads.count == 2)
            #expect(kernel.events.last == [0x15, 7, 1])
            device.set(true, name: "off")
            #expect(kernel.events.last == [0x15, 7, 0])
        }
    }

    @Test("an event has the layout of struct input_event, with SYN_REPORT after it")
    func layout() throws {
        let (reader, writer) = try FileDescriptor.pipe()
        defer {
            try? reader.close()
            try? writer.close()
        }
        #expect(cl_input_write(writer.rawValue, 0x15, 7, 1) == 0)
        var bytes = [UInt8](repeating: 0xFF, count: 64)
        let count = try bytes.withUnsafeMutableBytes { try reader.read(into: $0) }
        let time = 2 * MemoryLayout<Int>.size
        #expect(count == 2 * (time + 8))
        #expect(Array(bytes[time..<time + 8]) == [0x15, 0, 7, 0, 1, 0, 0, 0])
        #expect(Array(bytes[2 * time + 8..<2 * time + 16]) == [UInt8](repeating: 0, count: 8))
        // An effect cannot be uploaded to a file that is not an input device.
        var effect: Int32 = -1
        #expect(cl_input_upload_effect(writer.rawValue, 0, 1000, &effect) == ENOTTY)
        #expect(effect == -1)
    }
}
