internal import Foundation
internal import Synchronization

/// Copies of records that were found not to be what was written, beside the store: one of them is put anew, or purged,
/// and the row is gone.
///
/// A file of JSON, a line for each row: container, component, sequence, created and sum as numbers and texts, key and value
/// in base64. A row is kept once. The file has at most 64 MiB; what is found beyond is not kept.
final class DamagedRows: Sendable {
    /// So many bytes of rows are kept.
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
        /// The sums of the lines that are there; nil: nobody has looked yet.
        var lines: Set<Int64>?
        var bytes = 0
        /// Lines that are to be written.
        var waiting = Data()
    }

    private let path: String
    private let state = Mutex(State())

    /// Those beside a store.
    init(beside file: String) { path = "\(file).damaged-records.ndjson" }

    /// Notes a row, to be written by ``save()``.
    func note(
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

    /// Writes what was noted, and syncs it; what can't be written is not kept.
    func save() {
        state.withLock { state in
            guard !state.waiting.isEmpty else { return }
            let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { return }
            defer { close(descriptor) }
            let rest = state.waiting.withUnsafeBytes { bytes in
                let count = write(descriptor, bytes.baseAddress, bytes.count)
                return max(count, 0)
            }
            state.waiting.removeFirst(rest)
            if state.waiting.isEmpty { fdatasync(descriptor) }
        }
    }

    private func readLines(_ state: inout State) {
        let kept = FileManager.default.contents(atPath: path) ?? Data()
        state.bytes = kept.count
        state.lines = Set(kept.split(separator: UInt8(ascii: "\n")).map(Self.sum))
    }

    private static func sum(of line: Data) -> Int64 {
        var sum = Sum()
        line.withUnsafeBytes { sum.add($0) }
        return sum.stored
    }
}
