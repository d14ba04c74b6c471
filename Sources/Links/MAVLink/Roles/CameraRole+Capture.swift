import GimbalCore
import Logging
import Port
import Wire

// The camera that takes photos and records video: commands, state and storage.
extension CameraRole {
    /// MAVLink commands for photos and recordings.
    private enum CaptureCommand: UInt16 {
        case imageStart = 2000
        case videoStart = 2500
        case videoStop = 2501
    }

    /// Action for a MAVLink command; nil if the command does not concern photos or recordings. A
    /// series of photos is `denied`.
    static func capture(_ order: Order) -> (action: CameraOrder.Action?, isDenied: Bool)? {
        switch CaptureCommand(rawValue: order.number) {
        case .imageStart: order.params[2] == 1 ? (.photo, false) : (nil, true)
        case .videoStart: (.record, false)
        case .videoStop: (.stop, false)
        case nil: nil
        }
    }
}

extension CameraCaptureStatus {
    /// State of photos and recordings, as airframe-eyes has reported it.
    init(_ state: CaptureState, bootMs: UInt32) {
        self.init()
        self.bootMs = bootMs
        video = state.isRecording ? 1 : 0
        recordingMs = UInt32(clamping: Int((state.recordingS.known ?? 0) * 1000))
        // The protocol's unit is MiB.
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
    /// Executes a MAVLink command for a photo or a recording.
    ///
    /// - Returns: The result of the command; nil if the command does not concern photos or
    ///   recordings.
    func obeyAsRecorder(_ order: Order, from sender: MAVLinkAddress) -> MAVLinkResult? {
        guard let (action, isDenied) = CameraRole.capture(order) else { return nil }
        guard let action, !isDenied else { return .denied }
        do throws(Refusal) {
            try configuration.capture(action, CommandSource(sender))
            return .accepted
        } catch {
            counters.refused += 1
            log.info("MAVLink: \(sender) requested \(action), which was refused: \(error.message)")
            return MAVLinkResult(error)
        }
    }

    /// Sends CAMERA_IMAGE_CAPTURED for each new photo, which ground stations count. This method is
    /// called once a second.
    func reportPhotos(now: Instant) {
        let count = configuration.captured()?.photos ?? 0
        defer { photos = count }
        // After a restart of airframe-eyes, the number of photos starts at 0 again.
        guard hasCamera, count > photos else { return }
        var message = CameraImageCaptured()
        message.bootMs = UInt32(truncatingIfNeeded: Int(now.seconds(since: started) * 1000))
        message.index = Int32(clamping: count - 1)
        message.result = 1
        message.camera = 1
        for peer in knownPeers { send(message, to: peer, from: cameraAddress) }
    }
}
