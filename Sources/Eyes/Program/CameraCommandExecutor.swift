import Client
import Configuration
import CVideo
import Dispatch
import Glibc
import Synchronization
import SystemPackage
import Wire

/// Executor of users' camera commands. The executor also reports photos and recordings. Commands
/// are executed only on the main thread.
final class CameraCommandExecutor: Sendable {
    private struct Photos {
        var count = 0
        var problem: String?
        /// Number of requested photos without a result.
        var pending = 0
    }

    /// Largest number of requested photos without a result; more photos would fill the memory while
    /// the disk hangs.
    private static let mostPending = 16

    private let pictures: PictureService?
    private let photos = Mutex(Photos())
    /// Queue that stores and counts the photos. The thread that delivers the pictures must not wait
    /// for the disk.
    private let disk = DispatchQueue(label: "eyes-photos")
    private let wall: @Sendable () -> Double

    /// - Parameters:
    ///   - pictures: Source of photos; nil if photos are not available.
    ///   - wall: Function that returns the wall-clock time, s since 1970.
    init(
        _ pictures: PictureService?, wall: @escaping @Sendable () -> Double = DaemonClient.wall
    ) {
        self.pictures = pictures
        self.wall = wall
    }

    /// Takes a photo: stores the first JPEG picture that is exposed after this call, in the
    /// directory of recordings.
    ///
    /// - Returns: Reason why a photo cannot be taken; nil if it can.
    func photo(in directory: String) -> String? {
        guard let pictures else {
            return "photos need the JPEG pictures: set pictures.socket and restart airframe-eyes."
        }
        let isAccepted = photos.withLock { photos in
            guard photos.pending < Self.mostPending else { return false }
            photos.problem = nil
            photos.pending += 1
            return true
        }
        guard isAccepted else {
            return
                "\(Self.mostPending) photos wait for the camera or for the disk: try again later."
        }
        pictures.photo { [self] outcome in
            // The disk can be slow, and the name contains the date of the picture.
            let date = wall()
            disk.async { [self] in
                let problem: String?
                switch outcome {
                case .success(let bytes):
                    problem = Self.store(bytes, in: directory, date: date)
                case .failure(let refusal): problem = refusal.description
                }
                photos.withLock { photos in
                    photos.problem = problem
                    photos.pending -= 1
                    if problem == nil { photos.count += 1 }
                }
            }
        }
        return nil
    }

    /// Waits until the photos that have been taken are stored, at the end of the program.
    func finish() { disk.sync {} }

    /// Stores a photo durably under an unused name.
    ///
    /// - Parameters:
    ///   - bytes: The JPEG picture.
    ///   - directory: Directory of the photo.
    ///   - date: Date in the name, seconds since 1970.
    /// - Returns: Reason of a failure.
    private static func store(_ bytes: [UInt8], in directory: String, date: Double) -> String? {
        if let obstacle = Recorder.obstacle(in: directory) { return obstacle }
        let path = Recorder.unusedPath(in: directory, ending: "jpg", date: date)
        do {
            try DurableFile.replace(
                path.string, with: bytes, permissions: [.ownerReadWrite, .groupRead])
        } catch {
            unlink(path.string + ".new")
            return "the photo \(path) cannot be stored: \(error)"
        }
        Log.write("The photo \(path) is stored.")
        return nil
    }

    /// State for airframed.
    ///
    /// - Parameters:
    ///   - feed: State of the video feed.
    ///   - directory: Directory of recordings.
    ///   - latest: Action of the latest command; nil before the first command.
    ///   - problem: Reason for the latest command's failure; nil after success.
    /// - Returns: State of the camera, without the latest command's number.
    func state(
        _ feed: FeedSupervisor.Report, directory: String, latest: CameraOrder.Action?,
        problem: String?
    ) -> CaptureState {
        var state = CaptureState()
        state.isRecording = feed.recording != nil
        state.recordingS = Number(
            feed.recordingSince.map { Double(cv_now() - $0) * 1e-9 } ?? 0)
        let photos = photos.withLock { $0 }
        state.photos = photos.count
        // While a photo is pending, the problem of a recording would read as the photo's failure.
        // After new settings, an earlier problem would read as the failure of the settings.
        let earlier = photos.problem ?? (photos.pending == 0 ? feed.recordingProblem : nil)
        state.problem = (problem ?? (latest == .set ? nil : earlier)).map {
            String($0.prefix(200))
        }
        var info = statvfs()
        if statvfs(directory, &info) == 0 {
            state.freeMb = Number(Double(info.f_bavail) * Double(info.f_frsize) * 1e-6)
            state.totalMb = Number(Double(info.f_blocks) * Double(info.f_frsize) * 1e-6)
        }
        return state
    }
}
