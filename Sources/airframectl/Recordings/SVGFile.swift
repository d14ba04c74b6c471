import Client
import FoundationEssentials
import Plot

/// Writer of SVG files.
enum SVGFile {
    /// Writes a picture.
    ///
    /// - Throws: An error if the file cannot be written.
    static func write(_ figure: Figure, to path: String) throws(ClientError) {
        do {
            try Data(figure.svg().utf8).write(to: URL(filePath: path), options: .atomic)
        } catch {
            throw .file("\(path) cannot be written: \(error).", field: "svg")
        }
    }
}
