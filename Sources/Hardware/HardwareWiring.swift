internal import GimbalCore
public import Realtime

/// The gimbal's chips and their buses, from the settings.
public struct HardwareWiring: Sendable, Equatable {
    /// Sensors of the gimbal, and their connections.
    public var sensors: SensorWiring
    /// Device file of the I2C bus that the bus thread uses.
    public var bus: String
    /// Motors of the joints, and their connections.
    public var motors: Motors
    /// Supply of the motors.
    public var supply = SupplyWiring()
    /// GPIO line that switches the motors' power; nil if there is none.
    public var power: PowerSwitch?

    /// Creates a wiring.
    public init(
        sensors: SensorWiring, bus: String, motors: Motors = .none, power: PowerSwitch? = nil
    ) {
        self.sensors = sensors
        self.bus = bus
        self.motors = motors
        self.power = power
    }

    /// Creates the bus of the bus thread. The bus thread sets the chips up after the socket has
    /// been opened. Therefore clients can read that a chip is missing. The bus thread writes the
    /// states of the sensors to `reports`.
    ///
    /// - Parameters:
    ///   - reports: State of each sensor, for other threads.
    ///   - period: Period of the loop, s.
    /// - Returns: The bus, for the bus thread.
    public func makeBus(reports: SensorReports, period: Double) -> some GimbalBus {
        var buses: [String: I2CBus] = [:]
        func bus(_ path: String) -> I2CBus {
            if let known = buses[path] { return known }
            let new = I2CBus(path: path)
            buses[path] = new
            return new
        }
        return LinuxBus(
            camera: sensors.camera.make(bus: bus, report: reports.camera),
            handle: sensors.handle.map { handle in
                HandleSensor(
                    sensor: handle.make(bus: bus, report: reports.handle),
                    mounting: sensors.handleMounting, staleSeconds: sensors.staleSeconds)
            },
            encoders: sensors.encoders.map {
                $0.make(
                    bus: bus, staleSeconds: sensors.staleSeconds, reports: reports.encoders)
            },
            drives: feedback(reports.drives, period: period),
            motors: motorsBesideSensor(on: bus(self.bus), supply: reports.drives.supply),
            pace: sensors.dataReady.map {
                DataReady(
                    line: EdgeLine(path: $0.chip, line: $0.line), period: period,
                    report: reports.camera)
            },
            supply: SupplyMonitor(supply, reports: reports.drives))
    }

    private func feedback(_ reports: DriveReports, period: Double) -> (any JointFeedback)? {
        switch motors {
        case .none, .pca9685, .pwm: nil
        case .can(let can): can.feedback(period: period, reports)
        case .serial(let serial): serial.feedback(period: period, reports)
        }
    }
}
