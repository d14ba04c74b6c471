/// The kinds of messages that this program reads or writes.
public enum MAVLinkCatalogue {
    /// Every kind of message, in the order of message numbers.
    public static let messages: [any MAVLinkMessage.Type] = [
        Heartbeat.self, ParamRequestRead.self, ParamRequestList.self, ParamValue.self,
        ParamSet.self, GPSPosition.self, AttitudeReport.self, GlobalPosition.self, VFRHUD.self,
        CommandInt.self,
        CommandLong.self, CommandAck.self, TimeSync.self, BatteryReport.self, MessageInterval.self,
        StatusText.self,
        CameraInformation.self, StorageInformation.self, CameraCaptureStatus.self,
        CameraImageCaptured.self, VideoStreamInformation.self, VideoStreamStatus.self,
        CameraTrackingImageStatus.self,
        GimbalManagerInformation.self, GimbalManagerStatus.self, GimbalManagerSetAttitude.self,
        GimbalDeviceInformation.self, GimbalDeviceSetAttitude.self,
        GimbalDeviceAttitudeStatus.self, AutopilotStateForGimbalDevice.self,
        GimbalManagerSetPitchYaw.self, GimbalManagerSetManualControl.self,
    ]

    private static let formats = Dictionary(
        uniqueKeysWithValues: messages.map { ($0.format.id, $0.format) })

    /// Format of the message with the given number; nil for an unknown number.
    public static func format(_ id: UInt32) -> MAVLinkFormat? { formats[id] }
}
