public import AtriumKit
internal import Index

/// The state that a component returned at the end of its load, collected from parts.
public struct LoadedState {
    /// All items; nil when no part contained any.
    public private(set) var items: Pieces<Item>?
    /// The other events, in the parts in which they arrived.
    public private(set) var events: [[ComponentEvent]] = []

    /// Makes an empty state.
    public init() {}

    /// Adds a part.
    public mutating func append(_ part: [ComponentEvent]) {
        // All events of a contents component are about items; those of other kinds never are.
        guard case .contents? = part.first else {
            if !part.isEmpty { events.append(part) }
            return
        }
        for case .contents(let change) in part {
            switch change {
            case .replaceAll: items = Pieces()
            // Appended in place: a copy for each part would take ever longer.
            case .insert(let reported): items?.append(contentsOf: reported)
            default: break
            }
        }
    }

    /// Frees the state on a thread, after it was delivered.
    func freeInBackground() {
        Discard.later(items)
        Discard.later(events)
    }

    /// The whole state, as a component in the daemon returns it.
    public var whole: [ComponentEvent] {
        (items.map { [.contents(.replaceAll), .contents(.insert(Array($0)))] } ?? [])
            + events.joined()
    }
}
