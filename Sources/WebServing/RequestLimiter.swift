import GimbalCore
import Port

/// Rate limiter for HTTP requests, for each address and for all addresses together. Each limit is a
/// token bucket. The time is a parameter, s on any monotonic clock.
struct RequestLimiter {
    /// Largest number of addresses in the table. If the table is full, all further addresses share
    /// one bucket.
    static let mostAddresses = 1024

    private let limits: WebOptions.Limits
    private var all: TokenBucket
    private var addresses: [String: TokenBucket] = [:]
    private var lastSweep = -Double.infinity

    init(_ limits: WebOptions.Limits) {
        self.limits = limits
        all = Self.bucket(limits, times: Self.share)
    }

    private static func bucket(_ limits: WebOptions.Limits, times share: Double = 1) -> TokenBucket
    {
        TokenBucket(
            burst: share * Double(limits.requestBurst),
            perSecond: share * Double(limits.requestsPerSecond))
    }

    /// Ratio of the limit for all addresses together to the limit for one address.
    private static let share = 4.0

    /// Number of addresses in the table.
    var count: Int { addresses.count }

    /// Accepts or refuses a request.
    ///
    /// - Parameters:
    ///   - address: IP address of the client.
    ///   - now: Current time, s.
    ///   - isTrusted: True if only the host's own limit applies, which the host does not share with
    ///     its network. The caller bounds the number of trusted hosts, so they have places in the
    ///     table in addition to `mostAddresses`.
    /// - Returns: Nil if the request is accepted; otherwise the time after which the next request
    ///   is accepted, s.
    mutating func refusal(of address: String, now: Double, isTrusted: Bool = false) -> Double? {
        let name =
            isTrusted
            ? place(Self.host(address), now: now, isSure: true)
            : place(Self.network(address), now: now)
        let now = Self.instant(now)
        var own = addresses[name] ?? Self.bucket(limits)
        defer { addresses[name] = own }
        if let delay = own.delay(now: now) ?? (isTrusted ? nil : all.delay(now: now)) {
            return delay
        }
        _ = own.take(now: now)
        if !isTrusted { _ = all.take(now: now) }
        return nil
    }

    private static func instant(_ seconds: Double) -> Instant {
        Instant(nanoseconds: 0).advanced(bySeconds: seconds)
    }

    /// Returns the table's key for an address. If the table is full, addresses with a full bucket
    /// are removed, at most once per second. If `isSure` is true, the address has its own place
    /// even in a full table.
    private mutating func place(_ address: String, now: Double, isSure: Bool = false) -> String {
        guard addresses[address] == nil, addresses.count >= Self.mostAddresses else {
            return address
        }
        if now - lastSweep >= 1 {
            lastSweep = now
            addresses = addresses.filter { !$0.value.isFull(now: Self.instant(now)) }
        }
        return isSure || addresses.count < Self.mostAddresses ? address : ""
    }

    /// Complete address of a client. An IPv4 client of an IPv6 socket has its IPv4 address.
    static func host(_ address: String) -> String {
        let network = network(address)
        return network.contains(":") ? address : network
    }

    /// Part of an address that identifies a client: an IPv4 address, or the first 64 bits of an
    /// IPv6 address, because an IPv6 host chooses the other 64 bits itself (RFC 8981).
    static func network(_ address: String) -> String {
        guard address.contains(":") else { return address }
        // IPv4-mapped IPv6 address: an IPv4 client of an IPv6 socket (RFC 4291, section 2.5.5.2).
        if address.contains("."), let colon = address.lastIndex(of: ":") {
            return String(address[address.index(after: colon)...])
        }
        let sides = address.prefix { $0 != "%" }.split(
            separator: "::", maxSplits: 1, omittingEmptySubsequences: false)
        var groups = sides[0].split(separator: ":")
        if sides.count > 1 {
            let rest = sides[1].split(separator: ":")
            groups += Array(repeating: "0", count: max(0, 8 - groups.count - rest.count)) + rest
        }
        return groups.prefix(4).joined(separator: ":")
    }
}
