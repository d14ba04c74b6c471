import CLinuxShim
import Logging
import Realtime
import SystemPackage

/// Input device that repeats the buzzer's signals. The device is a gamepad or a vibration motor
/// with force feedback (Documentation/input/ff.rst), or a kernel beeper that plays a tone (EV_SND).
/// Only the thread of the signals uses the device, because the kernel waits for the device's
/// driver.
struct FeedbackDevice {
    /// Kind of a device's signals.
    enum Kind: Equatable {
        /// Vibration of a gamepad's motors (FF_RUMBLE).
        case rumble
        /// Vibration with a waveform (FF_PERIODIC).
        case periodic
        /// Tone of a beeper (SND_TONE).
        case tone
    }

    /// Function that uploads an effect, with the parameters of `cl_input_upload_effect`.
    typealias Upload = (Int32, Int32, UInt16, UnsafeMutablePointer<Int32>) -> Int32
    /// Function that writes an event, with the parameters of `cl_input_write`.
    typealias Write = (Int32, UInt16, UInt16, Int32) -> Int32

    private let root: FilePath
    private let log: Logger
    private let upload: Upload
    private let write: Write
    private var name = "off"
    private var isOn = false
    private var hasFailed = false
    private var open: (file: FileDescriptor, kind: Kind, effect: Int32)?

    /// Longest vibration, ms. A vibration ends after this time, even if its stop is lost.
    private static let longest: UInt16 = 1000
    /// Frequency of the tone, Hz. Piezo buzzers are loudest between 2 and 4 kHz.
    private static let tone: Int32 = 2500
    /// Types and codes of events (linux/input-event-codes.h and linux/input.h).
    private static let (sound, toneCode, feedback): (UInt16, UInt16, UInt16) = (0x12, 0x02, 0x15)

    /// Creates a device that is not selected yet.
    ///
    /// - Parameters:
    ///   - root: Directory that contains `sys` and `dev`.
    ///   - log: Log for devices that cannot be used.
    ///   - upload: Function that uploads an effect; tests replace it.
    ///   - write: Function that writes an event; tests replace it.
    init(
        root: FilePath = "/", log: Logger,
        upload: @escaping Upload = { cl_input_upload_effect($0, $1, $2, $3) },
        write: @escaping Write = { cl_input_write($0, $1, $2, $3) }
    ) {
        self.root = root
        self.log = log
        self.upload = upload
        self.write = write
    }

    /// Starts or stops the signal.
    ///
    /// - Parameters:
    ///   - isOn: True if the device must vibrate or sound.
    ///   - name: Name of the device, from its driver; `off` for none.
    mutating func set(_ isOn: Bool, name: String) {
        if name != self.name {
            turnOff()
            self.name = name
            hasFailed = false
        }
        guard name != "off", isOn != self.isOn else { return }
        self.isOn = isOn
        // A missing device, such as a gamepad that is asleep, is searched for at each signal.
        if open == nil, isOn { connect() }
        guard let open else { return }
        let error = send(isOn, open)
        // The device was disconnected.
        if error != 0 { disconnect() }
    }

    /// Stops the signal, and closes the device.
    mutating func turnOff() {
        if isOn, let open { _ = send(false, open) }
        isOn = false
        disconnect()
    }

    private func send(
        _ isOn: Bool, _ open: (file: FileDescriptor, kind: Kind, effect: Int32)
    ) -> Int32 {
        let file = open.file.rawValue
        return open.kind == .tone
            ? write(file, Self.sound, Self.toneCode, isOn ? Self.tone : 0)
            : write(file, Self.feedback, UInt16(truncatingIfNeeded: open.effect), isOn ? 1 : 0)
    }

    private mutating func disconnect() {
        if let open { try? open.file.close() }
        open = nil
    }

    // MARK: Connection

    private mutating func connect() {
        guard let (node, kind) = find() else {
            return warn("there is no input device \"\(name)\" that can vibrate or beep")
        }
        let path = root.appending("dev/input").appending(node)
        do {
            let file = try FileDescriptor.open(
                path, .readWrite, options: [.nonBlocking, .closeOnExec])
            var effect: Int32 = 0
            let error =
                kind == .tone
                ? 0 : upload(file.rawValue, kind == .periodic ? 1 : 0, Self.longest, &effect)
            guard error == 0 else {
                try? file.close()
                return warn("\(path) refuses a vibration: \(Errno(rawValue: error))")
            }
            open = (file, kind, effect)
            hasFailed = false
        } catch {
            warn("\(path) cannot be opened: \(error)")
        }
    }

    private mutating func warn(_ problem: String) {
        if !hasFailed {
            log.warning(
                "signals: \(problem). Check the setting signals.feedback_device, and install the systemd drop-in signals.conf."
            )
        }
        hasFailed = true
    }

    /// The first device with the configured name, and the kind of its signals; nil if there is
    /// none.
    private func find() -> (node: String, kind: Kind)? {
        for number in 0..<64 {
            let node = "event\(number)"
            let device = root.appending("sys/class/input").appending(node).appending("device")
            guard firstLine(of: device.appending("name").string) == name else { continue }
            let capabilities = device.appending("capabilities").string
            if let kind = Self.kind(
                feedback: firstLine(of: capabilities + "/ff"),
                sounds: firstLine(of: capabilities + "/snd"))
            {
                return (node, kind)
            }
        }
        return nil
    }

    /// Kind of the signals, from the bit fields of a device; nil if the device has no signals.
    static func kind(feedback: String?, sounds: String?) -> Kind? {
        // FF_RUMBLE is 0x50, FF_PERIODIC 0x51, SND_TONE 0x02.
        if isBitSet(0x50, in: feedback) { return .rumble }
        if isBitSet(0x51, in: feedback) { return .periodic }
        return isBitSet(0x02, in: sounds) ? .tone : nil
    }
}
