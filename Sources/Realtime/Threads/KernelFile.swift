import Glibc

/// The first 4 KiB of a kernel file (proc, sysfs), as text; nil if it cannot be read.
///
/// - Parameter path: The file.
/// - Returns: Its text. May block; not for the loop thread.
public func readSmallFile(_ path: String) -> String? {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    return withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { buffer in
        let length = read(file, buffer.baseAddress, buffer.count)
        guard length >= 0 else { return nil }
        return String(decoding: buffer[0..<length], as: UTF8.self)
    }
}

/// The first line of a kernel file; nil if it cannot be read or is empty.
///
/// - Parameter path: The file.
/// - Returns: The text before the end of the first line; a device tree's strings end with a zero
///   instead.
public func firstLine(of path: String) -> String? {
    readSmallFile(path)?.prefix { $0 != "\n" && $0 != "\0" }.nonEmpty
}

extension Substring {
    fileprivate var nonEmpty: String? { isEmpty ? nil : String(self) }
}
