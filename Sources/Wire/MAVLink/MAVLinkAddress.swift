/// Address of a component in a system. In a target address, 0 means all systems or all components.
public struct MAVLinkAddress: Hashable, Sendable, CustomStringConvertible {
    /// ID of the system. A system is a vehicle with all its components, or a ground station.
    public var system: UInt8
    /// ID of the component within the system.
    public var component: UInt8

    /// Creates the address of a component.
    public init(system: UInt8, component: UInt8) {
        self.system = system
        self.component = component
    }

    /// The address 0/0. Address of no component; as a target address, it includes all components of
    /// all systems.
    public static let none = MAVLinkAddress(system: 0, component: 0)

    /// The address as text, for example "255/190".
    public var description: String { "\(system)/\(component)" }

    /// True if this target address includes `receiver`.
    public func reaches(_ receiver: MAVLinkAddress) -> Bool {
        (system == 0 || system == receiver.system)
            && (component == 0 || component == receiver.component)
    }
}
