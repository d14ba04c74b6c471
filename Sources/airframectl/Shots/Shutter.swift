import CHardwareShim
import Client
import Glibc
import PlainText
import Shots
import SystemPackage
import Wire

/// Shutter of a camera.
protocol Shutter: AnyObject {
    /// Value of the shutter's counter; nil if the shutter has no counter.
    func mark() throws(ClientError) -> Int?
    /// Takes a photo.
    ///
    /// - Parameters:
    ///   - photo: Number of the photo.
    ///   - pose: Orientation of the camera, earth frame.
    /// - Returns: Reason why no photo was taken; nil after a success.
    /// - Throws: `ClientError` if the daemon cannot be reached.
    func shoot(_ photo: Int, at pose: Pose) throws(ClientError) -> String?
    /// Determines whether a photo was taken, from the counter before the photo.
    func examine(_ photo: Int, mark: Int?) throws(ClientError) -> ShotSession.Evidence
}

extension Shutter {
    func mark() throws(ClientError) -> Int? { nil }
    func examine(_ photo: Int, mark: Int?) throws(ClientError) -> ShotSession.Evidence { .unknown }
}

/// Shutter that takes no photo.
final class NoShutter: Shutter {
    func shoot(_ photo: Int, at pose: Pose) -> String? { nil }
    func examine(_ photo: Int, mark: Int?) -> ShotSession.Evidence { .notTaken }
}

/// Shutter that runs a command for each photo, such as gphoto2.
///
/// If a file name is configured, the command writes a temporary file. The file is renamed after the
/// command has succeeded, so a file with the final name is a complete photo.
final class CommandShutter: Shutter {
    private let settings: ShutterSettings
    private let wait: (Double) -> Void
    /// Number of the last requested photo, if the command could not be started.
    private var refused: Int?

    /// Creates a shutter.
    ///
    /// - Parameters:
    ///   - settings: Command, file and timeout.
    ///   - wait: Waits for the given time, s.
    init(_ settings: ShutterSettings, wait: @escaping (Double) -> Void) {
        self.settings = settings
        self.wait = wait
    }

    /// Path of a photo's file; nil if the command does not write a file.
    func file(_ photo: Int) -> String? {
        settings.file.isEmpty
            ? nil : settings.file.replacing("{number}", with: Self.padded(photo))
    }

    /// Number with five digits, so that file names sort in the order of the photos.
    private static func padded(_ photo: Int) -> String {
        String(repeating: "0", count: max(0, 5 - "\(photo)".count)) + "\(photo)"
    }

    private func part(of file: String) -> String {
        var path = FilePath(file)
        let name = path.lastComponent?.string ?? ""
        path.removeLastComponent()
        return path.appending("part-" + name).string
    }

    func examine(_ photo: Int, mark: Int?) -> ShotSession.Evidence {
        guard let file = file(photo) else { return refused == photo ? .notTaken : .unknown }
        return access(file, F_OK) == 0 ? .taken : .notTaken
    }

    func shoot(_ photo: Int, at pose: Pose) throws(ClientError) -> String? {
        refused = nil
        let file = file(photo)
        let part = file.map(part)
        if let part { unlink(part) }
        // The path is inserted last, because a folder's name can contain a placeholder's text.
        let values: [(placeholder: String, text: String)] = [
            ("{number}", Self.padded(photo)), ("{yaw}", Format.fixed(pose.yaw, 2)),
            ("{roll}", Format.fixed(pose.roll, 2)), ("{pitch}", Format.fixed(pose.pitch, 2)),
            ("{file}", part ?? ""),
        ]
        let words = settings.command.map { word in
            values.reduce(word) { $0.replacing($1.placeholder, with: $1.text) }
        }
        if let problem = run(words, for: photo) { return problem }
        guard let file, let part else { return nil }
        do {
            let written = try FileDescriptor.open(
                FilePath(part), .readOnly, options: .closeOnExec)
            try written.closeAfter {
                guard fsync(written.rawValue) == 0 else { throw Errno(rawValue: errno) }
            }
            guard rename(part, file) == 0 else { throw Errno(rawValue: errno) }
            try DurableFile.syncFolder(of: file)
            return nil
        } catch {
            return "the command ended without a photo in \(part) (\(error))"
        }
    }

