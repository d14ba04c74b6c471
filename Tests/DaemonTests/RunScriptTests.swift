import SystemPackage
import TestSupport
import Testing

@Suite("The script of make run") struct RunScriptTests {
    private static let root = FilePath(#filePath).removingLastComponent().removingLastComponent()
        .removingLastComponent()

    @Test("a file at a fixed path prepares another terminal for the simulated gimbal while it runs")
    func environment() throws {
        try withTemporaryDirectory { directory throws in
            // Without airframe-web, which would occupy its port.
            let programs = directory.appending("programs")
            try makeDirectory(programs)
            try makeDirectory(directory.appending("etc"))
            func run(_ arguments: String...) throws -> Program.Result {
                try Program.run(arguments, in: directory)
            }
            for name in ["run-simulated", "run-daemon", "simulated.toml"] {
                _ = try run("cp", "\(Self.root)/etc/\(name)", "\(directory)/etc/\(name)")
            }
            _ = try run("ln", "-s", try Program.built("airframed"), "\(programs)/airframed")
            // The other terminal's commands, instead of the monitor.
            let other = programs.appending("airframectl")
            try write(
                """
                #!/bin/sh
                . .build/environment
                command -v airframectl
                exec "\(try Program.built("airframectl"))" version
                """, to: other)
            _ = try run("chmod", "+x", other.string)
            let result = try run(
                "sh", "-c", "cd '\(directory)' && exec sh etc/run-simulated programs")
            #expect(result.status == 0, "\(result.errors)")
            #expect(result.output.contains(". \(directory)/.build/environment\n"))
            #expect(result.output.contains("\n\(other)\nairframed "), "\(result.output)")
            #expect(contents(of: "\(directory)/.build/environment") == "")
        }
    }
}
