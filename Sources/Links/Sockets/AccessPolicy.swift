/// Credentials of a client, which the kernel recorded at connect(2).
struct PeerCredentials: Equatable, Sendable {
    var pid: Int32
    var user: UInt32
    var group: UInt32
    /// Supplementary groups of the client (SO_PEERGROUPS).
    var supplementaryGroups: [UInt32]
}

/// Policy for write access: root, the daemon's own user, and members of one group.
///
/// The file mode of the socket determines which users can connect. In addition, airframed applies
/// this policy to every write request. An administrator can allow more users to connect, and a user
/// namespace can hide user IDs.
struct AccessPolicy: Equatable, Sendable {
    /// Overflow ID: the kernel's substitute for IDs that are unknown in the daemon's user
    /// namespace. The kernel uses the same substitute ID for many users, so this ID does not
    /// identify a user.
    static let overflowID: UInt32 = 65534

    /// ID of the user that runs the daemon.
    var ownUser: UInt32
    /// ID of the group whose members have write access.
    var group: UInt32
    /// Name of the group whose members have write access, for messages.
    var groupName: String

    func allowsWriting(_ peer: PeerCredentials) -> Bool {
        if peer.user == 0 { return true }
        if peer.user == ownUser, peer.user != Self.overflowID { return true }
        guard group != Self.overflowID else { return false }
        return peer.group == group || peer.supplementaryGroups.contains(group)
    }

    /// Message to a client that requests a change but has no write access.
    var sentence: String {
        // A user should not join root's group, so the message does not suggest this group.
        if group == 0 {
            return "Only root can make changes, because the socket belongs to root's group. "
                + "Use sudo, or set diagnostics.group and restart airframed."
        }
        return "Only root and members of group \(groupName) can make changes. "
            + "Add your user (sudo usermod -aG \(groupName) NAME) and log in again."
    }
}
