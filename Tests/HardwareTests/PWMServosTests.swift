import CMallocCounter
import GimbalCore
import Glibc
import Realtime
import Testing

@testable import Hardware

/// A folder with the files of a PWM chip. Ordinary files accept written values like the kernel's
/// files.
private final class PWMFolder {
    /// Files of a channel.
    static let names = ["period", "duty_cycle", "enable", "polarity"]
    let path: String

    init(channels: Int) {
        var template = Array("/tmp/airframe-pwm-XXXXXX".utf8CString)
        path = mkdtemp(&template).map { String(cString: $0) } ?? ""
        for channel in 0..<channels {
            mkdir("\(path)/pwm\(channel)", 0o755)
            for name in Self.names { write("", "pwm\(channel)/\(name)") }
        }
    }

    deinit {
        for channel in 0..<16 {
            for name in Self.names { unlink("\(path)/pwm\(channel)/\(name)") }
            rmdir("\(path)/pwm\(channel)")
        }
        rmdir(path)
    }

    func write(_ text: String, _ name: String) {
        let file = open("\(path)/\(name)", O_WRONLY | O_CREAT | O_TRUNC, 0o644)
        _ = text.utf8CString.withUnsafeBytes { Glibc.write(file, $0.baseAddress, text.utf8.count) }
        close(file)
    }

    /// Replaces a file by a symbolic link.
    func replace(_ name: String, with target: String) {
        unlink("\(path)/\(name)")
        symlink(target, "\(path)/\(name)")
    }

    /// Makes every further write to an open file fail.
    func breakOpenFile(_ name: String) {
        var wanted = stat()
        stat("\(path)/\(name)", &wanted)
        let full = open("/dev/full", O_WRONLY)
        defer { close(full) }
        for descriptor: Int32 in 3..<1024 {
            var found = stat()
            guard fstat(descriptor, &found) == 0, found.st_dev == wanted.st_dev,
                found.st_ino == wanted.st_ino
            else { continue }
            dup2(full, descriptor)
        }
    }

    /// The number that was written last. An ordinary file keeps the end of a longer, earlier
    /// number.
    func number(_ name: String, digits: Int) -> Int? { Int(text(name, count: digits)) }

    /// The first bytes of a file.
    func text(_ name: String, count: Int) -> String {
        let file = open("\(path)/\(name)", O_RDONLY)
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 32)
        let found = read(file, &bytes, bytes.count)
        return String(decoding: bytes.prefix(min(max(found, 0), count)), as: UTF8.self)
    }
}

@Suite("Servos on a PWM chip")
struct PWMServosTests {
    private let folder = PWMFolder(channels: 3)
    private let servos: PWMServos
    private static let start = Instant(nanoseconds: 1_000_000_000)

    init() {
        let servo = ServoPulse(shortest: 1e-3, longest: 2e-3, travel: .pi / 2)
        servos = PWMServos(
            chip: folder.path, channels: [0, 1, 2],
            pulses: ServoPulses(yaw: servo, roll: servo, pitch: servo), frameRate: 50)
    }

    private func duty(_ channel: Int) -> Int? {
        folder.number("pwm\(channel)/duty_cycle", digits: 7)
    }
    private func isOn(_ channel: Int) -> Int? { folder.number("pwm\(channel)/enable", digits: 1) }

    private func output(pitch: Double) -> MotorOutput {
        MotorOutput(
            enabled: true, angle: AxisVector(yaw: 0, roll: 0, pitch: pitch),
            power: AxisVector(repeating: 1))
    }

