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
}