    /// Runs a photo's command until it ends; returns the problem, or nil after a success.
    private func run(_ words: [String], for photo: Int) -> String? {
        let child: pid_t
        do {
            // The output of the command would disturb the run's own output. The command keeps the
            // shutter's lock (`ShotStore.take`).
            child = try ChildProgram.start(
                words, output: STDERR_FILENO, errors: STDERR_FILENO, inheritsFiles: true)
        } catch {
            refused = photo
            return "\(words[0]) cannot be started: \(error)"
        }
        let end = DaemonClient.now() + settings.timeout
        var status: Int32 = 0
        while waitpid(child, &status, WNOHANG) == 0 {
            guard DaemonClient.now() < end else {
                kill(-child, SIGKILL)
                waitpid(child, &status, 0)
                return "\(words[0]) did not end within \(Format.plain(settings.timeout)) s"
            }
            wait(0.02)
        }
        let result = ChildProgram.result(status)
        if result < 0 { return "\(words[0]) ended by signal \(-result)" }
        return result == 0 ? nil : "\(words[0]) ended with exit code \(result)"
    }
}

/// Shutter on a GPIO line. The line does not report whether a photo was taken.
final class GPIOShutter: Shutter {
    private let settings: ShutterSettings
    private let wait: (Double) -> Void
    private var descriptor: Int32 = -1

    init(_ settings: ShutterSettings, wait: @escaping (Double) -> Void) throws(ClientError) {
        self.settings = settings
        self.wait = wait
        var line = UInt32(settings.line)
        let error = ch_gpio_request(
            settings.chip, &line, 1, settings.isActiveLow ? 1 : 0, 1, &descriptor)
        guard error == 0 else {
            throw .file(
                "Line \(settings.line) of \(settings.chip) cannot be used: \(Errno(rawValue: error)). \(Self.remedy(error))",
                field: "gpio_line")
        }
    }

    private static func remedy(_ error: Int32) -> String {
        switch error {
        case ENOENT, ENODEV: "`gpiodetect` lists the GPIO chips."
        case EACCES, EPERM: "Add your user to the group gpio."
        case EBUSY: "Another program uses the line; `gpioinfo` shows which."
        default: "`gpioinfo` lists the lines of each chip."
        }
    }

    deinit { close(descriptor) }

    func shoot(_ photo: Int, at pose: Pose) -> String? {
        var error = ch_gpio_set(descriptor, 1, 1)
        // Only sleep between the two edges, because the pulse width is the exposure time of some
        // cameras.
        usleep(UInt32(settings.pulse * 1e6))
        if error == 0 { error = ch_gpio_set(descriptor, 0, 1) }
        return error == 0 ? nil : "\(settings.chip): \(Errno(rawValue: error))"
    }
}

/// Shutter that takes photos with airframe-eyes. The photo counter of airframe-eyes shows whether a
/// photo was taken.
final class EyesShutter: Shutter {
    /// Time after which a command can no longer lead to a photo, s: the daemon drops a command after
    /// 3 s, and airframe-eyes waits at most 5 s for a picture, for example while the camera is
    /// opened. The remaining second is for the disk and the report of airframe-eyes.
    private static let expiry = 9.0

    private let client: () throws(ClientError) -> DaemonClient
    /// Number of the last requested photo, if airframe-eyes or the daemon refused the photo.
    private var refused: Int?
    private let timeout: Double
    private let wait: (Double) -> Void

    init(
        timeout: Double, wait: @escaping (Double) -> Void,
        client: @escaping () throws(ClientError) -> DaemonClient
    ) {
        (self.timeout, self.wait, self.client) = (timeout, wait, client)
    }

    /// Newest state of airframe-eyes; nil if airframe-eyes is not connected, or has not reported its
    /// state for so long that airframed refuses commands to it.
    private func state() throws(ClientError) -> CaptureState? {
        let status: Status = try client().request(.status)
        return status.companions.lazy
            .filter { $0.ageS.value <= CompanionStatus.silenceLimit }
            .compactMap(\.report.capture).first
    }

    func mark() throws(ClientError) -> Int? {
        guard let state = try state() else {
            throw .refused(
                RequestError(
                    "refused",
                    "The shot waits: airframe-eyes is not connected, or does not report its state. See airframectl doctor."
                ))
        }
        return state.photos
    }

    func shoot(_ photo: Int, at pose: Pose) throws(ClientError) -> String? {
        refused = nil
        // Without the number of earlier photos, an earlier photo would count as this one.
        guard let before = try state()?.photos else {
            refused = photo
            return "airframe-eyes is not connected, or does not report its state"
        }
        let reply: CameraReply
        do {
            reply = try client().request(.camera, ["action": "photo"])
        } catch {
            guard case .refused(let refusal) = error else { throw error }
            refused = photo
            return refusal.message
        }
        let end = DaemonClient.now() + timeout
        while DaemonClient.now() < end {
            switch try state().flatMap({ PhotoOutcome(of: reply.number, before: before, in: $0) }) {
            case .taken?: return nil
            case .failed(let problem)?:
                refused = photo
                return problem
            case nil: break
            }
            wait(0.05)
        }
        return "airframe-eyes has not taken the photo within \(Format.plain(timeout)) s"
    }

