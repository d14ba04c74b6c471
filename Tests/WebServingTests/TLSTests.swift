import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import WebServing

@Suite("TLS", .timeLimit(.minutes(1)))
struct TLSTests {
    /// Runs a command of the shell.
    private func shell(_ command: String) -> String {
        guard let pipe = popen(command, "r") else { return "" }
        var text: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while case let count = fread(&chunk, 1, chunk.count, pipe), count > 0 {
            text += chunk[..<count]
        }
        pclose(pipe)
        return String(decoding: text, as: UTF8.self)
    }

    /// Runs `body` with the paths of a new certificate and its key, and with a folder for other
    /// files; skips the test without openssl.
    private func withCertificate(
        _ body: (_ certificate: String, _ key: String, _ directory: FilePath) throws -> Void
    ) throws {
        guard !shell("command -v openssl").isEmpty else {
            print("SKIPPED: TLS, because the program openssl is not installed")
            return
        }
        try withTemporaryDirectory { directory in
            let key = directory.appending("key.pem").string
            let certificate = directory.appending("certificate.pem").string
            makeCertificate(certificate, key: key)
            try body(certificate, key, directory)
        }
    }

    /// Makes a key and a self-signed certificate; the files can exist already.
    private func makeCertificate(_ certificate: String, key: String) {
        _ = shell(
            "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2"
                + " -subj /CN=localhost -keyout \(key) -out \(certificate) 2>/dev/null")
    }

    /// Answer to a client that accepts only one certificate; empty if the server has another one.
    private func answer(_ server: WebServer, accepting certificate: String) -> String {
        let request = "GET / HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n"
        return shell(
            "(printf '\(request)'; sleep 1) | openssl s_client -quiet -verify_return_error"
                + " -CAfile \(certificate) -connect 127.0.0.1:\(server.port) 2>/dev/null")
    }

    @Test("new connections use a renewed certificate without a restart, and never unusable files")
    func renew() throws {
        try withCertificate { certificate, key, directory in
            let old = directory.appending("old.pem").string
            _ = shell("cp \(certificate) \(old)")
            try withServer({ $0.tls = .init(certificate: certificate, key: key) }) { server, _ in
                #expect(server.renewCertificate() == nil)
                #expect(answer(server, accepting: old).hasPrefix("HTTP/1.1 200 OK\r\n"))
                _ = shell("mv \(key) \(key).old")
                let problem = server.renewCertificate() ?? ""
                #expect(problem.contains("with the key \(key)"))
                #expect(problem.hasSuffix("New connections use the earlier certificate."))
                #expect(answer(server, accepting: old).hasPrefix("HTTP/1.1 200 OK\r\n"))
                makeCertificate(certificate, key: key)
                #expect(server.renewCertificate() == nil)
                #expect(answer(server, accepting: certificate).hasPrefix("HTTP/1.1 200 OK\r\n"))
                #expect(answer(server, accepting: old).isEmpty)
            }
        }
    }

    @Test("the connection is encrypted with the owner's certificate, and plain HTTP is refused")
    func serve() throws {
        try withCertificate { certificate, key, _ in
            try withServer({ $0.tls = .init(certificate: certificate, key: key) }) { server, _ in
                let answer = answer(server, accepting: certificate)
                #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"))
                #expect(answer.hasSuffix("<p>page"))
                let plain = try WebClient(port: server.port)
                try plain.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
                #expect(try plain.isClosed())
                #expect(server.counters.refusals == [.handshake: 1])
            }
            let error = #expect(throws: WebServerError.self) {
                try withServer({ $0.tls = .init(certificate: key, key: certificate) }) { _, _ in }
            }
            #expect(error?.description.contains("Both must be PEM files") == true)
        }
    }
}
