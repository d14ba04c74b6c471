import Glibc
import SystemPackage
import TestSupport
import Testing
import Wire

@testable import Web

@Suite(
    "The page over TLS, in Chromium", .serialized, .timeLimit(.minutes(1)),
    .enabled(
        if: Chromium.isInstalled && !Sanitizer.isActive,
        "Chromium is not installed: sudo apt install chromium"),
    .enabled(
        if: access("/usr/bin/openssl", X_OK) == 0,
        "openssl, which makes the certificate, is not installed"))
struct TLSPageTests {
    /// Makes a self-signed certificate, and starts airframe-web with this certificate.
    private func start(in directory: FilePath) throws -> Rig {
        let key = directory.appending("key.pem").string
        let certificate = directory.appending("certificate.pem").string
        #expect(
            try shell(
                "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2"
                    + " -subj /CN=gimbal -addext subjectAltName=IP:127.0.0.1"
                    + " -keyout \(key) -out \(certificate) 2>/dev/null") == 0)
        return try Rig(
            in: directory, ["web.certificate=\"\(certificate)\"", "web.key=\"\(key)\""])
    }

    @Test("a page that a proxy encrypts, and airframe-web does not, shows why it cannot connect")
    func proxy() throws {
        try withTemporaryDirectory { directory in
            let rig = try start(in: directory)
            let page = try Chromium.start().page()
            try page.call("Security.setIgnoreCertificateErrors", ["ignore": true])
            try page.open("\(rig.address)/#pair=\(try rig.code())")
            try #require(try page.wait(Chromium.Page.isReady) != nil)
            let session = "fetch('/session').then((answer) => answer.json())"
            #expect(try page.value("\(session).then((state) => state.encrypted)") == true)
            // The answer that airframe-web gives to a proxy without encryption.
            try page.value(
                """
                (window.fetch = async () => new Response(JSON.stringify(
                  { refusal: null, encrypted: false, paired: false, can_read: true })), 1)
                """)
            rig.stopWeb()
            let alarm = "document.querySelector('#alarm').textContent"
            #expect(try page.wait("\(alarm).includes('A proxy decrypts the connection')") != nil)
            #expect(try page.value("\(alarm).includes('web.certificate')") == true)
            try page.call("Security.setIgnoreCertificateErrors", ["ignore": false])
        }
    }

    @Test(
        "with the owner's certificate, the page can be paired, shows live values, and can stop the motors over https"
    )
    func page() throws {
        try withTemporaryDirectory { directory in
            let rig = try start(in: directory)
            #expect(rig.web?.log.contains("The page is at https://127.0.0.1:") == true)
            let page = try Chromium.start().page()
            try page.call("Network.clearBrowserCookies")
            // The certificate is self-signed, so a browser refuses it unless the owner accepts it.
            try page.open(rig.address + "/")
            #expect(try page.value("Boolean(document.querySelector('#stop'))") == false)
            try page.call("Security.setIgnoreCertificateErrors", ["ignore": true])
            try page.resize(390, 844, isPhone: true)
            try page.open("about:blank")
            try page.open("\(rig.address)/#pair=\(try rig.code())")
            try #require(try page.wait(Chromium.Page.isReady) != nil)
            #expect(try page.value("location.protocol") == "https:")
            #expect(try page.value("isSecureContext") == true)
            let cookies = try page.call("Network.getCookies")["cookies"]?.array ?? []
            let name = JSONValue.string("__Host-airframe_token_\(rig.port)")
            let token = try #require(cookies.first { $0["name"] == name })
            #expect(token["secure"] == true && token["httpOnly"] == true)
            #expect(token["sameSite"] == "Strict")
            try page.tap("#stop")
            #expect(eventually(within: 2) { (try? rig.status())?["stopped_by"] != nil })
            // A plain HTTP request to the same port gets no answer.
            let plain = try WebClient(port: rig.port)
            try plain.send("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            #expect(try plain.isClosed())
            try page.call("Security.setIgnoreCertificateErrors", ["ignore": false])
        }
    }

    @Test("an unreadable certificate ends the program, and the error states a remedy")
    func wrong() throws {
        try withTemporaryDirectory { directory in
            let program = try RunningProgram(
                "airframe-web",
                [
                    "--set", "web.listen=127.0.0.1:\(Rig.freePort())", "--set",
                    "web.page=\"\(Rig.page)\"", "--set", "web.control=off", "--set",
                    "web.state_directory=\"\(directory)\"", "--set",
                    "web.certificate=\"\(directory)/none.pem\"", "--set",
                    "web.key=\"\(directory)/none.pem\"",
                ], in: directory)
            #expect(program.wait(seconds: 5) == 69)
            #expect(program.log.contains("Both must be PEM files that this program can read."))
        }
    }
}
