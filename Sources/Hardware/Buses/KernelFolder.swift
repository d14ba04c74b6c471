internal import Glibc
internal import Realtime

/// Folder in sysfs that contains attribute files of the kernel. Each call opens and closes a file,
/// and allocates memory. A call waits while the kernel's driver communicates with the chip.
struct KernelFolder: Sendable, Equatable {
    /// Path of the folder.
    var path: String

    /// Largest number of entries that are read from a folder.
    private static let mostEntries = 1024

    /// Names of the files and folders in this folder; empty if the folder does not exist.
    var entries: [String] {
        guard let folder = opendir(path) else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while names.count < Self.mostEntries, let entry = readdir(folder) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names.sorted()
    }

    /// True if the folder contains an entry of this name.
    func has(_ name: String) -> Bool { access("\(path)/\(name)", F_OK) == 0 }

    /// Subfolder with this name.
    func folder(_ name: String) -> KernelFolder { KernelFolder(path: "\(path)/\(name)") }

    /// The first line of an attribute, without leading and trailing spaces; nil if the attribute
    /// cannot be read.
    func text(_ name: String) -> String? {
        guard let line = firstLine(of: "\(path)/\(name)") else { return nil }
        var trimmed = Substring(line)
        while trimmed.first?.isWhitespace == true { trimmed.removeFirst() }
        while trimmed.last?.isWhitespace == true { trimmed.removeLast() }
        return trimmed.isEmpty ? nil : String(trimmed)
    }

    /// Finite number in an attribute; nil if the attribute does not contain a finite number.
    func number(_ name: String) -> Double? {
        text(name).flatMap { Double($0) }.flatMap { $0.isFinite ? $0 : nil }
    }

    /// Writes an attribute.
    ///
    /// - Throws: EACCES or EROFS if writing is not permitted, EBUSY while the buffer is in use,
    ///   EINVAL if the driver rejects the value.
    func write(_ text: String, to name: String) throws(BusErrno) {
        let descriptor = open("\(path)/\(name)", O_WRONLY | O_CLOEXEC | O_TRUNC)
        guard descriptor >= 0 else { throw BusErrno(code: errno) }
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        let written = Glibc.write(descriptor, bytes, bytes.count)
        guard written == bytes.count else { throw BusErrno(code: written < 0 ? errno : EIO) }
    }
}
