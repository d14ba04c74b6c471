internal import GimbalCore

/// Properties of an IIO device; they are read from sysfs, and the device is not changed.
struct IIODevice: Sendable, Equatable {
    /// Number of the device.
    var number: Int
    /// Name of the chip, such as `lsm6dsox_gyro`.
    var name: String
    /// Label from the device tree; nil if the device has no label.
    var label: String?
    /// Channels of the buffer; empty if the driver has no buffer.
    var channels: [IIOChannel] = []
    /// Names of the channels, in the order of `channels`.
    var channelNames: [String] = []
    /// True if the format of at least one channel cannot be read.
    var hasUnreadableChannel = false
    /// Folder with the files of the channels (`scan_elements`).
    var elements: KernelFolder
    /// Folder with the files of the buffer.
    var buffer: KernelFolder
    /// The device's folder.
    var folder: KernelFolder

    /// Reads the description of a device; nil if the device has vanished.
    init?(_ tree: IIOTree, number: Int) {
        let folder = tree.device(number)
        guard let name = folder.text("name") else { return nil }
        self.folder = folder
        self.number = number
        self.name = name
        label = folder.text("label")
        // Kernels since 5.11 have a folder for each buffer, and keep the older folder names for the
        // first buffer.
        if folder.folder("buffer0").has("enable") {
            buffer = folder.folder("buffer0")
            elements = buffer
        } else {
            buffer = folder.folder("buffer")
            elements = folder.folder("scan_elements")
        }
        for file in elements.entries where file.hasPrefix("in_") && file.hasSuffix("_en") {
            let channel = String(file.dropLast("_en".count))
            guard let index = elements.number("\(channel)_index"), (0...0xFFFF).contains(index),
                let format = elements.text("\(channel)_type").flatMap({ IIOFormat($0) })
            else {
                hasUnreadableChannel = true
                continue
            }
            channels.append(
                IIOChannel(
                    meaning: IIOChannel.meaning(of: channel), index: Int(index), format: format))
            channelNames.append(channel)
        }
    }

    /// All IIO devices of the kernel, in the order of their numbers.
    static func all(in tree: IIOTree) -> [IIODevice] {
        tree.deviceNumbers().compactMap { IIODevice(tree, number: $0) }
    }

    /// The first device with this name, label or `iio:device` name.
    static func find(_ name: String, in devices: [IIODevice]) -> IIODevice? {
        devices.first { name == "iio:device\($0.number)" || name == $0.label || name == $0.name }
    }

    /// True if the buffer contains all three axes of a quantity.
    func measures(_ quantity: IIOQuantity) -> Bool {
        (0..<3).allSatisfy { axis in channels.contains { $0.meaning == .axis(quantity, axis) } }
    }

    /// True if the buffer contains a time stamp for each scan.
    var hasTimestamp: Bool { channels.contains { $0.meaning == .timestamp } }

    /// File name of an attribute that applies to a quantity; nil if the device has no such
    /// attribute. An attribute of the quantity is preferred to an attribute of the whole device.
    func attribute(_ quantity: IIOQuantity, _ name: String) -> String? {
        ["in_\(quantity.rawValue)_\(name)", "in_\(name)", name].first { folder.has($0) }
    }

    /// Values that an attribute of a quantity can have; nil if the driver lists no values. Some
    /// drivers have an attribute for the quantity, but list its values for the whole device:
    /// bmg160 has in_anglvel_sampling_frequency and sampling_frequency_available (kernel:
    /// drivers/iio/gyro/bmg160_core.c).
    func choices(_ quantity: IIOQuantity, _ name: String) -> IIOChoices? {
        attribute(quantity, "\(name)_available").flatMap { folder.text($0) }
            .flatMap { IIOChoices($0) }
    }
}
