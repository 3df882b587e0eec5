import AtriumKit
import Index

/// The content of a screen as its readers see it at one time; immutable, and shared by all readers who see the same.
///
/// These readers share a view and a focus, and the same ballots of their own.
final class ScreenSnapshot: Sendable {
    /// Identifies the snapshot.
    let number: UInt64
    let view: ViewState
    let focus: FocusState
    let own: ShownBallots
    /// The reader's own comments on the subject that other users can't see.
    let held: [CommentView]

    private let steps = StepCache<ScreenStep>()

    init(
        number: UInt64, view: ViewState, focus: FocusState, own: ShownBallots, held: [CommentView]
    ) {
        self.number = number
        self.view = view
        self.focus = focus
        self.own = own
        self.held = held
    }

    /// The reader's own ballot on the screen's subject, if votes are shown.
    var focusMine: Double? { focus.tally == nil ? nil : own.focus }

    /// The step from another snapshot, made once for all readers who take it; nil: from nothing.
    func step(from old: ScreenSnapshot?) -> ScreenStep {
        steps.step(from: old?.number ?? 0) { ScreenStep(from: old, to: self) }
    }
}

/// A person's own ballots on the items and the subject that a screen shows; immutable.
final class ShownBallots: Sendable {
    /// Shared by all persons without visible ballots.
    static let none = ShownBallots(items: [:], focus: nil)

    /// The values by item.
    let items: [String: Double]
    /// The value on the screen's subject.
    let focus: Double?

    init(items: [String: Double], focus: Double?) {
        self.items = items
        self.focus = focus
    }
}

/// The step from one snapshot to another, for all readers who take it.
public final class ScreenStep: Sendable {
    /// The part shared by all readers with the same choices.
    public let view: ViewChange
    /// The lists with the reader's own ballots in them; nil: as in ``view``.
    public let own: [ListChange<ItemView>]?
    /// The part shared by all readers with the same subject.
    public let focus: FocusChange
    /// The votes on the screen's subject, with the reader's own; nil: unchanged.
    public let tally: TallyView?
    /// All of the reader's own comments that other users can't see; nil: unchanged.
    public let held: [CommentView]?
    /// Whether the step is from nothing, and so has everything.
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

    /// Whether both snapshots show the same.
    public var isEmpty: Bool {
        view.isEmpty && own?.isEmpty ?? true && focus.isEmpty && isSameTally
            && held == nil
    }

    /// The lists of items that changed, in order.
    public var lists: [ListChange<ItemView>] { own ?? view.lists }

    /// The step as bytes, encoded once for all readers who take it.
    ///
    /// The bytes of a whole step are not kept: they are many, and seldom shared.
    public func encoded(_ encode: () -> [UInt8]) -> [UInt8] {
        isWhole ? encode() : bytes.value(encode)
    }
}

extension ScreenSnapshot {
    /// The lists with the reader's ballots in them; nil if the changed items have none.
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
            var reported: Set<String> = []
            for edit in edits {
                switch edit {
                case .insert(let item, _), .update(let item, _): reported.insert(item.id)
                case .remove, .move: break
                }
            }
            for (place, item) in list.items.enumerated() {
                let id = item.row.id
                guard own.items[id] != before[id], !reported.contains(id) else { continue }
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
    /// The item with a person's ballot.
    fileprivate func voted(_ value: Double?) -> ItemView {
        var view = self
        view.votes?.mine = value
        return view
    }
}

/// The current snapshots of a view's screens: one for each focus, and for each person with visible ballots.
struct SnapshotTable {
    private struct Key: Hashable {
        var focus: ObjectIdentifier
        /// Nil: all readers without visible ballots.
        var person: ObjectIdentifier?
    }

    private var snapshots: [Key: ScreenSnapshot] = [:]
    private var last: ScreenSnapshot?

    /// Returns the snapshot of what is shared and what is the reader's own, the same object as long as it shows the
    /// same; about as many are kept as there are readers.
    mutating func snapshot(
        _ view: ViewState, _ focus: SharedFocus, _ own: ShownBallots, held: [CommentView],
        of ballots: OwnBallots?, readers: Int, in domain: Domain
    ) -> ScreenSnapshot {
        let state = focus.state
        if let last, last.shows(view, state, own, held) { return last }
        let key = Key(
            focus: ObjectIdentifier(focus),
            person: own === ShownBallots.none && held.isEmpty
                ? nil : ballots.map { ObjectIdentifier($0) })
        if let known = snapshots[key], known.shows(view, state, own, held) {
            last = known
            return known
        }
        // Also drops those of focuses and persons who are gone.
        if snapshots.count > 2 * readers + 8 { snapshots.removeAll() }
        let snapshot = ScreenSnapshot(
            number: domain.nextTicket(), view: view, focus: state, own: own, held: held)
        snapshots[key] = snapshot
        last = snapshot
        return snapshot
    }
}

extension ScreenSnapshot {
    fileprivate func shows(
        _ view: ViewState, _ focus: FocusState, _ own: ShownBallots, _ held: [CommentView]
    ) -> Bool {
        self.view === view && self.focus === focus && self.own === own && self.held == held
    }
}
