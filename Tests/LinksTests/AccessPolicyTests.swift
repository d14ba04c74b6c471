import Testing

@testable import Links

@Suite("Write access over the diagnostics socket")
struct AccessPolicyTests {
    private let policy = AccessPolicy(ownUser: 990, group: 991, groupName: "airframe")

    private func peer(_ user: UInt32, _ group: UInt32, _ more: [UInt32] = []) -> PeerCredentials {
        PeerCredentials(pid: 1, user: user, group: group, supplementaryGroups: more)
    }

    @Test("root, the daemon's user and members of the group can write")
    func allowed() {
        #expect(policy.allowsWriting(peer(0, 0)))
        #expect(policy.allowsWriting(peer(990, 5)))
        #expect(policy.allowsWriting(peer(1000, 991)))
        #expect(policy.allowsWriting(peer(1000, 1000, [4, 27, 991])))
    }

    @Test("other users cannot write, and the refusal names the group")
    func refused() {
        #expect(!policy.allowsWriting(peer(1000, 1000, [4, 27])))
        #expect(policy.sentence.contains("group airframe"))
        #expect(policy.sentence.contains("usermod -aG airframe"))
    }

    @Test("the refusal never suggests joining root's group")
    func rootGroup() {
        let policy = AccessPolicy(ownUser: 0, group: 0, groupName: "root")
        #expect(!policy.allowsWriting(peer(1000, 1000)))
        #expect(!policy.sentence.contains("usermod"))
    }

    @Test("an id that the user namespace hides does not grant access")
    func hidden() {
        let nobody = AccessPolicy(ownUser: 65534, group: 65534, groupName: "nogroup")
        #expect(!nobody.allowsWriting(peer(65534, 65534, [65534])))
        #expect(policy.allowsWriting(peer(65534, 65534, [991])))
    }
}
