import Wire

@testable import Links

extension MAVLinkComponent {
    /// All messages of this type that were sent since the last call, or only those to one peer.
    func sent<Message: MAVLinkMessage>(_ type: Message.Type, to peer: Int? = nil) -> [Message] {
        var parser = MAVLinkParser()
        var found: [Message] = []
        for outgoing in takeOutgoing() where peer == nil || outgoing.peer == peer {
            parser.append(outgoing.bytes)
            while let item = parser.next() {
                if case .frame(let frame, _) = item, let message = frame.message(type) {
                    found.append(message)
                }
            }
        }
        return found
    }
}
