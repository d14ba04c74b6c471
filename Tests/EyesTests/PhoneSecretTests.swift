import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import Eyes

@Suite("Secret of the phones' tokens")
struct PhoneSecretTests {
    @Test("a secret that every user can read is refused, and the message contains the remedy")
    func mode() throws {
        try withTemporaryDirectory { directory in
            let file = directory.appending("secret")
            try write("0123456789abcdef\n", to: file)
            #expect(try PhoneService.secret(in: file.string) == Array("0123456789abcdef".utf8))
            for mode: mode_t in [0o644, 0o604, 0o602] {
                #expect(chmod(file.string, mode) == 0)
                #expect {
                    try PhoneService.secret(in: file.string)
                } throws: {
                    "\($0)".contains("chmod o= \(file)")
                }
            }
            #expect(chmod(file.string, 0o640) == 0)
            #expect(try PhoneService.secret(in: file.string).count == 16)
        }
    }

    @Test("a secret in a named pipe is read to its end")
    func pipe() throws {
        try withTemporaryDirectory { directory in
            let pipe = directory.appending("secret").string
            try #require(mkfifo(pipe, 0o600) == 0)
            // The opening of the pipe waits for the other end.
            let writer = try spawn([
                "/bin/sh", "-c", "{ printf 01234567; sleep 0.1; echo 89abcdef; } > \(pipe)",
            ])
            defer { waitpid(writer, nil, 0) }
            #expect(try PhoneService.secret(in: pipe) == Array("0123456789abcdef".utf8))
        }
    }
}
