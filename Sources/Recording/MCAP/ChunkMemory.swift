internal import CLinuxShim
internal import Glibc

/// Storage of chunks in an unnamed file in memory. The system can swap this file out, unlike the
/// heap of a process with locked memory. The memory of freed blocks is returned to the system
/// immediately.
final class ChunkMemory {
    /// Block of bytes. The block's space is freed when the last reference to the block is released.
    final class Block: Sendable {
        /// Number of bytes.
        let count: Int
        private let file: File?
        private let offset: Int
        /// Content of the block if the file could not be created; otherwise empty.
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

        /// The bytes of the block; empty if they cannot be read.
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

    /// Round a size up to whole pages (64 KiB on some boards), because only whole pages can be
    /// freed. Unwritten parts of the file occupy no memory.
    private static func whole(_ count: Int) -> Int { (count + 65535) / 65536 * 65536 }

    /// Stores bytes until the returned block is released.
    func keep(_ bytes: [UInt8]) -> Block {
        defer { end += Self.whole(bytes.count) }
        return Block(bytes, in: file, at: end)
    }
}
