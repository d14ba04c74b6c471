import ArgumentParser
import Client
import Configuration
import FoundationEssentials
import Glibc
import PlainText
import Shots
import SystemPackage
import Wire

struct ShootCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "shoot",
        abstract:
            "Take a series of photos: panorama, time-lapse, orbit, or key frames from a file.",
        discussion: """
            The camera moves through a sequence of attitudes, and takes a photo at each attitude when it is still. The gimbal must be in mode locked. Ctrl-C or \
            `shoot pause` ends the run after the present photo; `shoot resume` continues it, also after a restart of the computer. \
            --dry-run shows the plan without a daemon, and --svg draws it.
            Examples:
              airframectl shoot panorama --fov-width 66 --fov-height 41 --width 180 --height 60 --dry-run --svg plan.svg
              airframectl shoot timelapse --photos 300 --interval 10 --yaw 40 --eyes
              airframectl shoot shots.toml
            """,
        subcommands: [
            ShootFileCommand.self, ShootPanoramaCommand.self, ShootTimelapseCommand.self,
            ShootOrbitCommand.self, ShootResumeCommand.self, ShootPauseCommand.self,
            ShootStatusCommand.self,
        ], defaultSubcommand: ShootFileCommand.self)
}

/// Options of every kind of shot.
struct ShootOptions: ParsableArguments {
    @Flag(help: "Show the plan; do not move the camera.")
    var dryRun = false
    @Option(help: "Draw the plan into this file (SVG).", completion: .file())
    var svg: String?
    @OptionGroup var place: ShootState
    @Flag(help: "Continue an unfinished run of the same shot; begin if there is none.")
    var resume = false
    @Flag(help: "Begin again, although an earlier run is unfinished.")
    var again = false

    func validate() throws {
        guard !resume || !again else {
            throw ValidationError("Give --resume or --again, not both.")
        }
    }
}

/// Option for the path of the saved state.
struct ShootState: ParsableArguments {
    @Option(
        help:
            "File with the state of the shot; default: shot.json in ~/.local/state/airframe.",
        completion: .file())
    var state: String?

    var path: String { state ?? ShotStore.usualPath }
}

/// Options that select the shutter and the camera's motion between photos.
struct ShutterOptions: ParsableArguments {
    @Flag(help: "Take photos with airframe-eyes.")
    var eyes = false
    @Option(
        help:
            "Command that takes a photo; spaces separate its arguments. {file} stands for the photo's file name, {number} for the photo's number."
    )
    var command: String?
    @Option(help: "Path of the photo's file for --command, with {number}.", completion: .file())
    var file: String?
    @Option(help: "Line of /dev/gpiochip0 that triggers the camera.")
    var gpio: Int?
    @Option(help: "HOST:PORT of a MAVLink camera.")
    var mavlink: String?
    @Option(help: "Time for which the camera holds still after the shutter release, seconds.")
    var hold = 0.0
    @Option(help: "Largest turn rate between photos, degrees per second.")
    var rate = 30.0

    /// The description with the options' values.
    func apply(to recipe: ShotRecipe) throws -> ShotRecipe {
        var recipe = recipe
        let chosen = [eyes, command != nil, gpio != nil, mavlink != nil].filter { $0 }.count
        guard chosen <= 1 else {
            throw ValidationError("Give one of --eyes, --command, --gpio and --mavlink.")
        }
        guard file == nil || command != nil else {
            throw ValidationError(
                "--file needs --command: only a command writes the photo's file.")
        }
        if eyes { recipe.shutter.kind = .eyes }
        if let command {
            recipe.shutter.kind = .command
            recipe.shutter.command = command.split(separator: " ").map(String.init)
            recipe.shutter.file = file ?? ""
        }
        if let gpio { (recipe.shutter.kind, recipe.shutter.line) = (.gpio, gpio) }
        if let mavlink { (recipe.shutter.kind, recipe.shutter.address) = (.mavlink, mavlink) }
        recipe.shutter.hold = hold
        recipe.rate = rate
        return recipe
    }
}

/// Command that carries out a shot.
protocol ShotCommand: ParsableCommand {
    var options: GlobalOptions { get }
    var shoot: ShootOptions { get }
    func recipe() throws -> ShotRecipe
}

extension ShotCommand {
    func run() throws {
        let recipe = try recipe()
        try ShotFile.check(recipe)
        try ShotRunner.run(recipe, options, shoot)
    }
}

struct ShootFileCommand: ShotCommand {
    static let configuration = CommandConfiguration(
        commandName: "file",
        abstract: "Take the photos that a TOML file describes; the word `file` can be omitted.")

    @OptionGroup var options: GlobalOptions
    @OptionGroup var shoot: ShootOptions
    @Argument(help: "File with the description of the shot.", completion: .file())
    var path: String

    func recipe() throws -> ShotRecipe { try ShotFile.read(path) }
}

struct ShootPanoramaCommand: ShotCommand {
    static let configuration = CommandConfiguration(
        commandName: "panorama",
        abstract: "Cover a field with a grid of photos.",
        discussion:
            "The field is centred at the camera's present yaw. Rows far from the horizon have fewer photos."
    )

    @OptionGroup var options: GlobalOptions
    @OptionGroup var shoot: ShootOptions
    @OptionGroup var shutter: ShutterOptions
    @Option(help: "Horizontal field of view of the camera, degrees.")
    var fovWidth: Double
    @Option(help: "Vertical field of view of the camera, degrees.")
    var fovHeight: Double
    @Option(help: "Width of the panorama, degrees; 360 is the whole circle.")
    var width = 180.0
    @Option(help: "Height of the panorama, degrees.")
    var height = 60.0
    @Option(parsing: .unconditional, help: "Pitch of the panorama's centre, degrees.")
    var pitch = 0.0
    @Option(help: "Overlap of neighbouring photos, as a fraction of the picture, 0 to 0.9.")
    var overlap = 0.3

