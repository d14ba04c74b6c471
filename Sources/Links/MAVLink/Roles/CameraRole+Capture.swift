import GimbalCore
import Logging
import Port
import Wire

// Photos and video recordings of the MAVLink camera: commands, state and storage.
extension CameraRole {
    /// MAVLink commands for photos and recordings.
    fileprivate enum CaptureCommand: UInt16 {
        case imageStart = 2000
        case imageStop = 2001
        case videoStart = 2500
        case videoStop = 2501

        /// Target camera ID in the command's parameters; 0 selects all cameras. In older versions of
        /// MAVLink, this parameter of the commands for recordings is reserved, so it can be NaN.
        func camera(in params: [Float]) -> Float {
            switch self {
            case .imageStart, .imageStop: params[0]
            case .videoStart: params[2].isNaN ? 0 : params[2]
            case .videoStop: params[1].isNaN ? 0 : params[1]
            }
        }
    }

    /// Time within which a command for a photo with the same sequence number is a repetition, s. A
    /// ground station that has restarted counts from 1 again.
    fileprivate static let repetitionSeconds = 5.0
}

extension CameraCaptureStatus {
    /// State of photos and recordings, as airframe-eyes has reported it. `series` is the series of
    /// photos in progress; nil if there is none.
    init(_ state: CaptureState, series: PhotoSeries?, bootMs: UInt32) {
        self.init()
        self.bootMs = bootMs
        // The status 2 means that a series is running, and that no photo is in progress.
        image = series == nil ? 0 : 2
        interval = Float(series?.interval ?? 0)
        video = state.isRecording ? 1 : 0
        recordingMs = UInt32(clamping: Int((state.recordingS.known ?? 0) * 1000))
        // MAVLink's unit for storage is MiB.
        available = Float((state.freeMb.known ?? 0) / 1.048576)
        photos = Int32(clamping: state.photos)
    }
}

extension StorageInformation {
    /// State of the disk for recordings, as airframe-eyes has reported it.
    init(_ state: CaptureState, bootMs: UInt32) {
        self.init()
        self.bootMs = bootMs
        (id, count) = (1, 1)
        let (free, total) = (state.freeMb.known, state.totalMb.known)
        // STORAGE_STATUS_READY if the disk is known; otherwise STORAGE_STATUS_EMPTY.
        status = free == nil ? 0 : 2
        available = Float((free ?? 0) / 1.048576)
        self.total = Float((total ?? 0) / 1.048576)
        used = self.total - available
        type = 254
        name = "recordings"
        // The flags mean that photos and video are stored on this disk.
        usage = 2 + 4
    }
}

extension MAVLinkComponent {
    /// Executes a MAVLink command for photos or a recording.
    ///
    /// - Returns: The result of the command; nil if the command does not concern photos or
    ///   recordings, or if another camera answers the command.
    func obeyAsRecorder(
        _ order: Order, from sender: MAVLinkAddress, now: Instant
    ) -> MAVLinkResult? {
        guard let command = CameraRole.CaptureCommand(rawValue: order.number) else { return nil }
        guard isForThisCamera(command.camera(in: order.params), order) else {
            // MAVLink requires this answer to a command for photos also if the command is sent to
            // all components.
            let isForPhotos = command == .imageStart || command == .imageStop
            return isForPhotos || order.target == cameraAddress ? .denied : nil
        }
        let source = source(of: sender)
        switch command {
        case .imageStart where order.params[2] == 1:
            return takePhoto(number: order.params[3], from: sender, now: now)
        case .imageStart:
            guard
                let series = PhotoSeries(
                    interval: order.params[1], count: order.params[2], from: source, now: now)
            else { return .denied }
            photoSeries = series
            return continueSeries(now: now) ?? .accepted
        case .imageStop:
            photoSeries = nil
            return .accepted
        case .videoStart: return capture(.record, source)
        case .videoStop: return capture(.stop, source)
        }
    }

    /// True if a target camera ID selects this camera: all cameras, the component ID of this camera,
    /// or, in a command to this camera only, the camera's only sensor.
    func isForThisCamera(_ id: Float, _ order: Order) -> Bool {
        id == 0 || id == Float(CameraRole.component) || (id == 1 && order.target == cameraAddress)
    }

    /// Takes one photo, unless the command is the repetition of a command whose answer was lost.
    private func takePhoto(
        number: Float, from sender: MAVLinkAddress, now: Instant
    ) -> MAVLinkResult {
        photoNumbers = photoNumbers.filter {
            now.seconds(since: $0.value.time) < CameraRole.repetitionSeconds
        }
        if number >= 1, photoNumbers[sender]?.number == number {
            photoNumbers[sender] = (number, now)
            return .accepted
        }
        let result = capture(.photo, source(of: sender))
        if result == .accepted { photoNumbers[sender] = (number, now) }
        return result
    }

    /// Takes the photo of the series that is due. A refusal ends the series.
    ///
    /// - Returns: The result of a photo that was due; nil if none was due.
    @discardableResult
    func continueSeries(now: Instant) -> MAVLinkResult? {
        guard let source = photoSeries?.source, photoSeries?.takeDue(now: now) == true else {
            return nil
        }
        let result = capture(.photo, source)
        if result != .accepted {
            tell("A photo was refused, so the series of photos has ended.", severity: 4)
        }
        if result != .accepted || photoSeries?.isComplete == true { photoSeries = nil }
        return result
    }

    private func capture(
        _ action: CameraOrder.Action, _ source: CommandSource
    ) -> MAVLinkResult {
        do throws(Refusal) {
            try configuration.capture(action, source)
            return .accepted
        } catch {
            counters.refused += 1
            log.info("MAVLink: \(source) requested \(action), which was refused: \(error.message)")
            return MAVLinkResult(error)
        }
    }

    /// Sends CAMERA_IMAGE_CAPTURED for each new photo. This method is called every 0.1 s.
    func reportPhotos(now: Instant) {
        // Without airframe-eyes, the number of photos is unknown.
        guard let captured = configuration.captured() else { return }
        let new = photoReports.take(
            total: captured.photos, command: captured.order,
            bootMs: UInt32(truncatingIfNeeded: Int(now.seconds(since: started) * 1000)))
        guard hasCamera else { return }
        for peer in knownPeers {
            for message in new { send(message, to: peer, from: cameraAddress) }
        }
    }
}
