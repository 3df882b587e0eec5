internal import Glibc

/// The variables of the daemon's environment that workers and plugins' programs get; all others stay with the daemon,
/// since they may be secrets.
enum WorkerEnvironment {
    /// The variables that are passed, besides those of the locale.
    ///
    /// - `PATH` to `TMPDIR`: what any program may look at.
    /// - `LD_…`: where libraries of the Swift runtime are that are not in the loader's path, and those that the daemon is
    ///   run with.
    /// - `SWIFT_…` to `LLVM_PROFILE_FILE`: crash reports, hashing, the allocator, sanitizers and coverage.
    /// - `SSL_…`: certificates of other authorities.
    /// - `INVOCATION_ID`: whether systemd started the daemon, which messages about unreadable files mention.
    private static let names: Set = [
        "PATH", "HOME", "LANG", "LANGUAGE", "TZ", "TZDIR", "TMPDIR",
        "LD_LIBRARY_PATH", "LD_PRELOAD",
        "SWIFT_BACKTRACE", "SWIFT_DETERMINISTIC_HASHING", "MALLOC_ARENA_MAX", "GLIBC_TUNABLES",
        "ASAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS", "LLVM_PROFILE_FILE",
        "SSL_CERT_FILE", "SSL_CERT_DIR", "INVOCATION_ID",
    ]

    /// Whether a variable is passed.
    static func passes(_ name: some StringProtocol) -> Bool {
        names.contains(String(name)) || name.hasPrefix("LC_")
    }

    /// Copies the variables that are passed, each as `NAME=VALUE`, with nil at the end; the caller frees the copies.
    static func copy(
        of variables: UnsafePointer<UnsafeMutablePointer<CChar>?>
    ) -> [UnsafeMutablePointer<CChar>?] {
        var copies: [UnsafeMutablePointer<CChar>?] = []
        var next = variables
        while let variable = next.pointee {
            let text = String(cString: variable)
            let name = text.prefix { $0 != "=" }
            // Copied as bytes, which need not be UTF-8.
            if passes(name) { copies.append(strdup(variable)) }
            next += 1
        }
        return copies + [nil]
    }
}