    @Test("sets the period and sends no pulses before the first request")
    func setUp() throws {
        #expect(try servos.prepare(now: Self.start))
        #expect(folder.number("pwm1/period", digits: 8) == 20_000_000)
        for channel in 0..<3 { #expect(isOn(channel) == 0) }
    }

    @Test("a channel that starts with inverted pulses gets normal ones, after its period")
    func polarity() throws {
        let files = ExportedFiles()
        files.areReady = true
        let servos = exported(files)
        #expect(try servos.prepare(now: Self.start))
        for channel in 0..<3 {
            #expect(files.folder.text("pwm\(channel)/polarity", count: 6) == "normal")
            // The kernel rejects a polarity if the period is 0.
            let names = files.opened.filter { $0.hasPrefix("pwm\(channel)/") }
            #expect(names.first == "pwm\(channel)/period")
            #expect(names.last == "pwm\(channel)/polarity")
        }
        folder.replace("pwm1/polarity", with: "/dev/full")
        #expect(throws: BusError.self) { try self.servos.prepare(now: Self.start) }
    }

    @Test("a joint's angle determines the length of its pulse, in nanoseconds")
    func pulses() throws {
        _ = try servos.prepare(now: Self.start)
        try servos.write(output(pitch: .pi / 8), now: Self.start)
        #expect(duty(0) == 1_500_000 && duty(2) == 1_750_000)
        for channel in 0..<3 { #expect(isOn(channel) == 1) }
    }

    @Test("a channel is written only if its pulse has changed, and at most once per frame")
    func sparing() throws {
        _ = try servos.prepare(now: Self.start)
        try servos.write(output(pitch: 0), now: Self.start)
        folder.write("0000007", "pwm0/duty_cycle")
        try servos.write(output(pitch: 0.1), now: Self.start.advanced(bySeconds: 0.01))
        #expect(duty(2) == 1_500_000)
        try servos.write(output(pitch: .pi / 8), now: Self.start.advanced(bySeconds: 0.02))
        #expect(duty(0) == 7 && duty(2) == 1_750_000)
    }

    @Test("a servo with zero strength gets no pulses, and the other servos keep theirs")
    func oneServo() throws {
        _ = try servos.prepare(now: Self.start)
        let output = MotorOutput(
            enabled: true, angle: .zero, power: AxisVector(yaw: 0, roll: 1, pitch: 0))
        try servos.write(output, now: Self.start)
        #expect(folder.number("pwm0/duty_cycle", digits: 1) == 0 && duty(1) == 1_500_000)
    }

    @Test(
        "a write allocates no memory",
        .enabled(
            if: mc_is_active(),
            "a sanitizer replaces malloc; the run without a sanitizer checks this"))
    func allocations() throws {
        _ = try servos.prepare(now: Self.start)
        var now = Self.start
        try servos.write(output(pitch: 0), now: now)
        let before = mc_count()
        for number in 0..<200 {
            now = now.advanced(bySeconds: 0.02)
            guard try servos.prepare(now: now) else { break }
            try servos.write(output(pitch: Double(number % 9) * 0.01), now: now)
        }
        try servos.write(.off, now: now)
        #expect(mc_count() == before)
    }

    @Test("off stops the pulses on all channels, and on starts them again")
    func off() throws {
        _ = try servos.prepare(now: Self.start)
        try servos.write(output(pitch: 0), now: Self.start)
        try servos.write(.off, now: Self.start)
        for channel in 0..<3 {
            #expect(isOn(channel) == 0 && folder.number("pwm\(channel)/duty_cycle", digits: 1) == 0)
        }
        try servos.write(output(pitch: 0), now: Self.start)
        for channel in 0..<3 { #expect(isOn(channel) == 1 && duty(channel) == 1_500_000) }
    }

    @Test("after a partial start, off stops the channels that have started")
    func partialStart() throws {
        // Every write to this file fails.
        folder.replace("pwm1/enable", with: "/dev/full")
        _ = try? servos.prepare(now: Self.start)
        _ = try servos.prepare(now: Self.start.advanced(bySeconds: 1))
        #expect(throws: BusError.self) {
            try servos.write(output(pitch: 0), now: Self.start.advanced(bySeconds: 1))
        }
        #expect(isOn(0) == 1)
        #expect(throws: BusError.self) {
            try servos.write(.off, now: Self.start.advanced(bySeconds: 2))
        }
        #expect(isOn(0) == 0)
    }

    @Test("if the length of the pulses cannot be set, off still stops them, and is repeated")
    func brokenDuty() throws {
        _ = try servos.prepare(now: Self.start)
        try servos.write(output(pitch: 0), now: Self.start)
        folder.breakOpenFile("pwm0/duty_cycle")
        for _ in 0..<2 {
            #expect(throws: BusError.self) { try servos.write(.off, now: Self.start) }
            #expect(isOn(0) == 0)
        }
    }

    /// Opener of a chip's files whose channels are created by an export, like those of the kernel.
    /// The files of a channel refuse to be opened until `areReady` is true.
    private final class ExportedFiles {
        let folder = PWMFolder(channels: 0)
        var areReady = false
        /// Opened files, relative to the chip, in the order of the calls.
        private(set) var opened: [String] = []
        private var exports = 0

        init() { folder.write("", "export") }
        deinit { unlink("\(folder.path)/export") }

        func open(_ path: String) -> Int32 {
            if path.hasSuffix("/export") {
                mkdir("\(folder.path)/pwm\(exports)", 0o755)
                for name in PWMFolder.names { folder.write("", "pwm\(exports)/\(name)") }
                exports += 1
            } else if !areReady {
                return -EACCES
            }
            opened.append(String(path.dropFirst(folder.path.count + 1)))
            return SysfsPWM.openForWriting(path)
        }
    }

    private func exported(_ files: ExportedFiles) -> PWMServos {
        let servo = ServoPulse(shortest: 1e-3, longest: 2e-3, travel: .pi / 2)
        return PWMServos(
            chip: files.folder.path, channels: [0, 1, 2],
            pulses: ServoPulses(yaw: servo, roll: servo, pitch: servo), frameRate: 50,
            openFile: { files.open($0) })
    }

    @Test("after an export, channels wait without an error until udev has set the permissions")
    func permissions() throws {
        let files = ExportedFiles()
        let servos = exported(files)
        #expect(try !servos.prepare(now: Self.start))
        #expect(try !servos.prepare(now: Self.start.advanced(bySeconds: 0.05)))
        files.areReady = true
        #expect(try servos.prepare(now: Self.start.advanced(bySeconds: 0.11)))
        for channel in 0..<3 {
            #expect(files.folder.number("pwm\(channel)/period", digits: 8) == 20_000_000)
        }
    }

    @Test("channels without permission, new or not, are an error with the remedy")
    func noPermission() throws {
        let files = ExportedFiles()
        let new = exported(files)
        #expect(try !new.prepare(now: Self.start))
        let late = Self.start.advanced(bySeconds: 0.6)
        let error = #expect(throws: BusError.self) { try new.prepare(now: late) }
        #expect(error?.code == EACCES && error?.remedy().contains("pwm.conf") == true)
        let old = exported(files)
        #expect(throws: BusError.self) { try old.prepare(now: Self.start) }
    }

    @Test("a missing chip is reported with the remedy")
    func missing() throws {
        let servo = ServoPulse(shortest: 1e-3, longest: 2e-3, travel: .pi / 2)
        let absent = PWMServos(
            chip: "/nowhere/pwmchip0", channels: [0, 1, 2],
            pulses: ServoPulses(yaw: servo, roll: servo, pitch: servo), frameRate: 50)
        let error = #expect(throws: BusError.self) { try absent.prepare(now: Self.start) }
        #expect(error?.description == "writing PWM channel 0 failed: No such file or directory")
        #expect(error?.remedy().contains("dtoverlay=pwm-2chan") == true)
        try absent.allOff()
    }
}
