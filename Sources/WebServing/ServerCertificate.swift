import Glibc
import NIOSSL
import Synchronization

/// Certificate of a server and its private key, from their files. The class is thread-safe.
///
/// A certificate is valid for some months, and its owner replaces the files while the server runs.
/// New connections use the certificate that the files contained at the last call of `renew`. An
/// open connection does not change.
final class ServerCertificate: Sendable {
    /// Properties of a file that change if the file is written or replaced, also behind a symbolic
    /// link.
    private struct FileVersion: Sendable, Equatable {
        let device: UInt64
        let inode: UInt64
        let seconds: Int
        let nanoseconds: Int

        /// Reads the properties; nil if there is no such file.
        init?(_ path: String) {
            var info = stat()
            guard stat(path, &info) == 0 else { return nil }
            device = UInt64(info.st_dev)
            inode = UInt64(info.st_ino)
            seconds = Int(info.st_ctim.tv_sec)
            nanoseconds = Int(info.st_ctim.tv_nsec)
        }
    }

    private struct State: Sendable {
        var context: NIOSSLContext
        /// Versions of the files that `context` contains.
        var versions: [FileVersion?]
        var problem: String?
    }

    private let files: WebOptions.TLS
    private let state: Mutex<State>

    /// Reads the files.
    ///
    /// - Throws: An error with a message if the files cannot be used.
    init(_ files: WebOptions.TLS) throws(WebServerError) {
        self.files = files
        // The versions are read first: a change while the files are read is then found by `renew`.
        let versions = Self.versions(files)
        let context = try Self.context(files)
        state = Mutex(State(context: context, versions: versions))
    }

    /// Context for a new connection.
    var context: NIOSSLContext { state.withLock { $0.context } }

    /// Reason why the present files cannot be used, with the paths of the files; nil if the files
    /// are in use. The server then still uses the earlier certificate.
    var problem: String? { state.withLock { $0.problem } }

    /// Reads the files again if they have changed. The call waits for the disk.
    func renew() {
        let versions = Self.versions(files)
        let isSame = state.withLock { state in
            guard state.versions == versions else { return false }
            state.problem = nil
            return true
        }
        if isSame { return }
        let result = Result { () throws(WebServerError) in try Self.context(files) }
        state.withLock { state in
            switch result {
            case .success(let context):
                (state.context, state.versions, state.problem) = (context, versions, nil)
            case .failure(let error):
                state.problem = "\(error) New connections use the earlier certificate."
            }
        }
    }

    private static func versions(_ files: WebOptions.TLS) -> [FileVersion?] {
        [FileVersion(files.certificate), FileVersion(files.key)]
    }

    private static func context(_ tls: WebOptions.TLS) throws(WebServerError) -> NIOSSLContext {
        do {
            var configuration = TLSConfiguration.makeServerConfiguration(
                certificateChain: try NIOSSLCertificate.fromPEMFile(tls.certificate)
                    .map { .certificate($0) },
                privateKey: .privateKey(try NIOSSLPrivateKey(file: tls.key, format: .pem)))
            configuration.minimumTLSVersion = .tlsv12
            return try NIOSSLContext(configuration: configuration)
        } catch {
            throw WebServerError(
                description:
                    "Cannot use the certificate \(tls.certificate) with the key \(tls.key): \(error). Both must be PEM files that this program can read."
            )
        }
    }
}
