import Configuration
import Links
import Wire

extension Settings {
    /// The gimbal's MAVLink address: system and component.
    var mavlinkAddress: MAVLinkAddress {
        MAVLinkAddress(system: UInt8(mavlink.system), component: UInt8(mavlink.component))
    }

    /// Configuration of MAVLink; nil if no peer can reach the gimbal.
    var mavlinkConfiguration: MAVLinkConfiguration? {
        var configuration = MAVLinkConfiguration()
        configuration.address = mavlinkAddress
        configuration.isManager = mavlink.role == .manager
        configuration.listen = DatagramAddress(setting: mavlink.listen)
        configuration.connect = DatagramAddress(setting: mavlink.connect)
        configuration.serial = mavlink.serial == "off" ? nil : mavlink.serial
        configuration.baud = mavlink.baud
        let isReached =
            configuration.listen != nil || configuration.connect != nil
            || configuration.serial != nil
        return isReached ? configuration : nil
    }
}

extension DatagramAddress {
    /// Converts the text of a setting to an address; nil for `off`.
    init?(setting: String) {
        guard let endpoint = NetworkEndpoint(setting) else { return nil }
        self.init(host: endpoint.host, port: endpoint.port)
    }
}
