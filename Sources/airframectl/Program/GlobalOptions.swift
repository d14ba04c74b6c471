import ArgumentParser
import Client
import Glibc
import Wire

/// Options of every subcommand.
struct GlobalOptions: ParsableArguments {
    static let defaultSocket = "/run/airframe/airframed.sock"

    /// Path of the socket if the option `--socket` is missing: the variable AIRFRAME_SOCKET, unless
    /// it is empty.
    static var usualSocket: String {
        let path = getenv("AIRFRAME_SOCKET").map { String(cString: $0) } ?? ""
        return path.isEmpty ? defaultSocket : path
    }

    @Option(help: "Path of the daemon's socket.", completion: .file())
    var socket: String = usualSocket

    @Flag(help: "Print JSON: one document, or one document per line for continuous output.")
    var json = false

    @Option(help: "Timeout for an answer, seconds.")
    var timeout: Double = 5

    func validate() throws {
        guard timeout > 0, timeout <= 3600 else {
            throw ValidationError("--timeout must be more than 0 and at most 3600 seconds.")
        }
    }

    /// Opens the connection to the daemon. Companion programs that start airframectl set the
    /// variable AIRFRAME_CLIENT to the name of their user, for the daemon's `history`.
    func connect() throws(ClientError) -> DaemonClient {
        let client = try DaemonClient(path: socket, timeout: timeout)
        if let name = getenv("AIRFRAME_CLIENT").map({ String(cString: $0) }), !name.isEmpty {
            _ = try client.json("client", ["name": .string(name)])
        }
        return client
    }

    /// Moves the global options to the end of the arguments, for the subcommand's parser.
    ///
    /// Users write `airframectl --json status`, but ArgumentParser passes options before the
    /// subcommand only to the root command.
    static func movedBehindSubcommand(_ arguments: [String]) -> [String] {
        var rest: [String] = []
        var moved: [String] = []
        var index = 0
        while index < arguments.count, arguments[index] != "--" {
            let argument = arguments[index]
            index += 1
            switch argument {
            case "--json": moved.append(argument)
            case "--socket", "--timeout":
                moved.append(argument)
                if index < arguments.count {
                    moved.append(arguments[index])
                    index += 1
                }
            case _ where argument.hasPrefix("--socket=") || argument.hasPrefix("--timeout="):
                moved.append(argument)
            default: rest.append(argument)
            }
        }
        // If the arguments contain no subcommand, the options are dropped. Therefore the help text
        // appears instead of an error.
        if rest.allSatisfy({ $0.hasPrefix("-") }) { moved = [] }
        return ControlsCommand.separatingAction(in: rest + moved + Array(arguments[index...]))
    }
}
