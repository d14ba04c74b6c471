import Configuration
import GimbalCore

/// Modes that pressed buttons have selected until their release.
struct HeldModes {
    private struct Entry {
        /// ID of the input device.
        var device: Int
        var control: Control
        /// Mode that the button has selected.
        var entered: Mode
        /// Mode to which the gimbal returns after the button's release.
        var earlier: Mode
    }

    /// One entry for each mode, oldest first.
    private var entries: [Entry] = []

    /// Adds the mode that a button of a device has selected, and the mode before it.
    mutating func begin(_ mode: Mode, after earlier: Mode, _ control: Control, of device: Int) {
        entries.append(Entry(device: device, control: control, entered: mode, earlier: earlier))
    }

    /// Ends the modes of one control of a device, or of all controls of the device.
    ///
    /// - Parameters:
    ///   - control: The released control; nil for all controls.
    ///   - device: ID of the input device.
    ///   - present: Present mode.
    /// - Returns: The mode to which the gimbal must change. If another button or another source has
    ///   changed the mode since the press of the button, the mode does not change.
    mutating func end(_ control: Control?, of device: Int, in present: Mode) -> Mode {
        var mode = present
        for (index, entry) in entries.enumerated().reversed()
        where entry.device == device && (control == nil || entry.control == control) {
            entries.remove(at: index)
            if index < entries.count {
                // A later button has changed the mode, so its release restores the earlier mode.
                if entries[index].earlier == entry.entered {
                    entries[index].earlier = entry.earlier
                }
            } else if mode == entry.entered {
                mode = entry.earlier
            }
        }
        return mode
    }
}
