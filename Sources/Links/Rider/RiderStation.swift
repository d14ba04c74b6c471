import Configuration
import GimbalCore
import Logging
import Port
import Robot
import Wire

/// Handler of all datagrams on the port for remote controls, from every sender. The handler uses no
/// socket and reads no clock; callers pass the time as an argument. Only the thread airframed-rider
/// uses the handler.
struct RiderStation {
    /// Counters of the datagrams since the start of airframed.
    struct Counters: Equatable {
        /// Number of accepted datagrams.
        var accepted: UInt64 = 0
        /// Number of datagrams that contain no valid command.
        var malformed: UInt64 = 0
        /// Number of refused commands: the sender was not in control, or an emergency stop was
        /// latched.
        var refused: UInt64 = 0
        /// Number of commands that were refused because of the key: the authentication code was
        /// missing or invalid, or the counter was already used.
        var unsigned: UInt64 = 0
        /// Number of genuine commands that were not executed, because their counter was not in the
        /// file yet (see `FreshnessFile`): the first ones after a start and after a pause.
        var waitingForDisk: UInt64 = 0
        /// Number of commands that were ignored because a new or long-silent remote control had not
        /// yet sent speeds of zero.
        var waitingForZero: UInt64 = 0
    }

    /// Result of the check of a datagram's code and counter.
    private enum Proof {
        /// The code is valid, and the counter is new.
        case valid
        /// The code is valid, and the counter is new, but it cannot be accepted yet.
        case early
        /// The code is missing or wrong, or the counter was already used.
        case invalid
    }

    private struct Remote {
        var number: UInt64
        var gate = RiderGate()
        var heard: Instant
    }

    /// Largest number of remote controls whose state is stored. If further remote controls send
    /// commands, the state of the least recently active remote control is dropped.
    private static let maximumRemotes = 16

    private(set) var counters = Counters()
    /// Key for the authentication of every command except a stop; nil if no key is needed.
    private let key: SharedKey?
    /// The newest accepted counter; airframed refuses this counter and lower ones.
    private(set) var newest: UInt64
    /// Function that returns true if a genuine counter can be accepted, see `FreshnessFile`.
    private let admits: (UInt64) -> Bool
    private let port: any GimbalPort
    private let log: Logger
    private var remotes: [DatagramAddress: Remote] = [:]
    private var nextNumber: UInt64 = 1

    init(
        port: any GimbalPort, key: SharedKey? = nil, newest: UInt64 = 0,
        admits: @escaping (UInt64) -> Bool = { _ in true }, logger: Logger
    ) {
        self.admits = admits
        self.port = port
        self.key = key
        self.newest = newest
        log = logger
    }

    /// Addresses of the remote controls with an accepted command in the last ten seconds.
    func peers(now: Instant) -> [String] {
        remotes.filter { now.seconds(since: $0.value.heard) < 10 }.keys.map(\.description)
            .sorted()
    }

    /// Executes the command in a datagram, or counts the datagram as invalid.
    mutating func receive(_ bytes: [UInt8], from address: DatagramAddress, now: Instant) {
        let sealed = key == nil ? nil : SealedRiderCommand(datagram: bytes)
        let command: RiderCommand
        do throws(RiderError) {
            command = try RiderCommand(datagram: sealed?.command ?? bytes)
        } catch {
            counters.malformed += 1
            return log.warning(
                "\(address) sent a datagram that is not a command of a remote control: \(error).")
        }
        let proof = check(sealed)
        guard proof == .valid || command == .emergencyStop else {
            return proof == .early ? postpone(address) : refuse(address)
        }
        // The state of a sender is stored only after an accepted request. Therefore unauthorised
        // senders can neither fill the memory nor displace other senders.
        let deadMan = port.settings.drive.deadManS
        var remote = remotes[address] ?? newRemote(at: address, now: now, deadMan: deadMan)
        defer { if remotes[address] != nil { remotes[address] = remote } }
        guard case .drive(let left, let right) = command else {
            return carryOut(command, &remote, address, now)
        }
        let isStanding = left == 0 && right == 0
        guard remote.gate.admits(isStanding: isStanding, now: now, deadMan: deadMan) else {
            counters.waitingForZero += 1
            return log.warning("\(address) must send the speeds 0/0 before the wheels turn.")
        }
        carryOut(command, &remote, address, now)
    }

    private mutating func refuse(_ address: DatagramAddress) {
        counters.unsigned += 1
        log.warning(
            "\(address) sent a command that is not signed with the key, or replayed an old command."
        )
    }

    /// Ignores a genuine command whose counter is being written to the disk.
    private mutating func postpone(_ address: DatagramAddress) {
        counters.waitingForDisk += 1
        log.info(
            "\(address) sent its first command after a pause. The command has no effect, because its counter must be on the disk first; the next command is executed."
        )
    }

    /// State of a remote control at an unknown address.
    ///
    /// An app opens a new socket, with another port, each time it connects. Without its old
    /// connection number, the app would be another client than the one in control. Therefore a new
    /// port continues the connection of its host that has been silent for longer than the dead-man
    /// time; of several, the one with the newest accepted command.
    private func newRemote(
        at address: DatagramAddress, now: Instant, deadMan: Double
    ) -> Remote {
        let host = address.host
        let silent = remotes.filter {
            $0.key.host == host && now.seconds(since: $0.value.heard) > deadMan
        }
        let last = silent.values.max { $0.heard < $1.heard }
        return Remote(number: last?.number ?? nextNumber, heard: now)
    }

    /// Checks that a datagram has a valid code and a new counter; each counter is accepted only
    /// once.
    private mutating func check(_ sealed: SealedRiderCommand?) -> Proof {
        guard let key else { return .valid }
        guard let sealed, sealed.counter > newest, sealed.isRight(key: key) else {
            return .invalid
        }
        guard admits(sealed.counter) else { return .early }
        newest = sealed.counter
        return .valid
    }

    private mutating func carryOut(
        _ command: RiderCommand, _ remote: inout Remote, _ address: DatagramAddress,
        _ now: Instant
    ) {
        do {
            let source = CommandSource(link: .udp, connection: remote.number)
            try port.request(MotionRequest(command), from: source, now: now)
        } catch {
            counters.refused += 1
            remote.gate.refused()
            return log.warning("\(address) refused: \(error.message).")
        }
        counters.accepted += 1
        if remotes[address] == nil {
            if let old = remotes.first(where: { $0.value.number == remote.number }) {
                remotes[old.key] = nil
            } else {
                makeRoom()
                nextNumber += 1
            }
        }
        remote.heard = now
        remotes[address] = remote
        if case .drive(let left, let right) = command {
            remote.gate.accepted(isStanding: left == 0 && right == 0, now: now)
        } else {
            // After an emergency stop the sender must first centre its stick.
            remote.gate.refused()
        }
    }

    private mutating func makeRoom() {
        guard remotes.count >= Self.maximumRemotes,
            let oldest = remotes.min(by: { $0.value.heard < $1.value.heard })
        else { return }
        remotes[oldest.key] = nil
    }
}

extension MotionRequest {
    /// Creates the request for a command of a remote control.
    fileprivate init(_ command: RiderCommand) {
        self =
            switch command {
            case .drive(let left, let right): .drive(left: left, right: right)
            case .emergencyStop: .emergencyStop
            case .resetEmergencyStop: .resetEmergencyStop
            }
    }
}
