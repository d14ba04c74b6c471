import Aerie
import ArgumentParser
import Client
import Configuration
import FoundationEssentials
import GimbalCore
import Glibc
import PlainText
import Wire

/// Commands for phones with HawkSight: list the phones, calibrate a phone, track a person.
struct AerieCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "aerie",
        abstract: "List phones with HawkSight, calibrate a phone, point the camera at a person.",
        subcommands: [
            AeriePhonesCommand.self, AerieCalibrateCommand.self, AerieForgetCommand.self,
            AerieTrackCommand.self,
        ])
}

extension EyesOptions {
    /// Access to the server for phones in the running airframe-eyes.
    func phones() throws -> ServerPhones {
        let settings = try load()
        guard settings.aerie.listen != "off", let endpoint = NetworkEndpoint(settings.aerie.listen)
        else {
            throw LoopbackClient.Failure(
                description: "aerie.listen is off: there is no server for phones.")
        }
        guard settings.aerie.certificate == "off" else {
            throw LoopbackClient.Failure(
                description:
                    "This command does not support TLS, which aerie.certificate enables. Set aerie.certificate = \"off\", and restart airframe-eyes."
            )
        }
        return ServerPhones(
            client: LoopbackClient(port: endpoint.port), socket: settings.gimbal.socket)
    }
}

/// Access to the phone server for the commands.
struct ServerPhones {
    let client: LoopbackClient
    let socket: String

    /// The connected phones.
    func list() throws -> [LocalPages.PhoneState] {
        let body = try client.request("GET", "/phones")
        return try JSONDecoder().decode([LocalPages.PhoneState].self, from: Data(body))
    }

    /// The phone with this name, or the only connected phone.
    func phone(_ name: String?) throws -> LocalPages.PhoneState {
        let phones = try list()
        if let name {
            guard let phone = phones.first(where: { $0.device == name }) else {
                throw LoopbackClient.Failure(
                    description: "No phone named \(name) is connected.")
            }
            return phone
        }
        guard phones.count == 1, let phone = phones.first else {
            throw LoopbackClient.Failure(
                description:
                    phones.isEmpty
                    ? "No phone is connected."
                    : "Several phones are connected; give the name of a phone: \(phones.map(\.device).joined(separator: ", "))."
            )
        }
        return phone
    }
}

/// Command that lists the phones, and the people that the phones detect.
struct AeriePhonesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "phones", abstract: "List phones and the people in their pictures.")

    @OptionGroup var options: EyesOptions

    func run() throws {
        let phones = try options.phones().list()
        if phones.isEmpty { print("No phone is connected.") }
        for phone in phones {
            let age = phone.age.map { ", newest \(Format.fixed($0, 1)) s ago" } ?? ""
            print(
                "\(phone.device) (\(phone.model)): \(phone.frames) frames\(age), \(phone.isAligned ? "calibrated" : "not calibrated")"
            )
            for person in phone.people {
                let position = person.position.map { Format.fixed($0, 2) }.joined(separator: " ")
                var line = "  person \(person.id) at \(position) m"
                if let yaw = person.yaw, let pitch = person.pitch {
                    line += ", yaw \(Format.fixed(yaw, 0))°, pitch \(Format.fixed(pitch, 0))°"
                }
                print(line)
            }
        }
    }
}

/// Command that calibrates a phone mounted on the camera.
struct AerieCalibrateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "calibrate",
        abstract:
            "Calibrate a phone that is fastened to the camera; the camera turns for a minute.",
        discussion: """
            Fasten the phone firmly to the camera, start HawkSight, and select mode locked. \
            The camera turns by 30° to both sides and by 20° up and down. Afterwards you can take the phone off the camera: \
            as long as ARKit keeps its world frame and the gimbal is not moved, airframe-eyes computes the direction from the gimbal to the people in the phone's pictures.
            """)

    @OptionGroup var options: EyesOptions

    @Argument(help: "Name of the phone; default: the only connected phone.")
    var device: String?

    func run() throws {
        let server = try options.phones()
        let phone = try server.phone(device)
        do {
            let gimbal = try DaemonGimbal(path: server.socket)
            let turn = GuidedTurn(
                .init(
                    turn: { try gimbal.turn(yaw: $0, pitch: $1) },
                    camera: { try gimbal.attitude() },
                    phone: {
                        try server.list().first { $0.device == phone.device }.flatMap { state in
                            state.devicePose.map { ($0, state.poses) }
                        }
                    },
                    wait: { usleep(UInt32($0 * 1e6)) }, log: { print($0) }))
            let (result, position) = try turn.run()
            let alignment = Alignment(device: phone.device, result, position: position)
            _ = try server.client.request(
                "POST", "/alignment", body: Array(try JSONEncoder().encode(alignment)))
            let degrees = Format.fixed(result.residual * 180 / .pi, 2)
            print(
                "\(phone.device) is calibrated; the attitudes of phone and gimbal agree to \(degrees)° RMS."
            )
        } catch let error as ClientError {
            Log.write(error.requestError.message)
            throw ExitCode(69)
        } catch let error as GuidedTurn.Failure {
            Log.write(error.description)
            throw ExitCode(1)
        }
    }
}

