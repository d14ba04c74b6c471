import GimbalCore
import Logging
import Port
import Wire

// Functions of the camera that follows a person: commands that select the person, and messages with
// the person's position in the picture.
extension CameraRole {
    /// Commands that select the person to follow.
    private enum FollowCommand: UInt16 {
        case trackPoint = 2004
        case trackRectangle = 2005
        case stopTracking = 2010

        /// Target camera ID in the command's parameters; 0 selects all cameras. In older versions
        /// of MAVLink, this parameter is reserved, so it can be NaN.
        func camera(in params: [Float]) -> Float {
            let id =
                switch self {
                case .trackPoint: params[3]
                case .trackRectangle: params[4]
                case .stopTracking: params[0]
                }
            return id.isNaN ? 0 : id
        }
    }

    /// Action and position in the picture from a command; nil for another command, or for a
    /// position outside the picture.
    static func choice(_ order: Order) -> (
        action: FollowingChoice.Action, x: Double?, y: Double?
    )? {
        let values = order.params.map(Double.init)
        func isInside(_ values: ArraySlice<Double>) -> Bool {
            values.allSatisfy { (0...1).contains($0) }
        }
        switch FollowCommand(rawValue: order.number) {
        case .trackPoint:
            return isInside(values[0..<2]) ? (.point, values[0], values[1]) : nil
        case .trackRectangle:
            return isInside(values[0..<4])
                ? (.point, (values[0] + values[2]) / 2, (values[1] + values[3]) / 2) : nil
        case .stopTracking: return (.off, nil, nil)
        case nil: return nil
        }
    }

    /// Target camera ID of a command that selects a person, or that stops the camera from following
    /// a person; nil for other commands.
    static func followingCamera(_ order: Order) -> Float? {
        FollowCommand(rawValue: order.number)?.camera(in: order.params)
    }
}

extension CameraTrackingImageStatus {
    /// Converts the state that a companion program has reported; nil if no companion follows
    /// people.
    init(_ state: FollowingState?) {
        self.init()
        guard let state, state.isActive else { return }
        status = 1
        mode = 2
        guard let box = state.box, box.count == 4 else { return }
        data = 4
        (left, top, right, bottom) = (
            Float(box[0]), Float(box[1]), Float(box[2]), Float(box[3])
        )
    }
}

extension MAVLinkComponent {
    /// Shortest interval of the messages about the person, s.
    private static let shortest = 0.1

    /// Executes a command that selects the person, or that sets the interval of the messages about
    /// the person.
    ///
    /// - Returns: Result of the command; nil for a command that does not concern the followed
    ///   person, or that another camera answers.
    func obeyAsFollower(
        _ order: Order, from sender: MAVLinkAddress, _ peer: Int, now: Instant
    ) -> MAVLinkResult? {
        if order.number == MAVLinkCommand.setMessageInterval.rawValue,
            order.params[0] == Float(CameraTrackingImageStatus.format.id)
        {
            guard MessageStreams.permits(microseconds: order.params[1]) else { return .denied }
            let seconds = Double(order.params[1]) * 1e-6
            // An interval of 0 requests the default interval, and -1 ends the messages.
            followingStreams[peer] =
                order.params[1] < 0
                ? nil : (seconds == 0 ? 0.2 : max(seconds, Self.shortest), now)
            return .accepted
        }
        guard let camera = CameraRole.followingCamera(order) else { return nil }
        guard isForThisCamera(camera, order) else {
            return order.target == cameraAddress ? .denied : nil
        }
        guard let choice = CameraRole.choice(order) else { return .denied }
        do throws(Refusal) {
            try configuration.follow(choice.action, choice.x, choice.y, source(of: sender))
            return .accepted
        } catch {
            counters.refused += 1
            log.info(
                "MAVLink: airframed refused the request of \(sender) to follow a person: \(error.message)"
            )
            return MAVLinkResult(error)
        }
    }

    /// Sends the due messages about the person.
    func reportFollowing(now: Instant) {
        guard !followingStreams.isEmpty, hasCamera else { return }
        let message = CameraTrackingImageStatus(configuration.following())
        for (peer, stream) in followingStreams.sorted(by: { $0.key < $1.key })
        where now >= stream.due {
            followingStreams[peer]?.due = now.advanced(bySeconds: stream.period)
            send(message, to: peer, from: cameraAddress)
        }
    }
}
