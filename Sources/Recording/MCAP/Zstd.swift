internal import CZstd

/// zstd compressor that reuses its working memory.
final class ZstdCompressor {
    /// Compression level: the fastest regular level. Higher levels compress sensor data only
    /// slightly better.
    static let level: Int32 = 1

    private let context: OpaquePointer?

    init() { context = ZSTD_createCCtx() }

    deinit { ZSTD_freeCCtx(context) }

    /// Compress the bytes to one complete zstd frame; nil if memory is exhausted.
    func compress(_ bytes: UnsafeRawBufferPointer) -> [UInt8]? {
        let bound = ZSTD_compressBound(bytes.count)
        var size = 0
        let compressed = withUnsafeTemporaryAllocation(byteCount: bound, alignment: 8) { room in
            size = ZSTD_compressCCtx(
                context, room.baseAddress, bound, bytes.baseAddress, bytes.count, Self.level)
            return ZSTD_isError(size) == 0 ? [UInt8](room[..<size]) : nil
        }
        return context == nil ? nil : compressed
    }
}

enum Zstd {
    /// Decompresses a frame.
    ///
    /// - Parameters:
    ///   - frame: One complete zstd frame.
    ///   - size: Expected length of the result, bytes.
    /// - Returns: The decompressed bytes; nil if the frame is damaged, or if the result has another
    ///   length.
    static func decompress(_ frame: UnsafeRawBufferPointer, size: Int) -> [UInt8]? {
        guard ZSTD_getFrameContentSize(frame.baseAddress, frame.count) == UInt64(size) else {
            return nil
        }
        var isGood = false
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { room, count in
            let written = ZSTD_decompress(room.baseAddress, size, frame.baseAddress, frame.count)
            isGood = ZSTD_isError(written) == 0 && written == size
            count = isGood ? size : 0
        }
        return isGood ? bytes : nil
    }

    /// Version of the zstd library.
    static var version: String { String(cString: ZSTD_versionString()) }
}
