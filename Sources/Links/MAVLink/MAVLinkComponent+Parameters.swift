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
            let all = backend.parameters
            let index =
                message.index >= 0
                ? Int(message.index) : all.firstIndex { $0.name == message.name } ?? -1
            tell(all, index, to: peer)
        } else if let message = frame.message(ParamSet.self) {
            guard isForUs(message.target) else { return }
            set(message, by: frame.sender, peer)
        }
    }

    private func set(_ message: ParamSet, by sender: MAVLinkAddress, _ peer: Int) {
        do throws(Refusal) {
            guard message.type == Self.float32, message.value.isFinite else {
                throw Refusal(.refused, "\(message.name) is a finite float32.")
            }
            try director.demandControl(of: sender)
            try backend.set(message.name, to: message.value.decimal, by: sender)
        } catch {
            count(error)
            for text in announcer.sentence(error.message, severity: 4) { send(text, to: peer) }
        }
        // The protocol's answer is the value in force, changed or not.
        let all = backend.parameters
        guard let index = all.firstIndex(where: { $0.name == message.name }) else { return }
        tell(all, index, to: peer)
    }

    private func tell(_ all: [MAVLinkParameter], _ index: Int, to peer: Int) {
        guard all.indices.contains(index) else { return }
        var answer = ParamValue()
        answer.value = Float(all[index].value)
        answer.count = UInt16(all.count)
        answer.index = UInt16(index)
        answer.name = all[index].name
        answer.type = Self.float32
        send(answer, to: peer)
    }

    /// Sends the next parameter of a list that is under way: one at a time, so that a slow link is not flooded.
    ///
    /// - Returns: Whether there are more.
    func listParameter(for peer: Int) -> Bool {
        guard let index = listings[peer] else { return false }
        let all = backend.parameters
        tell(all, index, to: peer)
        listings[peer] = index + 1 < all.count ? index + 1 : nil
        return listings[peer] != nil
    }
}

extension Float {
    /// The shortest decimal number that reads as this float32: 1.2, not 1.2000000476837158.
    var decimal: Double { Double("\(self)") ?? Double(self) }
}
