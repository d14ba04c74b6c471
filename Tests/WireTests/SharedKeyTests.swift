import Robot
import Testing

@testable import Wire

private func hex(_ bytes: some Sequence<UInt8>) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}

@Suite("Shared keys") struct SharedKeyTests {
    @Test(
        "SHA-256 matches NIST's example vectors for FIPS 180-4",
        arguments: [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
        ])
    func standard(text: String, digest: String) {
        #expect(hex(SHA256.digest(Array(text.utf8))) == digest)
    }

    @Test("SHA-256 of a million bytes, added in pieces of 0 to 200 bytes, is the published value")
    func pieces() {
        var hash = SHA256()
        var left = 1_000_000
        var length = 0
        while left > 0 {
            let piece = min(length, left)
            hash.add([UInt8](repeating: UInt8(ascii: "a"), count: piece))
            left -= piece
            length = (length + 1) % 201
        }
        #expect(
            hex(hash.digest())
                == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
    }

    @Test("the HMAC with a 32-byte key matches Python's hmac module")
    func hmac() {
        let key = SharedKey(passphrase: "correct horse")
        #expect(hex(key.hmac(Array("1 40,-40,0".utf8))) == Self.hmac)
    }

    private static let hmac = "9dc897eab5572001ea8ed4d2f7482c1fd7055bd517afcff00300c2fb676cd521"

    @Test(
        "the HMAC matches the test cases 2 and 6 of RFC 4231, with a short and with a long key",
        arguments: [
            (
                Array("Jefe".utf8), "what do ya want for nothing?",
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
            ),
            (
                [UInt8](repeating: 0xaa, count: 131),
                "Test Using Larger Than Block-Size Key - Hash Key First",
                "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
            ),
        ])
    func secrets(secret: [UInt8], message: String, code: String) {
        #expect(hex(SharedKey(secret: secret).hmac(message.utf8)) == code)
    }

    @Test("a rider's signed datagram is valid only with its key, and only if no bit was changed")
    func sealed() throws {
        let key = SharedKey(passphrase: "correct horse")
        let command = Array("40,-40,0".utf8)
        let datagram = SealedRiderCommand.datagram(counter: 1, command: command, key: key)
        let sealed = try #require(SealedRiderCommand(datagram: datagram))
        #expect(sealed.counter == 1 && sealed.command == command && sealed.isRight(key: key))
        #expect(!sealed.isRight(key: SharedKey(passphrase: "correct house")))
        for index in datagram.indices {
            var changed = datagram
            changed[index] ^= 1
            #expect(SealedRiderCommand(datagram: changed)?.isRight(key: key) != true)
        }
        for text in ["", "1", "1 2", "40,-40,0", "-1 \(hex([UInt8](repeating: 0, count: 16))) x"] {
            #expect(SealedRiderCommand(datagram: Array(text.utf8)) == nil)
        }
    }
}

@Suite("MAVLink 2 signatures") struct MAVLinkSignatureTests {
    private let key = SharedKey(passphrase: "correct horse")
    private let sender = MAVLinkAddress(system: 255, component: 190)

    @Test("a signed frame is 13 bytes longer, decodes as before, and is valid only with its key")
    func signed() throws {
        var bytes = Heartbeat().frame(from: sender, sequence: 7, announcesSignature: true)
        let count = bytes.count
        MAVLinkSignature(link: 3, timestamp: 0x1234_5678_9ABC).append(to: &bytes, key: key)
        #expect(bytes.count == count + MAVLinkSignature.size)
        let signature = try #require(MAVLinkSignature(frame: bytes))
        #expect(signature == MAVLinkSignature(link: 3, timestamp: 0x1234_5678_9ABC))
        #expect(MAVLinkSignature.isRight(bytes, key: key))
        #expect(!MAVLinkSignature.isRight(bytes, key: SharedKey(passphrase: "another")))
        for index in bytes.indices {
            var changed = bytes
            changed[index] ^= 0x10
            #expect(!MAVLinkSignature.isRight(changed, key: key))
        }
        var parser = MAVLinkParser()
        parser.append(bytes)
        guard case .frame(let frame, let whole) = parser.next() else {
            Issue.record("not found")
            return
        }
        #expect(frame.message(Heartbeat.self) == Heartbeat() && whole == bytes)
        #expect(MAVLinkSignature(frame: Heartbeat().frame(from: sender, sequence: 7)) == nil)
    }
}
