import Glibc

/// Detection of a sanitizer in these tests and in the programs that they start (`make sanitize`).
public enum Sanitizer {
    /// True if a sanitizer is loaded. A sanitizer has its own allocator, threads and locked memory,
    /// and makes a program several times slower. Tests check limits of memory and time only without
    /// a sanitizer.
    public static let isActive =
        dlsym(nil, "__asan_init") != nil || dlsym(nil, "__tsan_init") != nil
}
