/// Text descriptions of the kernel's IIO devices, for `doctor`. The functions read many files and
/// can wait for a driver; neither the loop nor the bus thread calls them.
public enum IIOInventory {
    /// One line of text for each device that measures angular rate, acceleration or magnetic field,
    /// such as `iio:device0 lsm6dsox_gyro: gyroscope at 104 Hz, with a buffer`.
    ///
    /// - Parameter tree: The kernel's folders.
    /// - Returns: The lines, in the order of the devices' numbers.
    public static func lines(_ tree: IIOTree = IIOTree()) -> [String] {
        IIODevice.all(in: tree).compactMap { line($0) }
    }

    private static func line(_ device: IIODevice) -> String? {
        let quantities = IIOQuantity.allCases.filter { quantity in
            device.measures(quantity) || device.folder.has("in_\(quantity.rawValue)_x_raw")
        }
        guard let first = quantities.first else { return nil }
        let words = quantities.map { quantity in
            switch quantity {
            case .gyroscope: "gyroscope"
            case .accelerometer: "accelerometer"
            case .magnetometer: "magnetometer"
            }
        }
        let name = device.label.map { "\(device.name) (\($0))" } ?? device.name
        let rate = device.attribute(first, "sampling_frequency").flatMap { device.folder.text($0) }
        return "iio:device\(device.number) \(name): " + words.joined(separator: ", ")
            + (rate.map { " at \($0) Hz" } ?? "") + ", " + buffer(device, quantities)
    }

    private static func buffer(_ device: IIODevice, _ quantities: [IIOQuantity]) -> String {
        if device.channels.isEmpty { return "without a buffer: not usable" }
        if !quantities.allSatisfy(device.measures) || device.hasUnreadableChannel
            || !device.hasTimestamp
        {
            return "with an incomplete buffer: not usable"
        }
        let trigger = device.folder.folder("trigger")
        if trigger.has("current_trigger"), trigger.text("current_trigger") == nil {
            return "with a buffer, without a trigger"
        }
        return "with a buffer"
    }
}
