/// SHA-256 (FIPS 180-4), for the links' shared keys. MAVLink 2 signs frames with SHA-256; the
/// datagrams of a remote control and the tokens of phones contain an HMAC-SHA256.
///
/// The project contains its own SHA-256, because a library would need too much memory or time.
/// SHA-256 is a single function with published test vectors. The library swift-crypto links
/// BoringSSL; this process would lock BoringSSL's memory. The kernel's AF_ALG needs three system
/// calls for each frame, and the sandbox would have to permit this address family. No branch and no
/// array index depends on the key, so the duration of the computation does not reveal the key.
public struct SHA256: Sendable {
    /// Size of a digest, bytes.
    public static let size = 32
    /// Size of a block, bytes.
    static let block = 64

    private var state: [UInt32] = [
        0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a,
        0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
    ]
    private var pending: [UInt8] = []
    private var count: UInt64 = 0

    /// Creates the hash of an empty sequence of bytes.
    public init() {}

    /// Computes the digest of the given bytes.
    public static func digest(_ bytes: some Collection<UInt8>) -> [UInt8] {
        var hash = SHA256()
        hash.add(bytes)
        return hash.digest()
    }

    /// Hashes more bytes.
    public mutating func add(_ bytes: some Collection<UInt8>) {
        count &+= UInt64(bytes.count)
        pending += bytes
        var start = 0
        while pending.count - start >= Self.block {
            work(pending[start..<(start + Self.block)])
            start += Self.block
        }
        pending.removeFirst(start)
    }

    /// Computes the digest of all added bytes. The bytes are padded with a 1 bit, 0 bits, and the
    /// length in bits (section 5.1.1).
    public func digest() -> [UInt8] {
        var last = self
        let bits = count &* 8
        var padding: [UInt8] = [0x80]
        let used = (pending.count + 1 + 8) % Self.block
        padding += [UInt8](repeating: 0, count: used == 0 ? 0 : Self.block - used)
        padding += stride(from: 56, through: 0, by: -8).map {
            UInt8(truncatingIfNeeded: bits >> UInt64($0))
        }
        last.add(padding)
        return last.state.flatMap { word in
            stride(from: 24, through: 0, by: -8).map {
                UInt8(truncatingIfNeeded: word >> UInt32($0))
            }
        }
    }

    /// Adds one block of the message to the hash (section 6.2.2).
    private mutating func work(_ bytes: ArraySlice<UInt8>) {
        var w = [UInt32](repeating: 0, count: 64)
        for (index, byte) in bytes.enumerated() {
            w[index / 4] |= UInt32(byte) << UInt32(24 - 8 * (index % 4))
        }
        for t in 16..<64 {
            let s0 = Self.turn(w[t - 15], 7) ^ Self.turn(w[t - 15], 18) ^ (w[t - 15] >> 3)
            let s1 = Self.turn(w[t - 2], 17) ^ Self.turn(w[t - 2], 19) ^ (w[t - 2] >> 10)
            w[t] = w[t - 16] &+ s0 &+ w[t - 7] &+ s1
        }
        var (a, b, c, d) = (state[0], state[1], state[2], state[3])
        var (e, f, g, h) = (state[4], state[5], state[6], state[7])
        for t in 0..<64 {
            let s1 = Self.turn(e, 6) ^ Self.turn(e, 11) ^ Self.turn(e, 25)
            let first = h &+ s1 &+ ((e & f) ^ (~e & g)) &+ Self.constants[t] &+ w[t]
            let s0 = Self.turn(a, 2) ^ Self.turn(a, 13) ^ Self.turn(a, 22)
            let second = s0 &+ ((a & b) ^ (a & c) ^ (b & c))
            (h, g, f, e) = (g, f, e, d &+ first)
            (d, c, b, a) = (c, b, a, first &+ second)
        }
        for (index, word) in [a, b, c, d, e, f, g, h].enumerated() { state[index] &+= word }
    }

    private static func turn(_ word: UInt32, _ bits: UInt32) -> UInt32 {
        word >> bits | word << (32 - bits)
    }

    /// Constants of SHA-256, section 4.2.2.
    private static let constants: [UInt32] = [
        0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1,
        0x923f_82a4, 0xab1c_5ed5, 0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3,
        0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174, 0xe49b_69c1, 0xefbe_4786,
        0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
        0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147,
        0x06ca_6351, 0x1429_2967, 0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13,
        0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85, 0xa2bf_e8a1, 0xa81a_664b,
        0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
        0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a,
        0x5b9c_ca4f, 0x682e_6ff3, 0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208,
        0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
    ]
}
