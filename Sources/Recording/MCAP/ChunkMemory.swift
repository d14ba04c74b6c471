internal import CLinuxShim
internal import Glibc

/// Where chunks wait: a file in memory without a name. Unlike the heap of a process that has locked
/// its pages, it may be swapped out, and what is dropped goes back to the system at once.
final class ChunkMemory {
    /// A block of bytes; its room is free again when the last copy of the reference is gone.
    final class Block: Sendable {
        /// How many.
        let count: Int
        private let file: File?
        private let offset: Int
        /// Where there is no such file.
        private let heap: [UInt8]

        fileprivate init(_ bytes: [UInt8], in file: File?, at offset: Int) {
            count = bytes.count
            self.offset = offset
            let isKept = file.map { file in
                bytes.withUnsafeBytes { room in
                    pwrite(file.descriptor, room.baseAddress, room.count, off_t(offset))
                } == bytes.count
            }
            self.file = isKept == true ? file : nil
            heap = isKept == true ? [] : bytes
        }

        deinit {
            guard let file else { return }
            _ = cl_memory_file_release(
                file.descriptor, Int64(offset), Int64(ChunkMemory.whole(count)))
        }

        /// The bytes; empty when they cannot be read.
        var bytes: [UInt8] {
            guard let file else { return heap }
            return [UInt8](unsafeUninitializedCapacity: count) { room, filled in
                let read = pread(file.descriptor, room.baseAddress, count, off_t(offset))
                filled = read == count ? count : 0
            }
        }
    }

    fileprivate final class File: Sendable {
        let descriptor: Int32

        init?() {
            var file: Int32 = -1
            let error = cl_memory_file_create("airframe-recorder", &file)
            descriptor = file
            if error != 0 { return nil }
        }

        deinit { close(descriptor) }
    }

    private let file = File()
    private var end = 0

    /// Holes are made of whole pages, of 64 KiB on some boards; room that nobody writes to takes
    /// none.
    private static func whole(_ count: Int) -> Int { (count + 65535) / 65536 * 65536 }

    /// Keeps bytes for as long as somebody holds what this returns.
    func keep(_ bytes: [UInt8]) -> Block {
        defer { end += Self.whole(bytes.count) }
        return Block(bytes, in: file, at: end)
    }
}
