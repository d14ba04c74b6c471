import Client
import Configuration
import Testing
import Wire

@testable import airframectl

@Suite("Import of the rider's config.yaml")
struct RiderConfigurationTests {
    private func read(_ text: String) throws(ClientError) -> RiderConfiguration {
        RiderConfiguration(try YAMLFile.entries(of: Array(text.utf8), file: "config.yaml"))
    }

    @Test("the ports, bus, address, limit, acceleration and timeout are converted to settings")
    func settings() throws {
        let rider = try read(
            """
            # Settings of a rider
            network:
              motor_udp_port: 5005
              bind_address: "127.0.0.1"
            motors:
              i2c_bus: 1
              i2c_address: 0x16   # hexadecimal
              speed_limit: 80
              acceleration: 50
              command_timeout: 1.5
            """)
        #expect(
            rider.pairs.map { "\($0.line): \($0.key) = \($0.value)" } == [
                "3: rider.listen = \"127.0.0.1:5005\"", "6: drive.bus = \"/dev/i2c-1\"",
                "7: drive.board = \"rider\"", "8: drive.limit = 0.8",
                "9: drive.acceleration = 2", "10: drive.dead_man_s = 1.5",
            ])
        #expect(rider.ignored.isEmpty)
    }

    @Test("each key without an effect is reported with its line and the reason")
    func ignored() throws {
        let rider = try read(
            """
            network: {rtsp_port: 8554}
            camera:
              resolution: [640, 480]
            motors: {i2c_address: 0x2B, invert_left: true}
            safety:
              watchdog_timeout: 2.0
            colour: red
            """)
        #expect(rider.pairs.isEmpty)
        #expect(
            rider.ignored.map { "\($0.line) \($0.key)" } == [
                "1 network.rtsp_port", "3 camera.resolution", "4 motors.i2c_address",
                "4 motors.invert_left", "6 safety.watchdog_timeout", "7 colour",
            ])
        #expect(rider.ignored[2].reason.contains("0x16"))
        #expect(rider.ignored[5].reason == "the key is unknown")
    }

    @Test("the older layout of the file is accepted, too")
    func older() throws {
        let rider = try read(
            "motor:\n  udp_port: 5000\n  max_speed: 100\n  timeout: 1.0\n  serial_port: /dev/ttyUSB0\n"
        )
        #expect(
            rider.pairs.map { "\($0.key) = \($0.value)" } == [
                "rider.listen = \"0.0.0.0:5000\"", "drive.limit = 1", "drive.dead_man_s = 1",
            ])
        #expect(rider.ignored.map(\.key) == ["motor.serial_port"])
    }

    @Test(
        "the number of the I2C bus cannot be a path or another text",
        arguments: ["-1", "1/../../../tmp/x", "\"1 \"", "~", "256", "{a: 1}"])
    func bus(_ value: String) throws {
        let rider = try read("motors:\n  i2c_bus: \(value)\n  speed_limit: 50\n")
        #expect(rider.pairs.map(\.key) == ["drive.limit"])
        #expect(rider.ignored.count == 1)
    }

    @Test("text instead of a number is kept as a string, so that airframed refuses the value")
    func notANumber() throws {
        #expect(try read("motors: {speed_limit: fast}").pairs.first?.value == "\"fast\"")
        #expect(
            try read(#"network: {bind_address: "a\"; x", motor_udp_port: 1}"#).pairs.first?.value
                == #""a\"; x:1""#)
    }

    @Test(
        "a file that is not a mapping of keys is refused with its line",
        arguments: [
            ("motors:\n\tspeed_limit: 1\n", "config.yaml:2:"),
            ("a: &x 1\nb: *x\n", "config.yaml:2: aliases"),
            ("- 1\n- 2\n", "config.yaml:1: the file must contain keys"),
            ("a: 1\na: 2\n", "config.yaml:2: the key a appears twice"),
            ("a: 1\n---\nb: 2\n", "config.yaml:2: the file contains two documents"),
            (String(repeating: "{a: ", count: 40), "too many levels"),
            ("just a text", "config.yaml:1: the file must contain keys"),
        ])
    func refused(text: String, message: String) {
        let error = #expect(throws: ClientError.self) { try read(text) }
        #expect(
            error?.requestError.message.contains(message) == true, "\(String(describing: error))")
    }

    @Test("an empty file gives no settings")
    func empty() throws {
        #expect(try read("").pairs.isEmpty)
        #expect(try read("# nothing\n").ignored.isEmpty)
    }
}
