import ArgumentParser
import Client
import Wire

struct ProfileCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "profile",
        abstract: "Switch between named sets of settings.",
        discussion: """
            list         the profiles; a star marks the one that was selected last (the default)
            use NAME     select a profile: all its settings take effect in the same tick
            next         select the next profile in the order of the names
            store NAME   store the present settings as a profile
            delete NAME  delete a profile

            A profile is a baseline (`airframectl baseline`), so it contains every setting that was changed while airframed \
            runs. A button can also select a profile: `airframectl controls learn profile next`.
            """)

    /// Actions on a profile.
    enum Action: String, ExpressibleByArgument, CaseIterable {
        case list, use, next, store, delete
    }

    @OptionGroup var options: GlobalOptions
    @Argument(help: "Action: list, use, next, store or delete.")
    var action: Action = .list
    @Argument(
        help: "Name of the profile: letters, digits, -, _ and dots.",
        completion: LiveCompletion.baselines)
    var name: String?

    func validate() throws {
        let needsName = action != .list && action != .next
        guard needsName == (name != nil) else {
            throw ValidationError(
                needsName ? "\(action.rawValue) needs a name." : "\(action.rawValue) has no name.")
        }
    }

    func run() throws {
        let client = try options.connect()
        let word = action == .use ? "restore" : action.rawValue
        var params: [String: JSONValue] = ["action": .string(word)]
        params["name"] = name.map(JSONValue.string)
        let result: BaselineReport = try client.request(.baseline, params)
        if options.json { return try Output.json(result) }
        if action != .list { return Output.line(result.sentence) }
        if result.names.isEmpty {
            return Output.line(
                "There are no profiles. `airframectl profile store NAME` creates a profile.")
        }
        for name in result.names {
            Output.line((name == result.active ? "* " : "  ") + name)
        }
    }
}
