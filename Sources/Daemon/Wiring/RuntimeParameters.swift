import Configuration
import GimbalCore
import Glibc
import Hardware
import Links
import Logging
import Policy
import Port
import Realtime
import Recording
import Simulation
import SystemPackage

extension Settings {
    /// Rate, priorities and CPU of the real-time threads.
    var runtimeSettings: RuntimeSettings {
        var runtime = RuntimeSettings()
        runtime.rateHz = Double(loop.rateHz)
        runtime.loop.priority = loop.priority
        // The loop has a higher priority than its bus thread, see `ThreadTable`.
        runtime.bus.priority = max(1, loop.priority - 1)
        runtime.motors.priority = runtime.bus.priority
        runtime.power.priority = min(99, loop.priority + 1)
        runtime.loop.cpu = loop.cpu < 0 ? RealtimeSetup.preferredCPU : loop.cpu
        runtime.bus.cpu = runtime.loop.cpu
        // The telemetry's ring buffer holds a quarter of a second, which is 50 times the usual
        // interval between two reads, so that a delayed reader loses no records. A larger ring
        // buffer would need more locked memory.
        runtime.telemetryCapacity = loop.rateHz / 4
        runtime.replayLogBytes = replayLogBytes
        return runtime
    }

    /// Configuration of the simulator's socket.
    var lockstepConfiguration: LockstepConfiguration {
        LockstepConfiguration(
            path: hardware.lockstep.socket, group: diagnostics.group,
            timeout: hardware.lockstep.timeout)
    }

    /// Configuration of Bluetooth.
    var bluetoothConfiguration: BluetoothConfiguration {
        var configuration = BluetoothConfiguration()
        configuration.adapter = bluetooth.adapter == "auto" ? "" : bluetooth.adapter
        configuration.security =
            switch bluetooth.security {
            case .open: .open
            case .encrypted: .encrypted
            }
        configuration.maximumCentrals = bluetooth.maxCentrals
        configuration.writesPerSecond = bluetooth.maxWritesHz
        return configuration
    }

    /// The log level of swift-log with the same name.
    var logLevel: Logger.Level { Logger.Level(rawValue: log.level.rawValue) ?? .info }
}

extension SimulatedBus {
    /// Creates the gimbal of `[hardware.simulation]`.
    ///
    /// - Throws: `DaemonError` if the recorded motion cannot be read.
    init(_ settings: Settings) throws {
        var parameters = SimulatedGimbal.Parameters()
        parameters.motor = settings.motors.type
        parameters.imu.sampleRate = Double(settings.loop.rateHz)
        // The simulated sensor has the configured ranges, so that it saturates at the values that
        // the loop expects.
        parameters.imu.gyroRange = Angle.degrees(settings.imu.gyroRangeDps).radians
        parameters.imu.accelRange = settings.imu.accelRangeG * 9.80665
        if !settings.hardware.simulation.encoders { parameters.encoderCounts = 0 }
        let simulation = settings.hardware.simulation
        parameters.plant.scale(
            inertia: simulation.inertiaFactor, friction: simulation.frictionFactor,
            imbalance: simulation.imbalanceMm)
        parameters.plant.torqueLimit = settings.motors.torqueLimitNm
        parameters.imu.warmUp = 10
        parameters.imu.vibrationHz = simulation.vibrationHz
        parameters.imu.gyroVibration =
            Vector3(1, 1, 1) * Angle.degrees(simulation.vibrationDps).radians
        let seed = UInt64(settings.hardware.simulation.seed)
        self.init(parameters: parameters, motion: try simulation.handleMotion, seed: seed)
    }
}

extension Settings.Simulation {
    /// Motion of the handle: the recorded motion if a recording is configured.
    fileprivate var handleMotion: BaseMotion {
        get throws {
            if motionFile != "off" { return try recordedMotion }
            return BaseMotion(motion, seed: UInt64(seed))
        }
    }

    private var recordedMotion: BaseMotion {
        get throws {
            do throws(IMULogError) {
                let log = try IMULog(path: FilePath(motionFile))
                let samples = try log.handleSamples(path: FilePath(motionFile))
                return BaseMotion(
                    RecordedMotion(samples, sampleRate: log.sampleRate), isRepeated: true)
            } catch {
                throw DaemonError(sentence: "\(error)", exitStatus: DaemonError.noInput)
            }
        }
    }
}

extension Settings {
    /// Wiring of the real chips.
    var wiring: HardwareWiring {
        let linux = hardware.linux
        var wiring = HardwareWiring(
            sensors: sensorWiring, bus: linux.bus, motors: motorWiring, power: powerSwitch)
        wiring.supply = SupplyWiring(
            limits: SupplyWatch.Limits(low: supply.lowV, empty: supply.emptyV),
            nominal: supply.nominalV, isBattery: supply.source == .battery)
        return wiring
    }
}
