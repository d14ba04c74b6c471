/// Characteristics of the AirOS service, in the order of their handles. The raw values are the
/// characteristics' UUIDs.
public enum AirOSCharacteristic: String, Sendable, CaseIterable {
    /// Pitch of the camera: float32, degrees; down is positive.
    case pitch = "a1e8f36e-685b-4869-9828-c107a6729938"
    /// Roll of the camera: float32, degrees; right side down is positive.
    case roll = "43a85368-8422-4573-a554-411a4a6e87f1"
    /// Yaw of the camera: float32, degrees, -180...180; right is positive.
    case yaw = "e974ac4a-8182-4458-9419-4ac9c6c5184e"
    /// Status: one byte, see `AirOSStatus`.
    case status = "c8a4a58b-1579-4451-b016-1f38e3115a3a"
    /// Mode: one byte, see `AirOSMode`.
    case mode = "2a79d494-436f-45b6-890f-563534ab2c84"
    /// Control: a command as text, see `AirOSCommand`.
    case control = "f7a7a5a8-5e58-4c8d-9b6e-3aa5d6c5b768"
    /// PID gains of pitch: three float32 values p, i and d. In the sample firmware, this
    /// characteristic is the proportional gain of all axes.
    case pitchPID = "b16b472c-88a4-4734-9f85-01458e08d669"
    /// PID gains of roll: three float32 values p, i and d.
    case rollPID = "8184457e-85a8-4217-a9a3-a7d57947a612"
    /// PID gains of yaw: three float32 values p, i and d.
    case yawPID = "5d9b73b3-81e0-4368-910a-e322359b8676"
    /// Kalman parameters: three float32 values, see `KalmanTriple`. Apps search for this
    /// characteristic, but the sample firmware does not have it.
    case kalman = "6e13e51a-f3c2-46a4-b203-92147395c5d0"

    /// UUID of the service; apps scan for it.
    public static let service = "4fafc201-1fb5-459e-8fcc-c5c9c331914b"
    /// The advertised name. The app connects only to a device with this exact name.
    public static let advertisedName = "AirOS Gimbal"
}
