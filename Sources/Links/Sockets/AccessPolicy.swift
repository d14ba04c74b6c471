/// Who connected, as the kernel remembers it from the moment of connect(2).
struct PeerCredentials: Equatable, Sendable {
    var pid: Int32
    var user: UInt32
    var group: UInt32
    /// Supplementary groups (SO_PEERGROUPS).
    var supplementaryGroups: [UInt32]
}

/// Who may change things: root, the daemon's own user, and members of one group.
///
/// The mode of the socket already decides who may connect; this decides again for every write, because the socket may
/// have been opened up for reading, and because membership is checked where uids are hidden by a user namespace.
struct AccessPolicy: Equatable, Sendable {
    /// The kernel's stand-in for every id that the daemon's user namespace does not know. Many users share it, so it
    /// proves nothing.
    static let overflowID: UInt32 = 65534

    /// The user that the daemon runs as.
    var ownUser: UInt32
    /// The group whose members may write.
    var group: UInt32
    /// Its name, for the sentence.
    var groupName: String

    func allowsWriting(_ peer: PeerCredentials) -> Bool {
        if peer.user == 0 { return true }
        if peer.user == ownUser, peer.user != Self.overflowID { return true }
        guard group != Self.overflowID else { return false }
        return peer.group == group || peer.supplementaryGroups.contains(group)
    }

    /// What a client without the right is told.
    var sentence: String {
        // Nobody should be told to join root's group.
        if group == 0 {
            return "Changes need root, because the socket has no separate group. "
                + "Use sudo, or set diagnostics.group and restart airframed."
        }
        return "Changes need root or membership of group \(groupName). "
            + "Add your user (sudo usermod -aG \(groupName) NAME) and log in again."
    }
}
