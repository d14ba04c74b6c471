import Calibration
import Wire

extension ActiveCalibrations {
    /// Check of `doctor`; nil if all calibrations belong to the configured sensor.
    var check: DoctorCheck? {
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
