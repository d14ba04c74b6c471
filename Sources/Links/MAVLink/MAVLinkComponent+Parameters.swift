import GimbalCore
import Port
import Wire

// MARK: The protocols of clocks and parameters.
extension MAVLinkComponent {
    private static let float32: UInt8 = 9
    /// Largest number of changed parameters that `reportParameters` sends in one call.
    private static let reportsPerCall = 2

    /// Answers messages about clocks and parameters.
    func receiveOther(_ frame: MAVLinkFrame, from peer: Int, now: Instant) {
        if let message = frame.message(TimeSync.self) {
            guard message.tc1 == 0, isForUs(message.target) else { return }
            var answer = TimeSync()
            answer.tc1 = now.nanoseconds
            answer.ts1 = message.ts1
            answer.target = frame.sender
            send(answer, to: peer)
        } else {
            receiveParameter(frame, from: peer)
        }
    }

    private func receiveParameter(_ frame: MAVLinkFrame, from peer: Int) {
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
            if message.name == Self.profileName {
                let answer = try useProfile(
                    message.value, from: source(of: sender), by: "mavlink \(sender)")
                for text in announcer.sentence(answer, severity: 6) { send(text, to: peer) }
                tellEveryone(Self.parameterCount - 1)
                // A profile can change every parameter.
                for peer in knownPeers { listings[peer] = 0 }
                toldParameters = parameterValues
                return
            }
            guard let parameter = MAVLinkParameter.all.first(where: { $0.name == message.name })
            else { throw Refusal(.refused, "There is no parameter \(message.name).") }
            try port.tuning.change(
                { [parameter.changed($0, message.value.decimal)] },
                from: source(of: sender), by: "mavlink \(sender)")
            tellEveryone(Self.index(of: message.name))
        } catch {
            count(error)
            for text in announcer.sentence(error.message, severity: 4) { send(text, to: peer) }
            // The protocol requires an answer with the value in force, even if the value has not
            // changed.
            tell(Self.index(of: message.name), to: peer)
        }
    }

    /// Sends a changed parameter to all peers, because each ground station stores the values.
    private func tellEveryone(_ index: Int) {
        // Another client can change the value again before it is sent. The next comparison then finds
        // a difference.
        if toldParameters.indices.contains(index) { toldParameters[index] = parameterValues[index] }
        for peer in knownPeers { tell(index, to: peer) }
    }

    /// Sends parameters that have changed in another way than by a ground station, for example by a
    /// phone or at the end of a temporary change, to all peers. Each call sends only a few parameters,
    /// to avoid an overload of a slow link; later calls send the others.
    func reportParameters() {
        let (told, present) = (toldParameters, parameterValues)
        guard told.count == present.count else { return toldParameters = present }
        let changed = present.indices.filter { present[$0] != told[$0] }
        for index in changed.prefix(Self.reportsPerCall) { tellEveryone(index) }
    }

    /// Present values of all parameters, in the order of their indices.
    private var parameterValues: [Float] {
        let settings = port.settings
        return MAVLinkParameter.all.map { Float($0.read(settings)) }
            + [Float(port.tuning.profiles.activeNumber)]
    }

    /// Selects the profile with the given number; the profiles are numbered in the order of their
    /// names, from 1. Returns a message for the user.
    private func useProfile(
        _ number: Float, from source: CommandSource, by who: String
    ) throws(Refusal) -> String {
        let names = port.tuning.profiles.names
        guard let index = Int(exactly: number), (1...max(1, names.count)).contains(index),
            !names.isEmpty
        else {
            throw Refusal(
                .refused,
                names.isEmpty
                    ? "There are no profiles; `airframectl profile store NAME` stores one."
                    : "\(Self.profileName) must be a whole number from 1 to \(names.count).")
        }
        return try port.tuning.useProfile(names[index - 1], from: source, by: who)
    }

    /// Parameter that selects a profile; it is the last parameter.
    static let profileName = "GMB_PROFILE"
    /// Number of parameters, including the parameter that selects a profile.
    static let parameterCount = MAVLinkParameter.all.count + 1

    /// Index of a parameter; -1 for an unknown name.
    private static func index(of name: String) -> Int {
        name == profileName
            ? parameterCount - 1 : MAVLinkParameter.all.firstIndex { $0.name == name } ?? -1
    }

    private func tell(_ index: Int, to peer: Int) {
        guard (0..<Self.parameterCount).contains(index) else { return }
        let all = MAVLinkParameter.all
        var answer = ParamValue()
        answer.count = UInt16(Self.parameterCount)
        answer.index = UInt16(index)
        if all.indices.contains(index) {
            answer.value = Float(all[index].read(port.settings))
            answer.name = all[index].name
        } else {
            answer.value = Float(port.tuning.profiles.activeNumber)
            answer.name = Self.profileName
        }
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
        listings[peer] = index + 1 < Self.parameterCount ? index + 1 : nil
        return listings[peer] != nil
    }
}

extension Float {
    /// The shortest decimal number whose nearest float32 is this value, such as 1.2 instead of
    /// 1.2000000476837158.
    var decimal: Double { Double("\(self)") ?? Double(self) }
}
