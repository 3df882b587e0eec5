internal import AtriumKit
internal import Host

/// Calls that may be big, as several of moderate size.
enum CallParts {
    /// About how many bytes a part takes; a single value or record may take more.
    static let bytes = 256 << 10

    /// The values of fields, told at last by the one that says of which there are more.
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

    /// What a component's predecessor had kept, in its order; each byte is more than one on its way.
    static func kept(_ kept: [UInt8]) -> [WorkerCall] {
        let size = bytes / 4 * 3
        return stride(from: 0, to: max(kept.count, 1), by: size).map {
            .keptPart(Array(kept[$0..<min($0 + size, kept.count)]))
        }
    }

    /// Records that are undone: each is what it is told last, whatever comes with it.
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
