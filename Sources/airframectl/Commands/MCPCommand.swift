import ArgumentParser
import Assistant
import Client
import Glibc
import SystemPackage
import Wire

struct MCPCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mcp",
        abstract: "Serve the gimbal's tools to an assistant, on standard input and output.",
        discussion: """
            An assistant with the Model Context Protocol starts this command and calls its tools: status, point, turn, stop \
            and others. Any person can take control from an assistant. The settings in [mcp] limit the assistant's motions, and the \
            assistant's changes of settings revert automatically. The page assistants.md of the manual describes the tools and the limits.
            """)

    @Flag(help: "Offer only read-only tools and the emergency stop.")
    var readOnly = false

    @Flag(help: "Offer the tool reset_stop, which resets an emergency stop.")
    var allowReset = false

    @Option(
        help: "Name of the assistant in `history`, instead of the name that the client reports.")
    var name: String?

    @Option(
        help: "Folder of the manual pages that the assistant can read.", completion: .directory)
    var manual: String?

    @OptionGroup var options: GlobalOptions

    func run() throws {
        // If the client no longer reads its input, a write fails, and the server ends.
        signal(SIGPIPE, SIG_IGN)
        let options = options
        let server = try MCPServer(
            name: name, isReadOnly: readOnly, mayReset: allowReset,
            manual: manual ?? Self.installedManual, version: Version.text
        ) { () throws(ClientError) in try options.connect() }
        try StandardStreams(input: STDIN_FILENO, output: STDOUT_FILENO).serve(server)
    }

    /// Path of the installed manual, relative to the program's folder:
    /// PREFIX/share/doc/airframe/manual.
    private static var installedManual: String? {
        var path = [CChar](repeating: 0, count: 4096)
        let count = readlink("/proc/self/exe", &path, path.count - 1)
        guard count > 0 else { return nil }
        let program = FilePath(
            String(decoding: path[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self))
        return program.removingLastComponent().removingLastComponent()
            .appending("share/doc/airframe/manual").string
    }
}
