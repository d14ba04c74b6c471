import Wire

extension Summary {
    /// Text of the state of Bluetooth, such as "advertising on hci0 as "AirOS Gimbal", open, 2 of 2
    /// advertisements, 1 phone".
    static func bluetooth(_ status: BluetoothStatus) -> String {
        var parts = [status.state]
        if let adapter = status.adapter { parts[0] += " on \(adapter)" }
        if let alias = status.alias { parts[0] += " as \"\(alias)\"" }
        parts.append(status.security)
        let there = status.advertisements.filter(\.isRegistered).count
        parts.append("\(there) of \(status.advertisements.count) advertisements")
        let counters = status.counters
        if counters.restarts > 0 { parts.append("\(counters.restarts) restarts") }
        let refused = counters.refusedWrites + counters.invalidWrites
        if refused > 0 {
            parts.append("\(refused) of \(counters.writes + counters.refusedWrites) writes refused")
        }
        for (name, words) in [
            ("invalid_bauds", "invalid bauds"), ("dropped_messages", "messages dropped"),
        ] {
            let count = status.advertisements.compactMap { $0.counts[name] }.reduce(0, +)
            if count > 0 { parts.append("\(count) \(words)") }
        }
        return parts.joined(separator: ", ")
    }

    /// Text with a link's peers and nonzero counters, such as "127.0.0.1:50010; 812 accepted, 3
    /// malformed".
    static func link(_ status: LinkStatus) -> String {
        let peers = status.peers.isEmpty ? "none" : status.peers.joined(separator: ", ")
        let counts = status.counts.filter { $0.value != 0 }.sorted { $0.key < $1.key }
            .map { "\($0.value) \($0.key.split(separator: "_").joined(separator: " "))" }
        return ([peers] + (counts.isEmpty ? [] : [counts.joined(separator: ", ")]))
            .joined(separator: "; ")
    }

    /// One line for each phone, and one line for a phone that requests pairing.
    static func phones(_ status: BluetoothStatus) -> [String] {
        var lines = status.centrals.map { central in
            let mtu = central.mtu.map { ", MTU \($0)" } ?? ""
            return "\(central.address), connection \(central.connection)\(mtu)"
        }
        if let address = status.pairing?.address {
            lines.append("\(address) wants to pair: `airframectl pair allow` shows the passkey")
        }
        return lines
    }
}
