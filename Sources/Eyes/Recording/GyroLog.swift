import PlainText

/// Text of a `.gcsv` file, Gyroflow's log of the camera's motion next to a video of the same name.
///
/// The axes are the camera's body frame (x forward, y right, z down), as everywhere in airframe.
enum GyroLog {
    /// Unit of the time, s.
    static let timeScale = 1e-6
    /// Unit of the rates, rad/s.
    static let rateScale = 1e-5
    /// Unit of the specific force, g.
    static let forceScale = 1e-5
    /// Standard gravity, m/s².
    static let gravity = 9.80665

    /// The lines before the samples.
    ///
    /// - Parameters:
    ///   - video: Name of the video file.
    ///   - start: Time of the first picture on the loop's clock, s; it links the video to recordings
    ///     of the flight recorder.
    ///   - date: Seconds since 1970.
    /// - Returns: Lines with their line ends.
    static func header(video: String, start: Double, date: Int) -> String {
        """
        GYROFLOW IMU LOG
        version,1.3
        id,airframe
        orientation,XYZ
        note,axes x forward y right z down; loop clock at t = 0: \(Format.fixed(start, 6)) s
        timestamp,\(date)
        vendor,airframe
        videofilename,\(video)
        tscale,0.000001
        gscale,0.00001
        ascale,0.00001
        t,gx,gy,gz,ax,ay,az

        """
    }

    /// The line of a sample.
    ///
    /// - Parameters:
    ///   - time: Time since the first picture, s.
    ///   - rate: Angular rate about x, y, z, rad/s.
    ///   - force: Specific force along x, y, z, m/s².
    /// - Returns: The line with its line end.
    static func line(time: Double, rate: [Double], force: [Double]) -> String {
        let numbers =
            [time / timeScale] + rate.map { $0 / rateScale }
            + force.map { $0 / gravity / forceScale }
        return numbers.map { String(Int($0.rounded())) }.joined(separator: ",") + "\n"
    }
}
