import Glibc

/// Read the first 4 KiB of a kernel file (proc, sysfs), as text; nil if the file cannot be read.
///
/// - Parameter path: Path of the file.
/// - Returns: Text of the file. This function can block, so the loop thread must not call the
///   function.
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

/// Read the first line of a kernel file; nil if the file cannot be read or is empty.
///
/// - Parameter path: Path of the file.
/// - Returns: The text before the first line end or NUL; strings of a device tree end with NUL.
public func firstLine(of path: String) -> String? {
    readSmallFile(path)?.prefix { $0 != "\n" && $0 != "\0" }.nonEmpty
}

/// Test one bit of a bit field in sysfs; false if the field is nil or shorter.
///
/// - Parameters:
///   - number: Number of the bit; the lowest bit is 0.
///   - field: Hexadecimal words with the size of the computer's words, highest word first.
/// - Returns: True if the bit is set.
public func isBitSet(_ number: Int, in field: String?) -> Bool {
    let width = UInt.bitWidth
    let words = (field ?? "").split(separator: " ").reversed().map { UInt($0, radix: 16) ?? 0 }
    return number / width < words.count && words[number / width] >> (number % width) & 1 == 1
}

extension Substring {
    fileprivate var nonEmpty: String? { isEmpty ? nil : String(self) }
}
