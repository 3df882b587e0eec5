import Glibc

/// Why a benchmark can't go on.
struct BenchmarkError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }

    /// What a system call just said.
    static func system(_ call: String) -> BenchmarkError {
        BenchmarkError("\(call): \(String(cString: strerror(errno)))")
    }
}