/// Command that deletes the calibration of a phone.
struct AerieForgetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "forget", abstract: "Delete the calibration of a phone.")

    @OptionGroup var options: EyesOptions

    @Argument(help: "Name of the phone.")
    var device: String

    func run() throws {
        let name = device.utf8.map { byte in
            (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a || byte >= 0x30 && byte <= 0x39
                ? String(UnicodeScalar(byte))
                : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
        _ = try options.phones().client.request("DELETE", "/alignment?device=\(name)")
        print("The calibration of \(device) is deleted.")
    }
}

extension LocalPages.PhoneState {
    /// The newest pose of the phone.
    fileprivate var devicePose: DevicePose? {
        guard let q = rotation, q.count == 4, let p = position, p.count == 3 else { return nil }
        return DevicePose(
            rotation: Quaternion(w: q[0], x: q[1], y: q[2], z: q[3]),
            position: Vector3(p[0], p[1], p[2]))
    }
}

/// Client of airframed's socket that turns the gimbal for the calibration.
struct DaemonGimbal {
    private let client: DaemonClient
    private let beginning: (yaw: Double, pitch: Double)

    /// Opens the connection, and stores the camera's angles as the reference for `turn`.
    init(path: String) throws {
        client = try DaemonClient(path: path, timeout: 5)
        beginning = try Self.angles(client)
    }

    /// Turns the camera, and waits until the camera is at rest. The angles are relative to the
    /// camera's attitude at the start, in degrees.
    func turn(yaw: Double, pitch: Double) throws {
        let seconds = 2.0
        var heading = beginning.yaw + yaw
        if heading > 180 { heading -= 360 }
        if heading < -180 { heading += 360 }
        _ = try client.json(
            "point",
            [
                "yaw": .double(heading), "pitch": .double(beginning.pitch + pitch),
                "duration": .double(seconds),
            ])
        usleep(UInt32((seconds + 0.7) * 1e6))
    }

    /// Starts a jerk-limited rotation of the camera to a direction in the earth frame, degrees.
    func look(yaw: Double, pitch: Double) throws {
        _ = try client.json(
            "point", ["yaw": .double(yaw), "pitch": .double(pitch), "rate": .double(60)])
    }

    /// The camera's attitude: rotation from body to earth.
    func attitude() throws -> Quaternion {
        let attitude = try client.json("status")["attitude"]
        let q = attitude?["quaternion"]?.array?.compactMap(\.number) ?? []
        guard q.count == 4 else { throw Self.unknown }
        return Quaternion(w: q[0], x: q[1], y: q[2], z: q[3])
    }

    private static func angles(_ client: DaemonClient) throws -> (yaw: Double, pitch: Double) {
        let attitude = try client.json("status")["attitude"]
        guard let yaw = attitude?["yaw_deg"]?.number, let pitch = attitude?["pitch_deg"]?.number
        else { throw unknown }
        return (yaw, pitch)
    }

    private static let unknown = GuidedTurn.Failure(
        description: "The camera's attitude is not known yet.")
}

/// Command that tracks a person that a phone detects.
struct AerieTrackCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "track",
        abstract:
            "Point the camera at a person in the pictures of a calibrated phone, until Ctrl-C.",
        discussion: """
            `airframe-eyes aerie phones` lists the people. The gimbal must be in mode locked. The camera turns at 60°/s at most. \
            While the person is in no phone's picture, the camera holds its direction; after 10 s the command ends.
            """)

    @OptionGroup var options: EyesOptions

    @Argument(help: "Number of the person.")
    var person: String

    func run() throws {
        let server = try options.phones()
        do {
            let gimbal = try DaemonGimbal(path: server.socket)
            var aim = PersonAim()
            var unseen = 0
            while unseen < 100 {
                let state = try server.list().lazy.flatMap(\.people).first { $0.id == person }
                guard let state else {
                    unseen += 1
                    usleep(100_000)
                    continue
                }
                guard let yaw = state.yaw, let pitch = state.pitch else {
                    throw LoopbackClient.Failure(
                        description:
                            "The phone with a picture of person \(person) is not calibrated: run airframe-eyes aerie calibrate."
                    )
                }
                unseen = 0
                if let (yaw, pitch) = aim.next(yaw: yaw, pitch: pitch) {
                    try gimbal.look(yaw: yaw, pitch: pitch)
                }
                usleep(100_000)
            }
            Log.write("Person \(person) has not been in any phone's picture for 10 s.")
            throw ExitCode(1)
        } catch let error as ClientError {
            Log.write(error.requestError.message)
            throw ExitCode(69)
        } catch let error as GuidedTurn.Failure {
            Log.write(error.description)
            throw ExitCode(1)
        }
    }
}

/// Filter of the direction in which the camera is aimed at a person. The filter suppresses jitter
/// of the measured position.
struct PersonAim {
    /// Smallest change of direction that moves the camera, degrees.
    static let deadZone = 1.0
    /// Largest absolute pitch of the camera, degrees. At steeper angles the heading is poorly
    /// defined.
    static let steepest = 80.0

    private var last: (yaw: Double, pitch: Double)?

    /// The camera's next direction; nil if the current direction is sufficient.
    ///
    /// - Parameters:
    ///   - yaw: Heading of the person, degrees.
    ///   - pitch: Elevation of the person, degrees, up positive.
    /// - Returns: Direction of the camera, degrees.
    mutating func next(yaw: Double, pitch: Double) -> (yaw: Double, pitch: Double)? {
        let pitch = min(max(pitch, -Self.steepest), Self.steepest)
        if let last {
            var turn = yaw - last.yaw
            if turn > 180 { turn -= 360 }
            if turn < -180 { turn += 360 }
            let sideways = turn * cos(pitch * .pi / 180)
            guard max(abs(sideways), abs(pitch - last.pitch)) >= Self.deadZone else { return nil }
        }
        last = (yaw, pitch)
        return (yaw, pitch)
    }
}
