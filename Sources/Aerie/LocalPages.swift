import FoundationEssentials
import GimbalCore
import Synchronization
import WebServing

/// Pages for programs on the same computer: phones with their poses, and calibrations. Thread-safe.
///
/// - `GET /phones`: the admitted phones, a list of `PhoneState`.
/// - `POST /alignment`: an `Alignment`, which replaces the phone's earlier one.
/// - `DELETE /alignment?device=NAME`: forgets it.
public final class LocalPages: Sendable {
    /// Phone, as `GET /phones` shows it.
    public struct PhoneState: Codable, Sendable, Equatable {
        /// Name.
        public var device: String
        /// Model, as the phone states it.
        public var model: String
        /// Number of frames received.
        public var frames: Int
        /// Age of the newest pose, s; absent before the first frame.
        public var age: Double?
        /// Rotation from the axes of its picture to its world: w, x, y, z.
        public var rotation: [Double]?
        /// Position in its world, m.
        public var position: [Double]?
        /// Whether it is calibrated against the gimbal.
        public var isAligned: Bool
        /// People whom it sees.
        public var people: [PersonState]
    }

    /// Person whom a phone sees.
    public struct PersonState: Codable, Sendable, Equatable {
        /// Name, for `track person`.
        public var id: String
        /// Middle of the hips in the phone's world, m.
        public var position: [Double]
        /// Earth-frame angles from the gimbal, degrees; absent without a calibration.
        public var yaw: Double?, pitch: Double?
    }

    /// Largest number of remembered calibrations.
    static let limit = 32

    private struct State {
        var alignments: [String: Alignment] = [:]
        var people: [String: [PhonePerson]] = [:]
    }

    private let state: Mutex<State>
    private let save: @Sendable ([Alignment]) -> Void

    /// Creates the pages.
    ///
    /// - Parameters:
    ///   - alignments: Remembered calibrations.
    ///   - save: Remembers calibrations; called on an event-loop thread after each change.
    public init(_ alignments: [Alignment], save: @escaping @Sendable ([Alignment]) -> Void) {
        let valid = alignments.filter(\.isValid).prefix(Self.limit)
        state = Mutex(
            State(alignments: Dictionary(valid.map { ($0.device, $0) }) { _, later in later }))
        self.save = save
    }

    /// Notes the people whom a phone sees.
    public func note(_ people: [PhonePerson], device: String) {
        state.withLock { $0.people[device] = people.isEmpty ? nil : people }
    }

    /// Newest place of a person, and the angles at which the gimbal's camera sees it.
    ///
    /// - Parameter id: Name of the person.
    /// - Returns: The person, and angles in the earth frame, rad, nil without a calibration; nil for an
    ///   unknown person, and for one who has not been seen for 1.5 s.
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

    /// Answers a request of this computer; nil for another path.
    func answer(_ request: WebRequest, phones: [AerieDevice]) -> WebResponse? {
        switch (request.method, request.path) {
        case ("GET", "/phones"): return phonesPage(phones)
        case ("POST", "/alignment"):
            guard
                let alignment = try? JSONDecoder().decode(
                    Alignment.self, from: Data(request.body)), alignment.isValid
            else { return WebResponse(400, text: "This is not a calibration.\n") }
            return change { alignments in
                guard alignments[alignment.device] != nil || alignments.count < Self.limit else {
                    return "There are \(Self.limit) calibrations; forget one."
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

    private func change(_ body: (inout [String: Alignment]) -> String?) -> WebResponse {
        let (problem, all) = state.withLock { state in
            let problem = body(&state.alignments)
            return (problem, Array(state.alignments.values))
        }
        if let problem { return WebResponse(409, text: problem + "\n") }
        save(all)
        return WebResponse(200, text: "noted\n")
    }

    private func phonesPage(_ phones: [AerieDevice]) -> WebResponse {
        let now = AerieClock.monotonic()
        let list = state.withLock { state in
            phones.map { phone in
                let alignment = state.alignments[phone.id]
                let (pose, time) = phone.pose.map { ($0.pose, $0.time) } ?? (nil, now)
                return PhoneState(
                    device: phone.id, model: phone.info?.model ?? "", frames: phone.frames,
                    age: pose.map { _ in now - time },
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
