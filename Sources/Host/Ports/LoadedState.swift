public import AtriumKit
internal import Index

/// What a component told at the end of its load, put together from parts.
public struct LoadedState {
    /// All items; nil where no event told of any.
    public private(set) var items: Pieces<Item>?
    /// Everything else, in the parts in which it came.
    public private(set) var events: [[ComponentEvent]] = []

    /// Nothing, yet.
    public init() {}

    /// Takes in what follows.
    public mutating func take(_ part: [ComponentEvent]) {
        // A contents component tells of items alone, the others never.
        guard case .contents? = part.first else {
            if !part.isEmpty { events.append(part) }
            return
        }
        for case .contents(let change) in part {
            switch change {
            case .replaceAll: items = Pieces()
            // In place: a copy for each part would take ever longer.
            case .insert(let told): items?.append(contentsOf: told)
            default: break
            }
        }
    }

    /// It was delivered: what nobody else holds of it is freed on a thread.
    func letGo() {
        Discard.later(items)
        Discard.later(events)
    }

    /// All of it, as a component in the daemon tells it.
    public var whole: [ComponentEvent] {
        (items.map { [.contents(.replaceAll), .contents(.insert(Array($0)))] } ?? [])
            + events.joined()
    }
}
