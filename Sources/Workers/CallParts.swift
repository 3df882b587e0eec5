internal import AtriumKit
internal import Host

/// Splits calls that may be large into several of moderate size.
enum CallParts {
    /// About how many bytes a part holds; a single value or record may be larger.
    static let bytes = 256 << 10

    /// Reports the values of fields; the last call names the fields that have more values.
    static func report(_ values: [String: [Value]], cut: Set<String>) -> [WorkerCall] {
        var calls: [WorkerCall] = []
        var part: [String: [Value]] = [:]
        var room = bytes
        for (field, values) in values {
            part[field] = []
            for value in values {
                if room <= 0 {
                    calls.append(.reportPart(part))
                    (part, room) = ([field: []], bytes)
                }
                part[field]?.append(value)
                room -= value.roughSize
            }
        }
        return calls + [.report(part, cut: cut)]
    }

    /// Sends the bytes that a component's predecessor kept, in order; base64 makes them a third longer.
    static func kept(_ kept: [UInt8]) -> [WorkerCall] {
        let size = bytes / 4 * 3
        return stride(from: 0, to: max(kept.count, 1), by: size).map {
            .keptPart(Array(kept[$0..<min($0 + size, kept.count)]))
        }
    }

    /// Restores records; the parts can be applied one by one, since a record's state is that of its last change.
    static func undo(_ changes: [Change]) -> [WorkerCall] {
        var calls: [WorkerCall] = []
        var part: [Change] = []
        var room = bytes
        for change in changes {
            if room <= 0 {
                calls.append(.undo(part))
                (part, room) = ([], bytes)
            }
            part.append(change)
            room -= change.key.utf8.count + (change.value?.roughSize ?? 0)
        }
        return calls + [.undo(part)]
    }
}
