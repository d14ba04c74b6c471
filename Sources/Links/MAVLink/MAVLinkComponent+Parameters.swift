import GimbalCore
import Port
import Wire

// MARK: The parameter protocol.
extension MAVLinkComponent {
    private static let float32: UInt8 = 9

    func receiveParameter(_ frame: MAVLinkFrame, from peer: Int, now: Instant) {
        if let message = frame.message(ParamRequestList.self) {
            if isForUs(message.target) { listings[peer] = 0 }
        } else if let message = frame.message(ParamRequestRead.self) {
            guard isForUs(message.target) else { return }
            tell(message.index >= 0 ? Int(message.index) : Self.index(of: message.name), to: peer)
        } else if let message = frame.message(ParamSet.self) {
            guard isForUs(message.target) else { return }
            set(message, by: frame.sender, peer)
        }
    }

    private func set(_ message: ParamSet, by sender: MAVLinkAddress, _ peer: Int) {
        do throws(Refusal) {
            guard message.type == Self.float32, message.value.isFinite else {
                throw Refusal(.refused, "\(message.name) must be a finite float32.")
            }
            try director.demandControl(of: sender)
            guard let parameter = MAVLinkParameter.all.first(where: { $0.name == message.name })
            else { throw Refusal(.refused, "There is no parameter \(message.name).") }
            try port.tuning.change(
                [parameter.changed(port.settings, message.value.decimal)],
                from: CommandSource(sender), by: "mavlink \(sender)")
        } catch {
            count(error)
            for text in announcer.sentence(error.message, severity: 4) { send(text, to: peer) }
        }
        // The protocol requires an answer with the value in force, even if the value has not
        // changed.
        tell(Self.index(of: message.name), to: peer)
    }

    /// Index of a parameter; -1 for an unknown name.
    private static func index(of name: String) -> Int {
        MAVLinkParameter.all.firstIndex { $0.name == name } ?? -1
    }

    private func tell(_ index: Int, to peer: Int) {
        let all = MAVLinkParameter.all
        guard all.indices.contains(index) else { return }
        var answer = ParamValue()
        answer.value = Float(all[index].read(port.settings))
        answer.count = UInt16(all.count)
        answer.index = UInt16(index)
        answer.name = all[index].name
        answer.type = Self.float32
        send(answer, to: peer)
    }

    /// Sends the next parameter of a list that is in progress. Each call sends only one parameter,
    /// to avoid an overload of a slow link.
    ///
    /// - Returns: True if parameters of the list remain to be sent.
    func listParameter(for peer: Int) -> Bool {
        guard let index = listings[peer] else { return false }
        tell(index, to: peer)
        listings[peer] = index + 1 < MAVLinkParameter.all.count ? index + 1 : nil
        return listings[peer] != nil
    }
}

extension Float {
    /// The shortest decimal number whose nearest float32 is this value, such as 1.2 instead of
    /// 1.2000000476837158.
    var decimal: Double { Double("\(self)") ?? Double(self) }
}
