/// Folders in which the kernel lists its IIO devices. Tests use other folders.
public struct IIOTree: Sendable, Equatable {
    /// Folder that contains a subfolder for each device and each trigger.
    public var devices: String
    /// Folder that contains the device files.
    public var files: String

    /// Creates the paths of the folders; the defaults are the kernel's folders.
    public init(devices: String = "/sys/bus/iio/devices", files: String = "/dev") {
        self.devices = devices
        self.files = files
    }

    /// Numbers of all devices, in ascending order.
    func deviceNumbers() -> [Int] { numbers("iio:device") }

    /// Numbers of all triggers, in ascending order.
    func triggerNumbers() -> [Int] { numbers("trigger") }

    /// Folder of a device.
    func device(_ number: Int) -> KernelFolder {
        KernelFolder(path: "\(devices)/iio:device\(number)")
    }

    /// Folder of a trigger.
    func trigger(_ number: Int) -> KernelFolder {
        KernelFolder(path: "\(devices)/trigger\(number)")
    }

    /// Path of the device file of a device.
    func file(_ number: Int) -> String { "\(files)/iio:device\(number)" }

    private func numbers(_ prefix: String) -> [Int] {
        KernelFolder(path: devices).entries
            .compactMap { $0.hasPrefix(prefix) ? Int($0.dropFirst(prefix.count)) : nil }
            .filter { (0...0xFFFF).contains($0) }.sorted()
    }
}

/// Values that an attribute can have: a list, or a range `[minimum step maximum]`.
package enum IIOChoices: Sendable, Equatable {
    /// The listed values in the kernel's spelling.
    case list([String])
    /// A range: all values from the first to the second number.
    case range(Double, Double)

    private static let most = 256

    /// Parses the text of an `_available` file; nil if the text contains no values.
    package init?(_ text: String) {
        let isRange = text.hasPrefix("[") && text.hasSuffix("]")
        let words = text.split { $0.isWhitespace || $0 == "[" || $0 == "]" }.prefix(Self.most)
            .map(String.init)
        let numbers = words.compactMap { Double($0) }
        guard !numbers.isEmpty, numbers.count == words.count, numbers.allSatisfy(\.isFinite)
        else { return nil }
        if isRange {
            guard numbers.count == 3, numbers[0] <= numbers[2] else { return nil }
            self = .range(numbers[0], numbers[2])
        } else {
            self = .list(words)
        }
    }

    /// The smallest value that is at least `wanted`; the largest value if all values are smaller.
    /// The result has the kernel's spelling, because some drivers accept no other spelling.
    package func atLeast(_ wanted: Double) -> String {
        switch self {
        case .range(let low, let high): return "\(min(max(wanted, low), high))"
        case .list(let words):
            let sorted = words.compactMap { word in Double(word).map { (word, $0) } }
                .sorted { $0.1 < $1.1 }
            // A value that is less than 1 % below `wanted` is accepted as equal, because drivers
            // round.
            let found = sorted.first { $0.1 >= 0.99 * wanted } ?? sorted.last
            return found?.0 ?? "\(wanted)"
        }
    }
}

extension KernelFolder {
    /// The values that an attribute can have, from the file with the suffix `_available`.
    func choices(_ name: String) -> IIOChoices? {
        text("\(name)_available").flatMap { IIOChoices($0) }
    }
}