    func recipe() throws -> ShotRecipe {
        try shutter.apply(
            to: ShotRecipe(
                .panorama(
                    ShotRecipe.Panorama(
                        fovWidth: fovWidth, fovHeight: fovHeight, width: width, height: height,
                        pitch: pitch, overlap: overlap))))
    }
}

struct ShootTimelapseCommand: ShotCommand {
    static let configuration = CommandConfiguration(
        commandName: "timelapse",
        abstract: "Take photos at equal intervals while the camera slowly turns.",
        discussion:
            "The path begins at the present yaw and --from-pitch, and ends at --yaw and --pitch. A file can contain more waypoints."
    )

    @OptionGroup var options: GlobalOptions
    @OptionGroup var shoot: ShootOptions
    @OptionGroup var shutter: ShutterOptions
    @Option(help: "Number of photos.")
    var photos: Int
    @Option(help: "Time between photos, seconds.")
    var interval: Double
    @Option(
        parsing: .unconditional,
        help: "Yaw at the end, relative to the yaw at the beginning, degrees.")
    var yaw = 0.0
    @Option(parsing: .unconditional, help: "Pitch at the end, degrees.")
    var pitch = 0.0
    @Option(parsing: .unconditional, help: "Pitch at the beginning, degrees; default: --pitch.")
    var fromPitch: Double?
    @Option(
        help: "Fraction of the shot for acceleration, and the same fraction for braking, 0 to 0.5.")
    var ease = 0.1

    func recipe() throws -> ShotRecipe {
        try shutter.apply(
            to: ShotRecipe(
                .timelapse(ShotRecipe.Timelapse(photos: photos, interval: interval, ease: ease)),
                frames: [
                    ShotRecipe.KeyFrame(Pose(pitch: fromPitch ?? pitch)),
                    ShotRecipe.KeyFrame(Pose(yaw: yaw, pitch: pitch)),
                ]))
    }
}

struct ShootOrbitCommand: ShotCommand {
    static let configuration = CommandConfiguration(
        commandName: "orbit",
        abstract: "Take photos at equal steps of yaw, all around the camera.")

    @OptionGroup var options: GlobalOptions
    @OptionGroup var shoot: ShootOptions
    @OptionGroup var shutter: ShutterOptions
    @Option(help: "Number of photos.")
    var photos = 24
    @Option(parsing: .unconditional, help: "Angle of the turn, degrees; right is positive.")
    var turn = 360.0
    @Option(parsing: .unconditional, help: "Pitch, degrees.")
    var pitch = 0.0

    func recipe() throws -> ShotRecipe {
        try shutter.apply(
            to: ShotRecipe(.orbit(ShotRecipe.Orbit(photos: photos, turn: turn, pitch: pitch))))
    }
}

struct ShootResumeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume", abstract: "Continue the unfinished shot.")

    @OptionGroup var options: GlobalOptions
    @OptionGroup var place: ShootState

    func run() throws {
        guard let record = try ShotStore(place.path).load() else {
            throw ClientError.file("\(place.path): there is no shot to continue.", field: "state")
        }
        var shoot = ShootOptions()
        shoot.dryRun = false
        shoot.svg = nil
        shoot.place = place
        (shoot.resume, shoot.again) = (true, false)
        try ShotRunner.run(record.recipe, options, shoot)
    }
}

struct ShootPauseCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause",
        abstract: "End the active run after the present photo; `shoot resume` continues.")

    @OptionGroup var options: GlobalOptions
    @OptionGroup var place: ShootState

    func run() throws {
        let store = ShotStore(place.path)
        _ = try store.exists()
        let process = try store.activeRun
        guard let process, kill(process, SIGTERM) == 0 else {
            let isForeign = process != nil && errno == EPERM
            throw ClientError.refused(
                RequestError(
                    "refused",
                    isForeign
                        ? "The run of this shot belongs to another user. Repeat the command with sudo."
                        : "No run of this shot is active."))
        }
        let sentence = "The run ends after the present photo; `airframectl shoot resume` continues."
        Output.line(Output.text(of: sentence, json: options.json))
    }
}

struct ShootStatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show the progress of the shot.")

    @OptionGroup var options: GlobalOptions
    @OptionGroup var place: ShootState

    func run() throws {
        let store = ShotStore(place.path)
        guard let record = try store.load() else {
            return Output.line(
                Output.text(of: "No shot has been started.", ["active": false], json: options.json))
        }
        let plan = try ShotFile.plan(record.recipe)
        let done = plan.frames.prefix(record.done).filter { $0.photo != nil }.count
        let isActive = try store.activeRun != nil
        let isComplete = record.done == plan.frames.count
        let left = ShotForecast(plan).rest(from: record.done)
        if options.json {
            return Output.line(
                JSONValue.object([
                    "title": .string(ShotView.title(plan)), "photos": .int(plan.photos),
                    "done": .int(done), "active": .bool(isActive), "complete": .bool(isComplete),
                    "seconds_left": .double(left),
                ]).text)
        }
        let state = isComplete ? "complete" : isActive ? "active" : "paused"
        Output.line(
            "\(ShotView.title(plan)), \(state): \(done) of \(plan.photos) photos, about \(Format.duration(left)) left."
        )
    }
}
