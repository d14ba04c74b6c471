import Configuration
import PlainText
import SystemPackage
import Wire

/// Checks of `doctor` for the computer. A missing inertial sensor prevents motion. The other
/// problems do not prevent motion now, but can cause faults later. The checks read no files;
/// `MachineFacts` reads the properties of the computer.
struct MachineDoctor {
    /// Minimum free disk space, bytes: enough for hundreds of saves; the check warns below this
    /// value.
    static let enoughBytes: UInt64 = 16 << 20

    let status: Status
    let facts: MachineFacts

    /// All checks for the computer, with the most basic check first.
    var checks: [DoctorCheck] {
        [governor, disk, wallClock, watchdog, configuration, savedValues, kernelSensors]
            .compactMap(\.self)
    }

    /// Check of the inertial sensors that have a kernel driver; nil if there are no such sensors
    /// and the settings use none.
    private var kernelSensors: DoctorCheck? {
        guard facts.kernelSensors.isEmpty else {
            return DoctorCheck("iio", .ok, facts.kernelSensors.joined(separator: "; "))
        }
        guard facts.usesKernelSensor else { return nil }
        return DoctorCheck(
            "iio", .fail, "the kernel has no inertial sensor (IIO)",
            remedy:
                "Load the driver of the sensor, on a Raspberry Pi with a dtoverlay in config.txt, and check `dmesg | grep iio`."
        )
    }

    private var governor: DoctorCheck {
        guard let governor = facts.governor else {
            return DoctorCheck("governor", .ok, "Linux does not control the CPU's clock frequency")
        }
        // The CPU frequency is not checked for a simulated gimbal.
        let isSteady = governor == "performance" || status.backend != "linux"
        return DoctorCheck(
            "governor", isSteady ? .ok : .warn, governor,
            remedy: isSteady
                ? ""
                : "The loop wakes up more slowly on a CPU that saves power: run `cpupower frequency-set -g performance`."
        )
    }

    private var disk: DoctorCheck {
        guard let free = facts.freeBytes else {
            return DoctorCheck(
                "disk", .warn, "\(facts.directory) is missing",
                remedy:
                    "The first save creates this directory. With StateDirectory=airframe in its unit, systemd creates the directory earlier."
            )
        }
        let finding = "\(facts.directory): \(Format.count(Int(free >> 20))) MB free"
        guard facts.isWritable else {
            return DoctorCheck(
                "disk", .warn, "\(finding), but the directory is not writable",
                remedy:
                    "airframed cannot save: make the user of airframed the owner of the directory, and mount the file system for writing."
            )
        }
        return free >= Self.enoughBytes
            ? DoctorCheck("disk", .ok, finding)
            : DoctorCheck(
                "disk", .warn, finding,
                remedy:
                    "Free disk space, for example with `journalctl --vacuum-size=50M`; airframed cannot save data on a full disk."
            )
    }

    private var wallClock: DoctorCheck {
        switch facts.isClockSynchronised {
        case true?: DoctorCheck("wall clock", .ok, "synchronised")
        case nil:
            DoctorCheck(
                "wall clock", .ok, "unknown: `timedatectl` shows whether the clock is right")
        case false?:
            DoctorCheck(
                "wall clock", status.backend == "linux" ? .warn : .ok, "not synchronised",
                remedy: status.backend == "linux"
                    ? "The loop is not affected, but times in the log can be wrong: run `timedatectl set-ntp true`."
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
            remedy: isNeeded ? "Start airframed as a service: systemctl start airframed." : "")
    }

    private var configuration: DoctorCheck {
        let (files, overridden) = (status.configuration.files, status.configuration.overridden)
        var finding =
            (files.isEmpty ? "built-in defaults" : files.joined(separator: ", "))
            + (overridden.isEmpty
                ? ""
                : "; values that the set-up has saved override: \(overridden.joined(separator: ", "))")
        let waiting = status.configuration.needsRestart
        if !waiting.isEmpty {
            finding +=
                "; settings that take effect after a restart: \(waiting.joined(separator: ", "))"
        }
        if let problem = facts.startProblem {
            return DoctorCheck(
                "configuration", .warn,
                "\(finding); the files have an error now, so the next start of airframed would fail",
                remedy:
                    "\(problem) `\(Self.checkCommand(files))` lists every error. After the correction, run `airframectl reload`."
            )
        }
        if let sentence = facts.unusedChips {
            return DoctorCheck(
                "configuration", .warn, "\(finding); it describes chips, but does not select them",
                remedy: sentence)
        }
        return waiting.isEmpty
            ? DoctorCheck("configuration", .ok, finding)
            : DoctorCheck(
                "configuration", .warn, finding,
                remedy: "Run `systemctl restart airframed` at a time when the motors can be off.")
    }

    /// Command that checks the files with which airframed was started; `files` begins with the main
    /// file, if it exists.
    private static func checkCommand(_ files: [String]) -> String {
        guard let main = files.first, main != ConfigurationSource.defaultFile.string,
            !main.hasPrefix(ConfigurationSource().dropInDirectory.string)
        else { return "airframed --check-config" }
        return "airframed --config \(main) --check-config"
    }

    private var savedValues: DoctorCheck? {
        let keys = status.configuration.ignored
        guard !keys.isEmpty else { return nil }
        return DoctorCheck(
            "saved values", .warn,
            "not valid with the present configuration files, so without effect: \(keys.joined(separator: ", "))",
            remedy:
                "`airframectl log` names the problems. Correct the configuration files and restart airframed, or set and save the settings again."
        )
    }
}
