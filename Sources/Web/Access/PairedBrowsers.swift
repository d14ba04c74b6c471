import Client
import FoundationEssentials
import Glibc
import Synchronization
import SystemPackage
import Wire

/// A paired browser, without its token.
struct PairedBrowser: Codable, Equatable, Sendable {
    /// ID for `revoke`: the first 8 digits of the token's hash.
    var id: String { String(hash.prefix(8)) }
    /// Name of the browser, as reported by its page.
    var name: String
    /// SHA-256 of the token, hexadecimal.
    var hash: String
    /// Time of the pairing, s since 1970.
    var created: Double
    /// Time at which the token expires, s since 1970.
    var expires: Double
}

/// List of the paired browsers, each with its token's hash. The class is thread-safe.
///
/// A token has 256 random bits. A fast hash is sufficient, because an attacker cannot try all
/// possible tokens. The file contains only hashes, so read access to the file does not reveal
/// tokens.
final class PairedBrowsers: Sendable {
    /// Largest number of paired browsers; a new browser replaces the oldest one.
    static let limit = 64
    /// Longest name of a browser, bytes.
    static let longestName = 48

    private let file: FilePath
    private let lifetime: Double
    private let now: @Sendable () -> Double
    private let entries: Mutex<[PairedBrowser]>

    /// Reads the saved list. An unreadable list counts as empty, and the problem is logged.
    ///
    /// - Parameters:
    ///   - directory: Directory of the list.
    ///   - days: Lifetime of a token.
    ///   - now: Function that returns the wall-clock time, s since 1970.
    init(directory: String, days: Int, now: @escaping @Sendable () -> Double = wallClock) {
        file = FilePath(directory).appending("browsers.json")
        lifetime = Double(days) * 86400
        self.now = now
        var saved: [PairedBrowser] = []
        if let data = try? Data(contentsOf: URL(filePath: file.string)) {
            do {
                saved = try JSONDecoder().decode([PairedBrowser].self, from: data)
            } catch {
                Log.write(
                    "\(file): the list of paired browsers cannot be read, so no browser is paired.")
            }
        }
        entries = Mutex(saved)
    }

    /// Browsers with valid tokens.
    var browsers: [PairedBrowser] {
        let now = now()
        return entries.withLock { $0.filter { $0.expires > now } }
    }

    /// Creates a token for a browser.
    ///
    /// - Parameter name: Name of the browser; control characters are removed.
    /// - Returns: The token, 64 hexadecimal digits; only its hash is stored.
    /// - Throws: `Errno` if the list cannot be saved; no token is issued then.
    func issue(to name: String) throws(Errno) -> String {
        var generator = SystemRandomNumberGenerator()
        let token = (0..<4).map { _ in
            let part = String(generator.next(), radix: 16)
            return String(repeating: "0", count: 16 - part.count) + part
        }.joined()
        let time = now()
        let browser = PairedBrowser(
            name: Self.plain(name), hash: Self.hash(token), created: time,
            expires: time + lifetime)
        try change { list in
            list = list.filter { $0.expires > time }.suffix(Self.limit - 1) + [browser]
        }
        return token
    }

    /// The paired browser with this token; nil if the token is unknown or has expired.
    func browser(token: String) -> PairedBrowser? {
        guard token.utf8.count == 64 else { return nil }
        let hash = Self.hash(token)
        let now = now()
        return entries.withLock { $0.first { $0.hash == hash && $0.expires > now } }
    }

    /// Removes paired browsers.
    ///
    /// - Parameter isRemoved: Function that returns true for each browser to be removed.
    /// - Returns: The removed browsers.
    /// - Throws: `Errno` if the list cannot be saved; no browser is removed then.
    func revoke(where isRemoved: @Sendable (PairedBrowser) -> Bool) throws(Errno)
        -> [PairedBrowser]
    {
        let removed = browsers.filter(isRemoved)
        if !removed.isEmpty { try change { $0.removeAll(where: isRemoved) } }
        return removed
    }

    private func change(_ body: (inout sending [PairedBrowser]) -> Void) throws(Errno) {
        let result = entries.withLock { list -> Result<Void, Errno> in
            let before = list
            body(&list)
            do throws(Errno) {
                try save(list)
                return .success(())
            } catch {
                list = before
                return .failure(error)
            }
        }
        try result.get()
    }

    /// Replaces the file.
    private func save(_ list: [PairedBrowser]) throws(Errno) {
        guard let data = try? JSONEncoder().encode(list) else { throw .invalidArgument }
        try DurableFile.replace(file.string, with: Array(data))
    }

    private static func hash(_ token: String) -> String {
        SHA256.digest(Array(token.utf8)).map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
    }

    /// Limits a name to letters, digits and some punctuation, for lists and for `history`.
    static func plain(_ name: String) -> String {
        let kept = name.unicodeScalars.filter {
            $0.properties.isAlphabetic || $0.properties.numericType != nil
                || " ,.-_()".unicodeScalars.contains($0)
        }
        var text = ""
        for scalar in kept where text.utf8.count + UTF8.width(scalar) <= longestName {
            text.unicodeScalars.append(scalar)
        }
        return text.isEmpty ? "browser" : text
    }
}

extension UTF8 {
    fileprivate static func width(_ scalar: Unicode.Scalar) -> Int {
        UTF8.encode(scalar)?.count ?? 1
    }
}

/// Wall clock, s since 1970.
@Sendable func wallClock() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
}
