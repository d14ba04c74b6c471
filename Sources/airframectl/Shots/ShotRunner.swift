import ArgumentParser
import Client
import Configuration
import FoundationEssentials
import Glibc
import PlainText
import Shots
import SystemPackage
import Wire

/// Files with descriptions of shots.
enum ShotFile {
    /// Largest size of a file, bytes.
    private static let limit = 1_000_000

    /// Reads a file.
    ///
    /// - Throws: `ClientError.file` with the file, the key and the remedy.
    static func read(_ path: String) throws(ClientError) -> ShotRecipe {
        let bytes: [UInt8]
        do throws(Errno) {
            bytes = try ConfigurationFiles.system.read(FilePath(path))
        } catch {
            // Without a subcommand, the argument of `shoot` is a file.
            let names = ShootCommand.configuration.subcommands
                .compactMap { $0.configuration.commandName }
            let guess = Suggestion.sentence(for: path, in: names)
            throw .file("\(path) cannot be read: \(error).\(guess)", field: "file")
        }
        do {
            guard bytes.count <= limit else {
                throw RecipeProblem(key: "", text: "the file is larger than 1 MB")
            }
            let json = try TOMLText.json(bytes, path: path)
            return try JSONDecoder().decode(ShotRecipe.self, from: Data(json.utf8))
        } catch let problem as ConfigurationProblem {
            throw .file("\(problem)", field: "file")
        } catch let problem as RecipeProblem {
            throw .file("\(path): \(closed(problem))", field: "file")
        } catch {
            throw .file("\(path) cannot be read: \(error)", field: "file")
        }
    }

    /// Checks the numbers and the rules of a description.
    ///
    /// - Throws: `ClientError.refused` with the name of the key.
    static func check(_ recipe: ShotRecipe) throws(ClientError) {
        do throws(RecipeProblem) {
            try recipe.checkNumbers()
            try recipe.check()
        } catch {
            throw .refused(RequestError("out_of_range", closed(error), field: error.key))
        }
    }

    /// Computes the plan of a shot from the shot's description.
    static func plan(_ recipe: ShotRecipe) throws(ClientError) -> ShotPlan {
        do throws(RecipeProblem) {
            return try ShotPlan(recipe)
        } catch {
            throw .refused(RequestError("out_of_range", closed(error), field: error.key))
        }
    }

    /// The sentence of a problem, with a full stop unless the sentence ends with a question mark.
    static func closed(_ problem: RecipeProblem) -> String {
        problem.sentence + (problem.sentence.hasSuffix("?") ? "" : ".")
    }
}

/// Start and end of a run.
enum ShotRunner {
    /// Carries out a shot, or shows its plan.
    static func run(_ recipe: ShotRecipe, _ options: GlobalOptions, _ shoot: ShootOptions) throws {
        var plan = try ShotFile.plan(recipe)
        if let svg = shoot.svg { try SVGFile.write(ShotView.figure(plan), to: svg) }
        if shoot.dryRun { return show(plan, options) }
        let signals = SignalQueue([SIGINT, SIGTERM])
        let store = ShotStore(shoot.place.path)
        try store.take(patience: recipe.shutter.timeout) { signals.next(within: $0) == nil }
        let saved = try shoot.again ? nil : earlier(store, plan, shoot)
        if let saved, saved.done == plan.frames.count {
            return tell(
                "The shot is complete. `airframectl shoot` with its file or options, without --resume, begins it again.",
                true, options)
        }
        let located = located(recipe, after: saved)
        plan = try ShotFile.plan(located)
        let client = try options.connect()
        var record = try saved ?? begin(plan, client)
        record.recipe = located
        if !options.json { ShotView.lines(plan).forEach(Output.line) }
        if saved == nil { try store.save(record) }
        let run = ShotRun(
            plan, record, client, options: options, store: store, signals: signals)
        let isComplete = try run.run()
        let sentence =
            isComplete
            ? run.summary
            : "Paused after \(run.photosDone) of \(plan.photos) photos. `airframectl shoot resume` continues."
        tell(sentence, isComplete, options)
    }

    /// Prints the last line of a run.
    private static func tell(_ sentence: String, _ isComplete: Bool, _ options: GlobalOptions) {
        Output.line(
            Output.text(of: sentence, ["complete": .bool(isComplete)], json: options.json))
    }

