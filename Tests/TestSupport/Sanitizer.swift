import Glibc

/// Whether these tests and the programs that they start are built with a sanitizer (`make
/// sanitize`).
public enum Sanitizer {
    /// A sanitizer has its own allocator, threads and locked memory, and makes everything several
    /// times slower: what is asserted of those belongs to the plain run.
    public static let isActive =
        dlsym(nil, "__asan_init") != nil || dlsym(nil, "__tsan_init") != nil
}
