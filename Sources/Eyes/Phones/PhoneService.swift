import Aerie
import Client
import Configuration
import FoundationEssentials
import Glibc
import People
import Recording
import SystemPackage
import WebServing

/// Service with the server for phones and a thread that examines their pictures.
final class PhoneService: Sendable {
    /// The server for phones, with its counters.
    let server: AerieServer
    /// Pages for the command `airframe-eyes aerie`, with the calibrations.
    let pages: LocalPages
    private let thread = CompanionThread()

    /// Starts the server for phones and the thread that examines pictures.
    ///
    /// - Parameters:
    ///   - settings: Settings of the table `[aerie]`; `listen` must not be `off`.
    ///   - models: Directory of the models and of the library (`people.models`).
    ///   - log: Function that writes a sentence to the log.
    /// - Throws: The reason why the server cannot listen, or why its files cannot be read.
    init(
        _ settings: EyesSettings.Aerie, models: String, log: @escaping @Sendable (String) -> Void
    ) throws(VideoError) {
        let options = try Self.options(settings)
        let file = FilePath(settings.directory).appending("alignments.json")
        pages = LocalPages(Self.read(file, log: log)) { alignments in
            do {
                try Self.write(alignments, to: file)
            } catch {
                log("The phones' calibrations cannot be saved in \(file): \(error).")
                throw error
            }
        }
        server = AerieServer(options, local: pages)
        do throws(WebServerError) {
            try server.start()
        } catch {
            throw VideoError(error.description)
        }
        if options.secret == nil, !options.acceptsLegacyToken {
            log(
                "No phone can connect to aerie.listen: set aerie.secret_file, or aerie.accept_legacy_token for HawkSight."
            )
        }
        let directory = ModelFiles.directory(models)
        thread.start("eyes-phones") { [thread, server, pages] in
            let source: PhonePoseSource
            do {
                source = try PhonePoseSource(directory: directory)
            } catch {
                return log("airframe-eyes cannot search the phones' pictures for people: \(error)")
            }
            var worker = AerieWorker(server, source) { device, people in
                pages.note(people, device: device)
            }
            while !thread.mustEnd { worker.step(within: 0.2) }
        }
    }

    /// Port on which the server listens.
    var port: Int { server.port }

    /// Uses a changed certificate for new connections; call this method about once per second.
    ///
    /// - Returns: Reason why the changed files cannot be used; nil if there is no such problem.
    func renewCertificate() -> String? { server.renewCertificate() }

    /// Closes all connections of the server, and stops the thread.
    func stop() {
        thread.stop()
        server.stop()
    }

    /// Values of the phone server for `airframectl status --json`.
    var values: [String: Double] {
        let (counters, examined) = (server.counters, server.examined)
        let refused = server.connections?.refusals.values.reduce(0, +) ?? 0
        return [
            "phones": Double(server.phones), "phone_frames": Double(counters.frames),
            "phone_frames_examined": Double(examined.taken),
            "phone_frames_replaced": Double(examined.replaced),
            "phones_refused": Double(refused + counters.unauthenticated),
        ]
    }

    private static func options(_ settings: EyesSettings.Aerie) throws(VideoError) -> AerieOptions {
        var options = AerieOptions(listen: settings.listen)
        options.acceptsLegacyToken = settings.acceptLegacyToken
        options.axes = settings.cameraAxes
        options.phones = settings.maxPhones
        options.web.limits.connections = 2 * settings.maxPhones + 8
        options.web.limits.message = settings.messageLimit
        options.web.limits.messagesPerSecond = settings.maxRateHz
        var name = [CChar](repeating: 0, count: 256)
        if gethostname(&name, name.count - 1) == 0 {
            let name = String(
                decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            options.web.hosts = [name, name + ".local"]
        }
        if settings.certificate != "off" {
            options.web.tls = .init(certificate: settings.certificate, key: settings.key)
        }
        if settings.secretFile != "off" { options.secret = try secret(in: settings.secretFile) }
        return options
    }

    /// Reads the secret that signs the phones' tokens.
    ///
    /// - Parameter path: Path of the file.
    /// - Returns: The secret, without line ends.
    /// - Throws: The problem with the file, and the remedy. A secret that every user can read is
    ///   refused.
    static func secret(in path: String) throws(VideoError) -> [UInt8] {
        var facts = stat()
        guard let bytes = try? content(of: FilePath(path)), stat(path, &facts) == 0 else {
            throw VideoError(
                "aerie.secret_file: \(path) cannot be read. Create this file, or set aerie.secret_file = \"off\"."
            )
        }
        guard facts.st_mode & 0o007 == 0 else {
            throw VideoError(
                "aerie.secret_file: every user can read \(path). Run sudo chown airframe-eyes: \(path) and sudo chmod o= \(path), and change the secret."
            )
        }
        let secret = Array(bytes.reversed().drop { $0 == 10 || $0 == 13 }.reversed())
        guard secret.count >= 16 else {
            throw VideoError(
                "aerie.secret_file: the secret in \(path) has \(secret.count) bytes and needs at least 16."
            )
        }
        return secret
    }

    /// Reads the first megabyte of a file. Unlike `Data(contentsOf:)`, this function also reads a
    /// named pipe, into which another program writes the secret.
    private static func content(of path: FilePath) throws -> [UInt8] {
        let file = try FileDescriptor.open(path, .readOnly, options: .closeOnExec)
        return try file.closeAfter {
            var all: [UInt8] = []
            var chunk = [UInt8](repeating: 0, count: 4096)
            while all.count < 1_000_000 {
                let count = try chunk.withUnsafeMutableBytes { try file.read(into: $0) }
                if count == 0 { break }
                all += chunk[..<count]
            }
            return all
        }
    }

    /// Reads the phones' calibrations. An unreadable file is renamed, so that the next calibration
    /// does not overwrite it.
    static func read(_ file: FilePath, log: (String) -> Void) -> [Alignment] {
        do {
            return try JSONDecoder().decode(
                [Alignment].self, from: Data(FileDescriptor.bytes(of: file)))
        } catch let error as Errno where error == .noSuchFileOrDirectory {
            return []
        } catch {
            let isKept = rename(file.string, file.string + ".bad") == 0
            log(
                "The phones' calibrations in \(file) cannot be read (\(error)). Calibrate the phones again."
                    + (isKept ? " The file is now \(file).bad." : ""))
            return []
        }
    }

    static func write(_ alignments: [Alignment], to file: FilePath) throws {
        try DurableFile.replace(file.string, with: Array(try JSONEncoder().encode(alignments)))
    }
}