    func examine(_ photo: Int, mark: Int?) throws(ClientError) -> ShotSession.Evidence {
        if refused == photo { return .notTaken }
        guard let mark else { return .unknown }
        let end = DaemonClient.now() + Self.expiry
        while true {
            // After a restart of airframed, airframe-eyes needs a second to connect again.
            let photos = try state()?.photos
            // A smaller number of photos means that airframe-eyes has restarted.
            if let photos, photos != mark { return photos > mark ? .taken : .unknown }
            if DaemonClient.now() >= end { return photos == nil ? .unknown : .notTaken }
            wait(0.1)
        }
    }
}

/// Shutter of a MAVLink camera. A repeated command has the same number, so that the camera can
/// recognise the repetition.
///
/// Source: MAVLink common.xml, MAV_CMD_IMAGE_START_CAPTURE (2000), parameters 3 and 4.
final class MAVLinkShutter: Shutter {
    private static let capture: UInt16 = 2000
    /// Time after which a command without an answer is repeated, s.
    private static let repetition = 0.5
    /// MAV_COMP_ID_ONBOARD_COMPUTER, and MAV_COMP_ID_CAMERA.
    private static let (own, camera): (UInt8, UInt8) = (191, 100)

    private let link: DatagramLink
    private let system: UInt8
    private let timeout: Double
    private var sequence: UInt8 = 0
    /// Number of the last requested photo, if the camera has refused the photo.
    private var refused: Int?

    init(_ settings: ShutterSettings) throws(ClientError) {
        link = try DatagramLink(to: settings.address, field: "shutter.address")
        system = UInt8(clamping: settings.system)
        timeout = settings.timeout
    }

    func examine(_ photo: Int, mark: Int?) -> ShotSession.Evidence {
        refused == photo ? .notTaken : .unknown
    }

    func shoot(_ photo: Int, at pose: Pose) -> String? {
        refused = nil
        var command = CommandLong()
        command.command = Self.capture
        command.target = MAVLinkAddress(system: system, component: Self.camera)
        // One photo (parameter 3) with this number (parameter 4).
        command.params[2] = 1
        command.params[3] = Float(photo)
        let sender = MAVLinkAddress(system: system, component: Self.own)
        // An answer contains no number, so a late answer to an earlier command is discarded.
        link.discard()
        var repetition = DaemonClient.now()
        let end = repetition + timeout
        while DaemonClient.now() < end {
            if DaemonClient.now() >= repetition {
                link.send(command.frame(from: sender, sequence: sequence))
                sequence &+= 1
                command.confirmation = min(command.confirmation + 1, 254)
                repetition = DaemonClient.now() + Self.repetition
            }
            let next = min(repetition, end)
            guard let bytes = link.receive(within: next - DaemonClient.now()),
                let result = Self.result(bytes, for: sender)
            else { continue }
            switch result {
            // MAV_RESULT_ACCEPTED.
            case 0: return nil
            // MAV_RESULT_IN_PROGRESS: the camera has the command, and sends the result later.
            case 5: repetition = end
            default:
                // MAV_RESULT_TEMPORARILY_REJECTED, _DENIED and _UNSUPPORTED: the camera has not
                // executed the command. After a repetition, the refusal can concern only the
                // repetition.
                if (1...3).contains(result), command.confirmation == 1 { refused = photo }
                return "the camera refused the photo (MAV_RESULT \(result))"
            }
        }
        return "the MAVLink camera did not answer within \(Format.plain(timeout)) s"
    }

    /// Result of the command in a datagram; nil if the datagram contains none. A router can also
    /// forward answers of other systems, and answers to the commands of a ground station. An
    /// autopilot can answer for its camera, so the component of the answer can differ.
    static func result(_ bytes: [UInt8], for sender: MAVLinkAddress) -> UInt8? {
        var parser = MAVLinkParser()
        parser.append(bytes)
        while let item = parser.next() {
            guard case .frame(let frame, _) = item, let answer = frame.message(CommandAck.self),
                answer.command == capture, frame.sender.system == sender.system,
                answer.target.reaches(sender)
            else { continue }
            return answer.result
        }
        return nil
    }
}
