import Calibration
import Wire

extension ActiveCalibrations {
    /// Check of `doctor`.
    ///
    /// - Parameter used: Kinds of calibrations that the configured sensor uses.
    /// - Returns: nil if all these calibrations belong to the configured sensor.
    func check(of used: [CalibrationKind]) -> DoctorCheck? {
        let ignored = ignored.filter { used.contains($0.kind) }
        guard !ignored.isEmpty else { return nil }
        let kinds = ignored.map(\.kind.rawValue).joined(separator: ", ")
        let others = Set(ignored.compactMap(\.sensor)).sorted().joined(separator: "; ")
        return DoctorCheck(
            "calibrations", .warn,
            "calibrations of another sensor (\(others)) are not used: \(kinds); the configured sensor is \(sensor ?? "")",
            remedy:
                "If the sensor is new, calibrate it, first the mounting: airframectl calibrate mounting. Otherwise, correct the section hardware of the configuration file."
        )
    }
}
