/// Message with the state of the battery.
public struct BatteryReport: MAVLinkMessage {
    /// Format of BATTERY_STATUS, message number 147. The fields from `timeRemaining` on are
    /// extensions, absent in MAVLink 1.
    public static let format = MAVLinkFormat(
        147, "BATTERY_STATUS", crcExtra: 154, size: 36)

    /// Consumed charge, mAh; -1 means unknown.
    public var consumedCharge: Int32 = 0
    /// Consumed energy, in units of 100 J; -1 means unknown.
    public var consumedEnergy: Int32 = 0
    /// Temperature, hundredths of a degree Celsius; 32767 means unknown.
    public var temperature: Int16 = 0
    /// Voltage of each cell, mV; 65535 means unused. If the cell voltages are unknown, the first
    /// value is the voltage of the battery.
    public var voltages = InlineCells<10>()
    /// Current, in units of 10 mA; -1 means unknown.
    public var current: Int16 = 0
    /// ID of the battery.
    public var id: UInt8 = 0
    /// Function: MAV_BATTERY_FUNCTION.
    public var function: UInt8 = 0
    /// Chemistry: MAV_BATTERY_TYPE.
    public var type: UInt8 = 0
    /// Charge, 0...100, %; -1 means unknown.
    public var remaining: Int8 = 0
    /// Time until the battery is empty, s; 0 means unknown.
    public var timeRemaining: Int32 = 0
    /// Charge state: MAV_BATTERY_CHARGE_STATE.
    public var chargeState: UInt8 = 0
    /// Voltages of cells 11 to 14, mV; 0 means unused.
    public var moreVoltages = InlineCells<4>()
    /// Mode: MAV_BATTERY_MODE.
    public var mode: UInt8 = 0
    /// Faults: MAV_BATTERY_FAULT.
    public var faults: UInt32 = 0

    /// Creates a message with all fields zero.
    public init() {}

    /// Visits the fields in wire order.
    public mutating func visit(_ fields: inout some MAVLinkFields) {
        fields.integer(&consumedCharge)
        fields.integer(&consumedEnergy)
        fields.integer(&temperature)
        voltages.visit(&fields)
        fields.integer(&current)
        fields.integer(&id)
        fields.integer(&function)
        fields.integer(&type)
        fields.integer(&remaining)
        fields.integer(&timeRemaining)
        fields.integer(&chargeState)
        moreVoltages.visit(&fields)
        fields.integer(&mode)
        fields.integer(&faults)
    }
}

/// Voltages of a battery's cells, mV.
public struct InlineCells<let count: Int>: Sendable, Equatable {
    private var cells = InlineArray<count, UInt16>(repeating: 0)

    /// Creates cells with voltages of zero.
    public init() {}

    /// Voltage of one cell, mV.
    public subscript(index: Int) -> UInt16 {
        get { cells[index] }
        set { cells[index] = newValue }
    }

    mutating func visit(_ fields: inout some MAVLinkFields) {
        for index in 0..<count { fields.integer(&cells[index]) }
    }

    /// True if both values contain the same voltage for each cell.
    public static func == (a: InlineCells, b: InlineCells) -> Bool {
        (0..<count).allSatisfy { a.cells[$0] == b.cells[$0] }
    }
}
