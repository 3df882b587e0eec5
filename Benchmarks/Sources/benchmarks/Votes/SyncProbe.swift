import Foundation
import Glibc

/// How many times a second a disk makes something durable, one after the other.
///
/// Pages of 4 KiB are written over and over within a file that has its size, as SQLite does with its
/// log; that is the quickest sync there is, for the file's length and place do not change.
final class SyncProbe {
    private static let page = 4 << 10
    private static let pages = 1_024

    private let descriptor: Int32
    private let file: URL
    private let bytes = [UInt8](repeating: 0x2A, count: page)
    private var next = 0

    /// Makes the file.
    init(file: URL) throws {
        self.file = file
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        descriptor = open(file.path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw BenchmarkError.system("open \(file.path)") }
        for _ in 0..<Self.pages { try writePage() }
        guard fsync(descriptor) == 0 else { throw BenchmarkError.system("fsync") }
    }

    deinit {
        close(descriptor)
        try? FileManager.default.removeItem(at: file)
    }

    /// Writes a page and waits for the disk.
    func sync() throws {
        try writePage()
        guard fdatasync(descriptor) == 0 else { throw BenchmarkError.system("fdatasync") }
    }

    private func writePage() throws {
        let written = pwrite(descriptor, bytes, bytes.count, off_t(next * Self.page))
        guard written == bytes.count else { throw BenchmarkError.system("pwrite") }
        next = (next + 1) % Self.pages
    }
}
