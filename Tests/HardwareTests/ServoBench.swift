import Configuration
import GimbalCore
import MotorModels
import Realtime

@testable import Hardware

/// airframed's side of a serial line with three motors, and the model on the other side, in
/// computed time.
final class ServoBench {
    let line: ModelLine
    let reports = DriveReports()
    let motors: SerialMotors
    let feedback: SerialFeedback
    let period: Double
    var output = MotorOutput.off

    /// `damaged`: fraction of the bytes that are changed, in both directions. `latency`: delay of the
    /// port in each direction, s. `zero`: reading of each servo at joint angle zero, rad.
    init(
        _ devices: HardwareWiring.SerialDrives.Devices = .feetech, count: Int32 = 3,
        rate: Double = 250, echoes: Bool = true, damaged: Double = 0,
        latency: Double = SerialLine.latencies.uart, zero: AxisVector? = nil
    ) {
        line = ModelLine(devices.kind, count: count, latency: latency)
        line.with {
            $0.echoes = echoes ? 1 : 0
            $0.damaged = damaged
            $0.damaged_commands = damaged
        }
        var wiring = devices.wiring(port: "", count: count, rate: rate)
        if let zero { wiring.zero = zero }
        motors = SerialMotors(
            line: line, codec: wiring.codec,
            installation: SerialMotors.Installation(
                baud: wiring.baud, zero: wiring.zero, direction: wiring.direction,
                period: 1 / rate), reports: reports)
        feedback = wiring.feedback(period: 1 / rate, reports)
        period = 1 / rate
    }

    /// Runs both sides for a time, with the calls of the bus threads in each period. `each` is
    /// called after each period; if it returns false, the run ends.
    func run(_ seconds: Double, each: (Instant) -> Bool = { _ in true }) {
        let end = line.now.advanced(bySeconds: seconds)
        while line.now < end {
            let now = line.now
            feedback.read(now: now)
            do throws(BusError) {
                if try motors.prepare(now: now) { try motors.write(output, now: now) }
            } catch {}
            if !each(now) { return }
            line.advance(to: now.advanced(bySeconds: period))
        }
    }

    /// Time until a condition holds, s.
    func time(limit: Double = 5, until holds: () -> Bool) -> Double {
        let began = line.now
        run(limit) { _ in !holds() }
        return line.now.seconds(since: began)
    }

    var sample: IMUSample {
        var sample = IMUSample(time: line.now, gyro: .zero, accel: .zero)
        feedback.read(now: line.now)
        feedback.add(to: &sample)
        return sample
    }

    static func angles(_ yaw: Double, _ roll: Double, _ pitch: Double) -> MotorOutput {
        MotorOutput(
            enabled: true, angle: AxisVector(yaw: yaw, roll: roll, pitch: pitch),
            power: AxisVector(repeating: 1))
    }
}

extension HardwareWiring.SerialDrives.Devices {
    var kind: mm_kind {
        switch self {
        case .feetech: MM_FEETECH
        case .dynamixelPosition, .dynamixelCurrent: MM_DYNAMIXEL
        case .board: MM_BOARD
        }
    }

    func wiring(port: String, count: Int32 = 3, rate: Double = 250) -> HardwareWiring.SerialDrives {
        var wiring = HardwareWiring.SerialDrives(port: port, baud: 1_000_000, devices: self)
        wiring.rate = rate
        if self != .board { wiring.zero = AxisVector(repeating: .pi) }
        if count == 2 { wiring.ids = AxisVector(yaw: 1, roll: -1, pitch: 2) }
        return wiring
    }
}
