import Hardware
import Port
import Robot
import SystemPackage
import Wire

extension StepperMotors {
    /// State of the robot's motors for `status`.
    var status: RobotStatus {
        var status = RobotStatus(
            motors: zip(MotionRequest.steppers, zip(positions, homings)).map { axis, state in
                StepperStatus(
                    axis: axis, positionSteps: state.0, homing: "\(state.1)")
            })
        status.lineErrors = errors
        let error = lastError
        if error != 0 { status.problem = Errno(rawValue: error).description }
        return status
    }
}
