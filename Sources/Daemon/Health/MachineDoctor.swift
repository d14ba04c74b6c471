import PlainText
import Wire

/// Checks of `doctor` for the computer. Its problems do not prevent motion, but may become relevant
/// later. Pure.
struct MachineDoctor {
    /// Sufficient free space for hundreds of saves, bytes.
    static let enoughBytes: UInt64 = 16 << 20

    let status: Status
    let facts: MachineFacts

    /// All checks, in the order in which a person would make them.
    var checks: [DoctorCheck] { [governor, disk, wallClock, watchdog, configuration] }

    private var governor: DoctorCheck {
        guard let governor = facts.governor else {
            return DoctorCheck("governor", .ok, "Linux does not control the CPU's clock")
        }
        // For a simulated gimbal the CPU frequency is irrelevant.
        let isSteady = governor == "performance" || status.backend != "linux"
        return DoctorCheck(
            "governor", isSteady ? .ok : .warn, governor,
            remedy: isSteady
                ? ""
                : "The loop wakes up later on a slow CPU: cpupower frequency-set -g performance.")
    }

    private var disk: DoctorCheck {
        guard let free = facts.freeBytes else {
            return DoctorCheck(
                "disk", .warn, "\(facts.directory) is missing",
                remedy: "The first save creates it, or StateDirectory=airframe in the unit.")
        }
        let finding = "\(facts.directory): \(Format.count(Int(free >> 20))) MB free"
        guard facts.isWritable else {
            return DoctorCheck(
                "disk", .warn, finding + ", cannot be written to",
                remedy:
                    "Nothing can be saved: let the user of airframed own it, and mount it for writing."
            )
        }
        return free >= Self.enoughBytes
            ? DoctorCheck("disk", .ok, finding)
            : DoctorCheck(
                "disk", .warn, finding,
                remedy: "Make room, or saving will fail: journalctl --vacuum-size=50M.")
    }

    private var wallClock: DoctorCheck {
        switch facts.isClockSynchronised {
        case true?: DoctorCheck("wall clock", .ok, "synchronised")
        case nil: DoctorCheck("wall clock", .ok, "the kernel does not report its state")
        case false?:
            DoctorCheck(
                "wall clock", status.backend == "linux" ? .warn : .ok, "not synchronised",
                remedy: status.backend == "linux"
                    ? "The loop is not affected, but times in the log may be wrong: timedatectl set-ntp true."
                    : "")
        }
    }

    private var watchdog: DoctorCheck {
        if let seconds = facts.watchdogSeconds {
            return DoctorCheck(
                "watchdog", .ok,
                "systemd restarts airframed if the loop hangs for \(Format.plain(seconds)) s"
            )
        }
        let isNeeded = status.backend == "linux"
        return DoctorCheck(
            "watchdog", isNeeded ? .warn : .ok, "no watchdog for this process",
            remedy: isNeeded ? "Start it as a service: systemctl start airframed." : "")
    }

    private var configuration: DoctorCheck {
        let files = status.configuration.files
        let finding = files.isEmpty ? "built-in defaults" : files.joined(separator: ", ")
        let waiting = status.configuration.needsRestart
        return waiting.isEmpty
            ? DoctorCheck("configuration", .ok, finding)
            : DoctorCheck(
                "configuration", .warn,
                "\(finding); waits for a restart: \(waiting.joined(separator: ", "))",
                remedy: "systemctl restart airframed, when the motors may go off.")
    }
}
