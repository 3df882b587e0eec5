public import AtriumKit

// Estimates of how many bytes a value has as JSON, for limits and for splitting messages into parts.

extension Value {
    /// About how many bytes it has as JSON.
    public var roughSize: Int {
        switch self {
        case .null, .bool: 5
        case .int, .number: 8
        case .text(let text): text.utf8.count + 2
        case .list(let list): list.reduce(2) { $0 + $1.roughSize + 1 }
        case .object(let object):
            object.reduce(2) { $0 + $1.key.utf8.count + $1.value.roughSize + 4 }
        }
    }
}

extension Item {
    /// About how many bytes it has as JSON.
    public var roughSize: Int {
        fields.reduce(16 + id.utf8.count + (parent?.utf8.count ?? 0)) {
            $0 + $1.key.utf8.count + 4 + $1.value.roughSize
        }
    }
}

extension ComponentEvent {
    /// About how many bytes it has as JSON.
    public var roughSize: Int {
        switch self {
        case .contents(.remove(let ids)): ids.reduce(100) { $0 + 20 + $1.utf8.count }
        case .contents(let change): change.items.reduce(100) { $0 + $1.roughSize }
        case .tally(let subject, let tally): 200 + subject.size + tally.histogramMembers.count
        case .commentCount(let subject, _): 100 + subject.size
        case .didPost(let comment), .didEdit(let comment), .didRemove(let comment):
            500 + comment.subject.size + (comment.text?.utf8.count ?? 0)
        case .didSelect(let filter, let section, let selection, _),
            .didDeselect(let filter, let section, let selection, _):
            selection.sections.values.joined().reduce(
                200 + filter.utf8.count + section.utf8.count
            ) { $0 + 50 + $1.utf8.count }
        case .didClear: 100
        @unknown default: 100
        }
    }
}

extension Subject {
    fileprivate var size: Int { item?.utf8.count ?? 0 }
}
