import FoundationEssentials
import GimbalCore
import Synchronization
import WebServing

/// HTTP pages for programs on the same computer. The pages contain the phones, their poses and
/// their calibrations. The class is thread-safe.
///
/// - `GET /phones`: the admitted phones, a list of `PhoneState`.
/// - `POST /alignment`: stores an `Alignment`, which replaces the phone's earlier `Alignment`.
/// - `DELETE /alignment?device=NAME`: deletes the `Alignment` of the phone.
public final class LocalPages: Sendable {
    /// State of a phone in the response to `GET /phones`.
    public struct PhoneState: Codable, Sendable, Equatable {
        /// Name of the phone.
        public var device: String
        /// Model of the phone, as the phone reports it.
        public var model: String
        /// Number of frames received from the phone.
        public var frames: Int
        /// Number of frames whose pose was read.
        public var poses: Int
        /// Age of the phone's newest pose, s; absent before the first frame.
        public var age: Double?
        /// Rotation from the axes of the phone's picture to the phone's world frame: w, x, y, z.
        public var rotation: [Double]?
        /// Position of the phone in its world frame, m.
        public var position: [Double]?
        /// True if a calibration relates the phone's world frame to the gimbal.
        public var isAligned: Bool
        /// People in the phone's picture.
        public var people: [PersonState]
    }

    /// Person in a phone's picture.
    public struct PersonState: Codable, Sendable, Equatable {
        /// ID of the person, for the command `track person`.
        public var id: String
        /// Midpoint between the person's hips, in the phone's world frame, m.
        public var position: [Double]
        /// Earth-frame angles from the gimbal to the person, degrees; absent without a calibration.
        public var yaw: Double?, pitch: Double?
    }

    /// Largest number of stored calibrations.
    static let limit = 32

    private struct State {
        var alignments: [String: Alignment] = [:]
        var people: [String: [PhonePerson]] = [:]
    }

    private let state: Mutex<State>
    /// Lock that orders the changes. The other pages read `state` while a change waits for the disk.
    private let changes = Mutex(())
    private let save: @Sendable ([Alignment]) throws -> Void

    /// Creates the pages from stored calibrations.
    ///
    /// - Parameters:
    ///   - alignments: Calibrations from an earlier run.
    ///   - save: Function that stores the calibrations, or throws the reason why it cannot. The
    ///     function is called on an event-loop thread before a change takes effect.
    public init(
        _ alignments: [Alignment], save: @escaping @Sendable ([Alignment]) throws -> Void
    ) {
        let valid = alignments.filter(\.isValid).prefix(Self.limit)
        state = Mutex(
            State(alignments: Dictionary(valid.map { ($0.device, $0) }) { _, later in later }))
        self.save = save
    }

    /// Stores the positions of the people in a phone's picture.
    public func note(_ people: [PhonePerson], device: String) {
        state.withLock { $0.people[device] = people.isEmpty ? nil : people }
    }

    /// Latest position of a person, and the direction from the gimbal to the person.
    ///
    /// - Parameter id: ID of the person.
    /// - Returns: The person, and the earth-frame angles from the gimbal to the person, rad. The
    ///   angles are nil without a calibration. The result is nil if the person is unknown or was
    ///   last visible more than 1.5 s ago.
    public func find(_ id: String) -> (person: PhonePerson, angles: (yaw: Double, pitch: Double)?)?
    {
        state.withLock { state in
            let earliest = AerieClock.monotonic() - PeopleRegister.memory
            for person in state.people.values.joined()
            where person.id == id && person.time > earliest {
                return (person, state.alignments[person.device]?.angles(to: person.position))
            }
            return nil
        }
    }

    /// Answers a request from this computer; nil if there is no page at the path.
    func answer(_ request: WebRequest, phones: [AerieDevice]) -> WebResponse? {
        switch (request.method, request.path) {
        case ("GET", "/phones"): return phonesPage(phones)
        case ("POST", "/alignment"):
            guard
                let alignment = try? JSONDecoder().decode(
                    Alignment.self, from: Data(request.body)), alignment.isValid
            else { return WebResponse(400, text: "The body is not a valid calibration.\n") }
            return change { alignments in
                guard alignments[alignment.device] != nil || alignments.count < Self.limit else {
                    return
                        "\(Self.limit) calibrations are saved, which is the maximum; delete a calibration with `airframe-eyes aerie forget`."
                }
                alignments[alignment.device] = alignment
                return nil
            }
        case ("DELETE", "/alignment"):
            let device = request.query["device"] ?? ""
            return change { alignments in
                alignments.removeValue(forKey: device) == nil
                    ? "There is no calibration of this phone." : nil
            }
        default: return nil
        }
    }

    /// Changes the calibrations; a change that cannot be saved has no effect.
    private func change(_ body: (inout [String: Alignment]) -> String?) -> WebResponse {
        changes.withLock { _ -> WebResponse in
            var alignments = state.withLock { $0.alignments }
            if let problem = body(&alignments) { return WebResponse(409, text: problem + "\n") }
            do {
                try save(Array(alignments.values))
            } catch {
                return WebResponse(
                    500,
                    text:
                        "The calibrations have not changed, because they cannot be saved in aerie.directory: \(error).\n"
                )
            }
            state.withLock { [alignments] in $0.alignments = alignments }
            return WebResponse(200, text: "noted\n")
        }
    }

    private func phonesPage(_ phones: [AerieDevice]) -> WebResponse {
        let now = AerieClock.monotonic()
        let list = state.withLock { state in
            phones.map { phone in
                let alignment = state.alignments[phone.id]
                let newest = phone.pose
                let pose = newest?.pose
                return PhoneState(
                    device: phone.id, model: phone.info?.model ?? "", frames: phone.frames,
                    poses: newest?.number ?? 0, age: newest.map { now - $0.time },
                    rotation: pose.map {
                        [$0.rotation.w, $0.rotation.x, $0.rotation.y, $0.rotation.z]
                    },
                    position: pose.map { [$0.position.x, $0.position.y, $0.position.z] },
                    isAligned: alignment != nil,
                    people: (state.people[phone.id] ?? []).map { person in
                        let angles = alignment?.angles(to: person.position)
                        return PersonState(
                            id: person.id,
                            position: [person.position.x, person.position.y, person.position.z],
                            yaw: angles.map { $0.yaw * 180 / .pi },
                            pitch: angles.map { $0.pitch * 180 / .pi })
                    })
            }
        }
        let body = (try? JSONEncoder().encode(list)).map { Array($0) } ?? []
        return WebResponse(
            200, headers: [("content-type", "application/json; charset=utf-8")], body: .bytes(body))
    }
}
