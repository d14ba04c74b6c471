import Glibc
import People
import SystemPackage

/// Real pictures from Debian's package opencv-doc, and the models that `make deps-eyes` downloads.
enum RealPictures {
    /// Directory of the models.
    static let models = ".build/eyes-models"
    private static let directory = "/usr/share/doc/opencv-doc/examples/data"

    /// The finder; nil, with a printed reason, if the models are missing.
    static func finder() throws -> PersonFinder? {
        guard access("\(models)/\(PersonFinder.Files.detector)", R_OK) == 0 else {
            print("skipped: \(models) does not contain the models (make deps-eyes)")
            return nil
        }
        return try PersonFinder(directory: models)
    }

    /// Decodes pictures from a file with ffmpeg.
    ///
    /// - Parameters:
    ///   - name: Name of the file.
    ///   - width: Width, pixels.
    ///   - height: Height, pixels.
    ///   - frames: Numbers of the pictures, from 0.
    /// - Returns: The pictures; empty, with a printed reason, if they are missing.
    /// - Throws: `Errno` if no shell can be started.
    static func pictures(_ name: String, width: Int, height: Int, frames: [Int] = [0]) throws
        -> [RGBPicture]
    {
        let path = "\(directory)/\(name)"
        guard access(path, R_OK) == 0 else {
            print("skipped: there is no \(path) (Debian's package opencv-doc)")
            return []
        }
        let choice = frames.map { "eq(n\\,\($0))" }.joined(separator: "+")
        let pipe = popen(
            "timeout 60 ffmpeg -v error -i \(path) -vf \"select='\(choice)'\" -fps_mode passthrough"
                + " -f rawvideo -pix_fmt rgb24 -", "r")
        guard let pipe else { throw Errno(rawValue: errno) }
        defer { pclose(pipe) }
        var result: [RGBPicture] = []
        while true {
            var bytes = [UInt8](repeating: 0, count: 3 * width * height)
            let count = fread(&bytes, 1, bytes.count, pipe)
            guard count == bytes.count,
                let picture = RGBPicture(width: width, height: height, bytes: bytes)
            else { break }
            result.append(picture)
        }
        if result.isEmpty { print("skipped: ffmpeg cannot decode \(path)") }
        return result
    }
}
