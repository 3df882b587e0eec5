internal import Foundation
internal import Logging
internal import Synchronization

/// Keeps copies of damaged rows in a file beside the store.
///
/// The row itself is lost when its record is written again or purged.
///
/// The file has one line of JSON for each row: container, component, sequence, created and sum as texts and numbers,
/// key and value in base64. Each row is kept once. Rows beyond 64 MiB are not kept.
final class DamagedRows: Sendable {
    /// The most bytes to keep.
    private static let most = 64 << 20

    private struct Row: Encodable {
        var container: String
        var component: String
        var key: Data
        var value: Data
        var sequence: Int64
        var created: Int64
        var sum: Int64
    }

    private struct State {
        /// The checksums of the lines in the file; nil: it has not been read yet.
        var lines: Set<Int64>?
        var bytes = 0
        /// Lines that are still to be written.
        var waiting = Data()
        /// Whether it was logged that the file can't be used.
        var isLogged = false
    }

    private let path: String
    private let logger: Logger
    private let state = Mutex(State())

    init(beside file: String, logger: Logger) {
        path = "\(file).damaged-records.ndjson"
        self.logger = logger
    }

    /// Adds a row, which ``save()`` writes.
    func add(
        _ container: String, _ component: String, key: UnsafeRawBufferPointer,
        value: UnsafeRawBufferPointer, sequence: Int64, created: Int64, sum: Int64
    ) {
        let row = Row(
            container: container, component: component, key: Data(key), value: Data(value),
            sequence: sequence, created: created, sum: sum)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let line = try? encoder.encode(row) else { return }
        state.withLock { state in
            if state.lines == nil { readLines(&state) }
            guard state.bytes + line.count < Self.most,
                state.lines?.insert(Self.sum(of: line)).inserted == true
            else { return }
            state.bytes += line.count + 1
            state.waiting += line + Data("\n".utf8)
        }
    }

    /// Writes and syncs the added rows; if the file can't be opened, that is logged once, and they wait.
    func save() {
        state.withLock { state in
            guard !state.waiting.isEmpty else { return }
            let descriptor = open(
                path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
            guard descriptor >= 0 else { return report(errno, &state) }
            defer { close(descriptor) }
            let rest = state.waiting.withUnsafeBytes { bytes in
                let count = write(descriptor, bytes.baseAddress, bytes.count)
                return max(count, 0)
            }
            state.waiting.removeFirst(rest)
            if state.waiting.isEmpty { fdatasync(descriptor) }
        }
    }

    private func report(_ code: Int32, _ state: inout State) {
        guard !state.isLogged else { return }
        state.isLogged = true
        let reason =
            code == ELOOP ? "it is a symbolic link: remove it" : String(cString: strerror(code))
        logger.warning(
            "damaged records can't be kept as they were found",
            metadata: ["path": "\(path)", "reason": "\(reason)"])
    }

    private func readLines(_ state: inout State) {
        var info = stat()
        let isFile = lstat(path, &info) == 0 && info.st_mode & S_IFMT == S_IFREG
        let kept = isFile ? FileManager.default.contents(atPath: path) ?? Data() : Data()
        state.bytes = kept.count
        state.lines = Set(kept.split(separator: UInt8(ascii: "\n")).map(Self.sum))
    }

    private static func sum(of line: Data) -> Int64 {
        var sum = Sum()
        line.withUnsafeBytes { sum.add($0) }
        return sum.stored
    }
}
