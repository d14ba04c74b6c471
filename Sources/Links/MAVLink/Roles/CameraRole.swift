import GimbalCore
import Wire

/// MAVLink camera that announces the video stream of a companion program. The camera is the first
/// camera component of the gimbal's system. Ground stations find the stream through this component.
/// The component exists while a companion program reports a video stream. The pictures do not pass
/// through airframed.
struct CameraRole {
    /// Component ID of the camera, MAV_COMP_ID_CAMERA.
    static let component: UInt8 = 100

    /// Commands of the camera protocol in addition to MAV_CMD_REQUEST_MESSAGE; older ground
    /// stations use them.
    private enum Command: UInt16 {
        case requestCameraInformation = 521
        case requestStorageInformation = 525
        case requestCaptureStatus = 527
        case requestStreamInformation = 2504
        case requestStreamStatus = 2505
    }

    let stream: VideoStream
    /// State of the companion program that follows a person; nil if there is no such program.
    let following: FollowingState?
    /// State of the companion program that takes photos and records video; nil if there is none.
    let captured: CaptureState?
    /// ID of the gimbal device: as in the messages of the gimbal manager, if the gimbal is the
    /// manager; otherwise the gimbal's component ID.
    let gimbal: UInt8
    /// Time since the start of airframed, ms.
    let bootMs: UInt32

    /// Heartbeat of an active camera (MAV_TYPE_CAMERA).
    static var heartbeat: Heartbeat {
        var message = Heartbeat()
        message.type = 30
        message.autopilot = 8
        message.status = 4
        message.version = 3
        return message
    }

    /// ID of the message that a command requests from the camera; nil for other commands.
    static func requested(_ order: Order) -> UInt32? {
        if order.number == MAVLinkCommand.requestMessage.rawValue {
            let known = [
                CameraInformation.format.id, VideoStreamInformation.format.id,
                VideoStreamStatus.format.id, CameraTrackingImageStatus.format.id,
                CameraCaptureStatus.format.id, StorageInformation.format.id,
                CameraImageCaptured.format.id,
            ]
            return known.first { Float($0) == order.params[0] }
        }
        return switch Command(rawValue: order.number) {
        case .requestCameraInformation: CameraInformation.format.id
        case .requestStorageInformation: StorageInformation.format.id
        case .requestCaptureStatus: CameraCaptureStatus.format.id
        case .requestStreamInformation: VideoStreamInformation.format.id
        case .requestStreamStatus: VideoStreamStatus.format.id
        case nil: nil
        }
    }

    var information: CameraInformation {
        var message = CameraInformation()
        message.bootMs = bootMs
        (message.focalLength, message.sensorWidth, message.sensorHeight) = (.nan, .nan, .nan)
        // The camera can take photos during a recording and begin a recording between photos, so it
        // has no modes.
        message.flags =
            256 + (following == nil ? 0 : 512 + 1024) + (captured == nil ? 0 : 1 + 2 + 8 + 16)
        message.width = UInt16(clamping: stream.width)
        message.height = UInt16(clamping: stream.height)
        message.vendor = "airframe"
        message.model = "airframe-eyes"
        message.gimbal = gimbal
        return message
    }

    var streamInformation: VideoStreamInformation {
        var message = VideoStreamInformation()
        message.pictures = pictures
        message.stream = 1
        message.count = 1
        message.name = "Gimbal"
        message.uri = stream.uri
        message.encoding = 1
        return message
    }

    var streamStatus: VideoStreamStatus {
        var message = VideoStreamStatus()
        message.pictures = pictures
        message.stream = 1
        return message
    }

    private var pictures: StreamPictures {
        var pictures = StreamPictures()
        pictures.rate = Float(stream.rateHz.value)
        pictures.bitrate = UInt32(clamping: Int(stream.bitrateKbps.value * 1000))
        pictures.flags = 1
        pictures.width = UInt16(clamping: stream.width)
        pictures.height = UInt16(clamping: stream.height)
        return pictures
    }
}

extension MAVLinkComponent {
    /// MAVLink address of the camera.
    var cameraAddress: MAVLinkAddress {
        MAVLinkAddress(system: address.system, component: CameraRole.component)
    }

    /// True if a companion program reports a video stream.
    var hasCamera: Bool { configuration.camera() != nil }

    /// Sends the camera's heartbeat, if a companion program reports a video stream. The method is
    /// called once a second.
    func announceCamera() {
        guard hasCamera else { return }
        for peer in knownPeers { send(CameraRole.heartbeat, to: peer, from: cameraAddress) }
    }

    /// Answers a command to the camera. A command to all components is answered only if the camera
    /// supports the command.
    ///
    /// - Returns: True if the camera has answered the command.
    func obeyAsCamera(
        _ order: Order, from sender: MAVLinkAddress, _ peer: Int, now: Instant
    ) -> Bool {
        guard order.target.reaches(cameraAddress), let stream = configuration.camera() else {
            return false
        }
        let following = configuration.following()
        let id = CameraRole.requested(order)
        var answer = CommandAck()
        answer.command = order.number
        let captured = configuration.captured()
        var images: [CameraImageCaptured] = []
        var result: MAVLinkResult? = .accepted
        switch id {
        case nil:
            result =
                obeyAsFollower(order, from: sender, peer, now: now)
                ?? obeyAsRecorder(order, from: sender, now: now)
        case CameraImageCaptured.format.id:
            images = photoReports.requested(from: order.params[1], to: order.params[2])
            if images.isEmpty { result = .denied }
        case CameraCaptureStatus.format.id, StorageInformation.format.id:
            if captured == nil { result = nil }
        default: break
        }
        if result == nil, order.target != cameraAddress { return false }
        counters.handled += 1
        counters.commands += 1
        answer.result = (result ?? .unsupported).rawValue
        answer.target = sender
        send(answer, to: peer, from: cameraAddress)
        let role = CameraRole(
            stream: stream, following: following, captured: captured,
            gimbal: configuration.isManager ? MAVLinkConfiguration.device : address.component,
            bootMs: UInt32(truncatingIfNeeded: Int(now.seconds(since: started) * 1000)))
        switch id {
        case CameraInformation.format.id: send(role.information, to: peer, from: cameraAddress)
        case VideoStreamInformation.format.id:
            send(role.streamInformation, to: peer, from: cameraAddress)
        case VideoStreamStatus.format.id: send(role.streamStatus, to: peer, from: cameraAddress)
        case CameraTrackingImageStatus.format.id:
            send(CameraTrackingImageStatus(following), to: peer, from: cameraAddress)
        case CameraCaptureStatus.format.id:
            guard let captured else { break }
            send(
                CameraCaptureStatus(captured, series: photoSeries, bootMs: role.bootMs), to: peer,
                from: cameraAddress)
        case StorageInformation.format.id:
            guard let captured else { break }
            send(StorageInformation(captured, bootMs: role.bootMs), to: peer, from: cameraAddress)
        default: break
        }
        for image in images { send(image, to: peer, from: cameraAddress) }
        return true
    }
}
