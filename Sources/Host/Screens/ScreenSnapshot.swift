import AtriumKit
import Index

/// What readers see at one moment, one object for all who see the same; never changed.
///
/// They share a view and a focus, and have the same ballots of their own in sight.
final class ScreenSnapshot: Sendable {
    /// Tells it from every other moment.
    let number: UInt64
    let view: ViewState
    let focus: FocusState
    let own: OwnSight
    /// The reader's own comments on it that others are not shown.
    let held: [CommentView]

    private let steps = StepCache<ScreenStep>()

    init(
        number: UInt64, view: ViewState, focus: FocusState, own: OwnSight, held: [CommentView]
    ) {
        self.number = number
        self.view = view
        self.focus = focus
        self.own = own
        self.held = held
    }

    /// The reader's own ballot on what the screen is focused on, where votes are shown.
    var focusMine: Double? { focus.tally == nil ? nil : own.focus }

    /// What leads here from another moment, made once for all who are there; nil: from nothing.
    func step(from old: ScreenSnapshot?) -> ScreenStep {
        steps.step(from: old?.number ?? 0) { ScreenStep(from: old, to: self) }
    }
}

/// Somebody's own ballots on what they see; never changed.
final class OwnSight: Sendable {
    /// What all have in common who have none.
    static let none = OwnSight(items: [:], focus: nil)

    /// The values by the items that are shown.
    let items: [String: Double]
    /// The value on what the screen is focused on.
    let focus: Double?

    init(items: [String: Double], focus: Double?) {
        self.items = items
        self.focus = focus
    }
}

/// What leads from one moment to another, for all readers who take the same step.
public final class ScreenStep: Sendable {
    /// What those share who chose the same.
    public let view: ViewChange
    /// The lists where the reader's own ballots are in them; nil: as in ``view``.
    public let own: [ListChange<ItemView>]?
    /// What those share who are focused on the same.
    public let focus: FocusChange
    /// The votes on what the screen is focused on, with the reader's own; nil: unchanged.
    public let tally: TallyView?
    /// The reader's own comments that others are not shown, all of them; nil: unchanged.
    public let held: [CommentView]?
    /// Whether it leads from nothing, and so says everything.
    public let isWhole: Bool

    private let isSameTally: Bool
    private let bytes = MadeOnce<[UInt8]>()

    init(from old: ScreenSnapshot?, to new: ScreenSnapshot) {
        view = new.view.change(from: old?.view)
        own = new.lists(since: old, view)
        focus = new.focus.change(from: old?.focus)
        isWhole = old == nil
        held = (old?.held ?? []) == new.held ? nil : new.held
        isSameTally =
            old.map { $0.focus.tally == new.focus.tally && $0.focusMine == new.focusMine } ?? false
        tally =
            isSameTally
            ? nil : new.focus.tally.map { TallyView(tally: $0, mine: new.focusMine) }
    }

    /// Whether both moments look the same.
    public var isEmpty: Bool {
        view.isEmpty && own?.isEmpty ?? true && focus.isEmpty && isSameTally
            && held == nil
    }

    /// The lists of items that changed, in order.
    public var lists: [ListChange<ItemView>] { own ?? view.lists }

    /// The step as bytes, written once for all who take it; not kept where it is whole, since that is
    /// much, and seldom taken by many at once.
    public func encoded(_ encode: () -> [UInt8]) -> [UInt8] {
        isWhole ? encode() : bytes.value(encode)
    }
}

extension ScreenSnapshot {
    /// The lists with the reader's ballots in them; nil when there are none in what changed.
    fileprivate func lists(
        since old: ScreenSnapshot?, _ change: ViewChange
    ) -> [ListChange<ItemView>]? {
        let before = old?.own.items ?? [:]
        guard !own.items.isEmpty || !before.isEmpty else { return nil }
        return view.lists.compactMap { list in
            let shared = change.lists.first { $0.component == list.component }
            var edits = (shared?.edits ?? []).map { edit in
                edit.map { $0.voted(own.items[$0.id]) }
            }
            var told: Set<String> = []
            for edit in edits {
                switch edit {
                case .insert(let item, _), .update(let item, _): told.insert(item.id)
                case .remove, .move: break
                }
            }
            for (place, item) in list.items.enumerated() {
                let id = item.row.id
                guard own.items[id] != before[id], !told.contains(id) else { continue }
                edits.append(.update(item.view.voted(own.items[id]), at: place))
            }
            guard shared != nil || !edits.isEmpty else { return nil }
            return ListChange(
                component: list.component, total: list.total, hasMore: list.hasMore,
                state: list.state, edits: edits)
        }
    }
}

extension ItemView {
    /// The item with somebody's ballot.
    fileprivate func voted(_ value: Double?) -> ItemView {
        var view = self
        view.votes?.mine = value
        return view
    }
}

/// The moments that the screens of a view see now: one for each focus and for each person whose ballots are
/// in sight.
struct MomentTable {
    private struct Key: Hashable {
        var focus: ObjectIdentifier
        /// Nil: all who have no ballots in sight.
        var person: ObjectIdentifier?
    }

    private var moments: [Key: ScreenSnapshot] = [:]
    private var last: ScreenSnapshot?

    /// The moment at which all three are seen.
    ///
    /// - Parameters:
    ///   - view: what those share who chose the same.
    ///   - focus: what the screen is focused on.
    ///   - own: the reader's own ballots on it.
    ///   - held: the reader's own comments that others are not shown.
    ///   - ballots: whose sight it is.
    ///   - readers: how many may look: about so many moments are kept.
    ///   - domain: what numbers it.
    /// - Returns: it, one object as long as it looks the same.
    mutating func moment(
        _ view: ViewState, _ focus: SharedFocus, _ own: OwnSight, held: [CommentView],
        of ballots: OwnBallots?, readers: Int, in domain: Domain
    ) -> ScreenSnapshot {
        let state = focus.state
        if let last, last.shows(view, state, own, held) { return last }
        let key = Key(
            focus: ObjectIdentifier(focus),
            person: own === OwnSight.none && held.isEmpty
                ? nil : ballots.map { ObjectIdentifier($0) })
        if let known = moments[key], known.shows(view, state, own, held) {
            last = known
            return known
        }
        // Of focuses and persons who are gone.
        if moments.count > 2 * readers + 8 { moments.removeAll() }
        let moment = ScreenSnapshot(
            number: domain.nextTicket(), view: view, focus: state, own: own, held: held)
        moments[key] = moment
        last = moment
        return moment
    }
}

extension ScreenSnapshot {
    fileprivate func shows(
        _ view: ViewState, _ focus: FocusState, _ own: OwnSight, _ held: [CommentView]
    ) -> Bool {
        self.view === view && self.focus === focus && self.own === own && self.held == held
    }
}
