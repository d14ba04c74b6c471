import Configuration
import SystemPackage
import TestSupport
import Testing

@Suite("Board profiles in etc/boards")
struct BoardProfileTests {
    @Test(
        "every profile is a valid configuration with real motors and a GPIO line that can cut their power",
        arguments: [
            "raspberry-pi-zero-2w", "raspberry-pi-4", "raspberry-pi-5", "can-gimbal",
            "bus-servo-head", "simplefoc-gimbal",
        ])
    func good(name: String) throws {
        let path = CommittedFile("etc/boards/\(name).toml").path
        let loaded = try ConfigurationLoader.load(
            ConfigurationSource(config: path.string, overrides: []))
        #expect(loaded.settings.hardware.backend == .linux)
        #expect(loaded.settings.hardware.linux.motors != .none)
        #expect(loaded.settings.hardware.linux.powerLine == 17)
    }

    @Test(
        "if the motors use the board's UART, the profile tells how to free it from the login prompt",
        arguments: ["simplefoc-gimbal"])
    func console(name: String) throws {
        let file = CommittedFile("etc/boards/\(name).toml")
        let loaded = try ConfigurationLoader.load(
            ConfigurationSource(config: file.path.string, overrides: []))
        #expect(loaded.settings.hardware.linux.motorPort == "/dev/ttyAMA0")
        // The images of Raspberry Pi OS contain this word, and enable_uart=1 starts the console.
        let word = "remove console=serial0,115200"
        let text = try file.text()
        #expect(text.contains("enable_uart=1") && text.contains("cmdline.txt: \(word)"))
        let page = try CommittedFile("etc/manual/wiring.md").text()
        #expect(page.contains("Remove `console=serial0,115200` from `/boot/firmware/cmdline.txt`"))
    }

    @Test(
        "if airframed switches the supply, the profile tells how to switch it on for other tools",
        arguments: [("can-gimbal", "moteus_tool"), ("bus-servo-head", "airframectl motor scan")])
    func supply(name: String, tool: String) throws {
        let file = CommittedFile("etc/boards/\(name).toml")
        let loaded = try ConfigurationLoader.load(
            ConfigurationSource(config: file.path.string, overrides: []))
        let linux = loaded.settings.hardware.linux
        #expect(linux.powerLineRole == .supply)
        let text = try file.text()
        #expect(text.contains(tool))
        for level in ["dh", "dl"] {
            #expect(text.contains("pinctrl set \(linux.powerLine) op \(level)"))
        }
    }
}