    /// Description with the absolute path of the photos' files.
    ///
    /// A continued shot uses the path of the earlier run, because the existing files show which
    /// photos were taken. If one of the two runs has no path, for example after a change of the
    /// shutter, the path of the description applies.
    static func located(_ recipe: ShotRecipe, after saved: ShotRecord?) -> ShotRecipe {
        var located = recipe
        let earlier = saved?.recipe.shutter.file ?? ""
        located.shutter.file =
            earlier.isEmpty || recipe.shutter.file.isEmpty
            ? absolute(recipe.shutter.file) : earlier
        return located
    }

    /// Absolute path of a photo's file; empty if the path is empty.
    private static func absolute(_ path: String) -> String {
        guard !path.isEmpty, !path.hasPrefix("/") else { return path }
        var buffer = [CChar](repeating: 0, count: 4096)
        guard getcwd(&buffer, buffer.count) != nil else { return path }
        let folder = String(
            decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return folder + "/" + path
    }

    private static func show(_ plan: ShotPlan, _ options: GlobalOptions) {
        guard options.json else { return ShotView.lines(plan).forEach(Output.line) }
        let times = ShotForecast(plan).times
        let frames = zip(plan.frames, times).map { frame, time in
            JSONValue.object([
                "yaw": .double(frame.pose.yaw), "roll": .double(frame.pose.roll),
                "pitch": .double(frame.pose.pitch), "t": .double(time.departure),
                "photo": frame.photo.map(JSONValue.int) ?? .null,
            ])
        }
        Output.line(
            JSONValue.object([
                "photos": .int(plan.photos), "seconds": .double(times.last?.departure ?? 0),
                "frames": .array(frames),
            ]).text)
    }

    /// The saved state of an earlier run; nil if a new run begins.
    static func earlier(_ store: ShotStore, _ plan: ShotPlan, _ shoot: ShootOptions) throws
        -> ShotRecord?
    {
        guard let record = try store.load() else { return nil }
        let own = try? ShotPlan(record.recipe)
        let isUnfinished = record.done < (own?.frames.count ?? .max)
        if shoot.resume {
            if record.fits(plan) { return record }
            // The saved state of a complete shot does not prevent a new shot.
            guard isUnfinished else { return nil }
            // Versions of airframectl can compute different waypoints for the same description.
            let isOtherShot = own.map(record.fits) ?? false
            throw ClientError.refused(
                RequestError(
                    "refused",
                    isOtherShot
                        ? "\(shoot.place.path) contains another unfinished shot. Use another --state, or --again to begin a new shot."
                        : "\(shoot.place.path) contains an unfinished shot of another version of airframectl, which has other waypoints. Continue the shot with that version, or use --again to begin a new shot."
                ))
        }
        guard isUnfinished, record.done > 0 || record.pending != nil else { return nil }
        throw ClientError.refused(
            RequestError(
                "refused",
                "An earlier shot is unfinished. `airframectl shoot resume` continues it; --again begins a new shot."
            ))
    }

    /// The state of a new shot, after the checks of the camera's state and range.
    private static func begin(_ plan: ShotPlan, _ client: DaemonClient) throws -> ShotRecord {
        let status: Status = try client.request(.status)
        guard status.mode == "locked", let yaw = status.pointing.targetDeg.yaw.known else {
            throw ClientError.refused(
                RequestError("refused", "A shot needs mode \"locked\": airframectl mode locked."))
        }
        let settings: [Wire.Setting] = try client.request(.get, ["keys": ["motion.range_deg"]])
        let ranges = settings.first?.value.array?.map { $0.array?.compactMap(\.number) ?? [] } ?? []
        if let refusal = plan.refusal(outside: ranges, originYaw: yaw) {
            throw ClientError.refused(RequestError("out_of_range", refusal))
        }
        try checkFiles(plan)
        let joints = status.joints
        if joints.source != JointStatus.estimated, let joint = joints.angleDeg.yaw.known,
            let lower = joints.minimumDeg.yaw.known, let upper = joints.maximumDeg.yaw.known,
            lower <= upper, let camera = status.attitude.yawDeg.known,
            // The camera can still turn to its target.
            let warning = plan.warning(
                YawJoint(angle: joint, range: lower...upper, turnedFrom: camera, to: yaw))
        {
            Output.error(warning)
        }
        return ShotRecord(plan, originYaw: yaw)
    }

    /// Refuses a shot whose files exist: an existing file means that its photo was taken.
    private static func checkFiles(_ plan: ShotPlan) throws(ClientError) {
        let shutter = CommandShutter(plan.recipe.shutter) { _ in }
        for frame in plan.frames {
            guard let photo = frame.photo, let file = shutter.file(photo), access(file, F_OK) == 0
            else { continue }
            throw .file(
                "\(file) exists already. Move the photos of the earlier shot, or change shutter.file.",
                field: "shutter.file")
        }
    }
}
