import Wire

extension BatteryReport {
    /// MAV_BATTERY_FUNCTION_PAYLOAD: the battery does not supply the vehicle.
    private static let payload: UInt8 = 4
    /// Charge below which the state is critical, as a fraction of `lowPercent`.
    private static let critical = 0.5

    /// Creates the message for the state of a battery.
    ///
    /// - Parameters:
    ///   - status: State of the battery.
    ///   - lowPercent: Charge below which the battery is low, %.
    ///   - id: ID of the battery. Ground stations show batteries of one system with the same ID as
    ///     one battery.
    init(_ status: BatteryStatus, lowPercent: Double, id: UInt8) {
        self.init()
        self.id = id
        consumedCharge = -1
        consumedEnergy = -1
        temperature = Self.integer(status.temperatureC.known, 100) ?? .max
        for index in 1..<10 { voltages[index] = .max }
        // A voltage that does not fit into 16 bits is divided among several cells.
        var rest = Int((status.voltageV.known ?? 0) * 1000)
        voltages[0] = status.voltageV.known == nil ? .max : 0
        var cell = 0
        while rest > 0, cell < 10 {
            voltages[cell] = UInt16(min(rest, Int(UInt16.max) - 1))
            rest -= Int(voltages[cell])
            cell += 1
        }
        // -1 means an unknown current, so a charging current of 10 mA is sent as 20 mA.
        current = Self.integer(status.currentA.known, 100).map { $0 == -1 ? -2 : $0 } ?? -1
        function = Self.payload
        remaining = status.percent.known.map { Int8(min(max($0, 0), 100).rounded()) } ?? -1
        timeRemaining = status.timeLeftS.known.map { Int32(min(max($0, 0), 1e7)) } ?? 0
        chargeState =
            switch status.percent.known {
            case _ where status.state == "charging": 7
            case nil: 0
            case let percent? where percent < Self.critical * lowPercent: 3
            case _ where status.isLow: 2
            default: 1
            }
    }

    private static func integer(_ value: Double?, _ factor: Double) -> Int16? {
        value.map { Int16(min(max($0 * factor, -32767), 32766).rounded()) }
    }
}
