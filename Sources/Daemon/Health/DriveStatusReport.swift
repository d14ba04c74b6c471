import Configuration
import GimbalCore
import Glibc
import Hardware
import Port
import Wire

extension DriveReports {
    /// State of the drives for `status`.
    func status(_ settings: Settings) -> CANStatus {
        let linux = settings.hardware.linux
        var status = CANStatus(
            interface: linux.canInterface, protocolName: linux.canProtocol.rawValue)
        status.isDown = isBusOff
        status.setsWatchdogs = linux.setsDriveWatchdogs
        status.unguarded = unguarded.map(\.name)
        status.sentFrames = Int(sentFrames)
        status.receivedFrames = Int(receivedFrames)
        status.malformedFrames = Int(malformedFrames)
        status.errorReports = Int(errorReports)
        status.busOffs = Int(busOffCount)
        status.problem = lastError == 0 ? nil : String(cString: strerror(lastError))
        if let load = BusSchedule(settings).can?.load(rate: Double(settings.loop.rateHz)) {
            status.loadPercent = Number((load * 1000).rounded() / 10)
        }
        status.drives = GimbalAxis.allCases.map { axis in
            self[axis].status(axis: axis, id: Int(linux.canId[axis]))
        }
        return status
    }
}

extension DriveReports {
    /// State of the motors on the serial port for `status`.
    func serialStatus(_ settings: Settings) -> SerialStatus {
        let linux = settings.hardware.linux
        var status = SerialStatus(
            port: linux.motorPort, baud: linux.motorBaud,
            protocolName: linux.motors == .board ? "board" : linux.servoProtocol.rawValue)
        status.isDown = isBusOff
        status.requests = Int(sentFrames)
        status.replies = Int(receivedFrames)
        status.damaged = Int(malformedFrames)
        status.latencyProblem =
            latencyError == 0 ? nil : String(cString: strerror(latencyError))
        status.problem = lastError == 0 ? nil : String(cString: strerror(lastError))
        if let load = SerialLoad(settings)?.load {
            status.loadPercent = Number((load * 1000).rounded() / 10)
        }
        let hasMotor = { (axis: GimbalAxis) in linux.motors == .board || linux.servoId[axis] >= 0 }
        status.motors = GimbalAxis.allCases.filter(hasMotor).map { axis in
            self[axis].status(
                axis: axis,
                id: linux.motors == .board ? Int(axis.rawValue) : Int(linux.servoId[axis]))
        }
        let voltages = status.motors.compactMap(\.supplyV.known)
        status.supplyV = voltages.min().map { Number($0) } ?? .unknown
        return status
    }
}

extension SupplyReport {
    /// State of the supply for `status`; nil if no setting uses it.
    func status(_ settings: Settings) -> SupplyStatus? {
        let supply = settings.supply
        let isUsed = supply.source == .battery || supply.lowV > 0 || supply.emptyV > 0
        guard settings.hardware.backend == .linux, isUsed else { return nil }
        return SupplyStatus(
            source: supply.source.rawValue, voltageV: Number(voltage),
            torqueFactor: supply.nominalV > 0 ? Number(factor) : .unknown)
    }
}

extension DriveReport {
    fileprivate func status(axis: GimbalAxis, id: Int) -> DriveStatus {
        var status = DriveStatus(axis: axis.name, id: id, state: word)
        let words = faultWords.joined(separator: ", ")
        status.fault =
            fault == 0
            ? nil : "0x" + String(fault, radix: 16) + (words.isEmpty ? "" : " (\(words))")
        status.load = Number(load)
        status.currentA = Number(current)
        status.temperatureC = Number(temperature)
        status.supplyV = Number(voltage)
        status.firmware = firmware == 0 ? nil : ODriveEndpoints.text(firmware)
        status.watchdogMs = Number(watchdog * 1e3)
        status.frames = Int(frameCount)
        status.silences = Int(silenceCount)
        status.faults = Int(faultCount)
        return status
    }

    private var word: String {
        if isSilent { return "silent" }
        if fault != 0 { return "fault" }
        if isDisobedient { return "refuses" }
        return switch isRunning {
        case true: "on"
        case false: "off"
        case nil: "answers"
        }
    }
}
