import AtriumKit
import Index

/// The state that a slot keeps for a component, by its kind: lists and calls show it.
///
/// It outlives the component: it is shown while the component is restarted, and the component's successor begins with
/// it.
enum KindState {
    case contents(ContentsState)
    case votes(VotesState)
    case comments(CommentsState)
    case filters(FiltersState)
    /// For a plugin that is not there, when no record says which kind it had.
    case unknown

    init(_ kind: Kind?, fields: [Field]) {
        switch kind {
        case .contents: self = .contents(ContentsState(fields: fields))
        case .votes: self = .votes(VotesState())
        case .comments: self = .comments(CommentsState())
        case .filters: self = .filters(FiltersState())
        case nil: self = .unknown
        @unknown default: self = .unknown
        }
    }

    /// Whether a source's items are unknown, and were so before the component was lost.
    var awaitsItems: Bool { contents.map { !$0.isKnown } ?? false }

    var contents: ContentsState? { if case .contents(let state) = self { state } else { nil } }

    func lists(_ item: String) -> Bool {
        if case .contents(let state) = self { state.list.contains(item) } else { false }
    }

    var votes: VotesState? { if case .votes(let state) = self { state } else { nil } }

    var comments: CommentsState? { if case .comments(let state) = self { state } else { nil } }

    var filters: FiltersState? { if case .filters(let state) = self { state } else { nil } }

    /// Shows what the previous component showed, until the new one has reported its own state.
    ///
    /// - Parameters:
    ///   - old: the previous component's state, of the same kind.
    ///   - hasSameFields: whether both lists have the same columns.
    ///   - showsLoaded: whether the loaded items may be shown before a delegate has passed them.
    func inherit(from old: KindState, hasSameFields: Bool, showsLoaded: Bool) {
        switch (self, old) {
        case (.contents(let new), .contents(let old)):
            new.inherit(from: old, hasSameFields: hasSameFields, showsLoaded: showsLoaded)
        case (.votes(let new), .votes(let old)): new.inherit(from: old)
        case (.comments(let new), .comments(let old)): new.inherit(from: old)
        default: break
        }
    }
}

/// The items of a contents component.
final class ContentsState {
    /// The items, with the derived fields that votes and comments give them.
    private(set) var list: ContentIndex
    /// The list that a load has filled, until the container shows it.
    private(set) var loaded: ContentIndex?
    /// Whether the items were ever known: a source that reads them from elsewhere may not have reported any yet.
    private(set) var isKnown = false
    /// Whether the component's items were exactly its records when it was started.
    private(set) var listsItsRecords = false
    /// The items that did not fit the fields at the last start.
    private(set) var unfit = UnfitItems()
    /// The items reported since then that did not fit.
    var leftOut = LeftOutItems()

    init(fields: [Field]) { list = ContentIndex(fields: fields) }

    /// Sets the list of a load, which may still be empty, to be shown once the component is part of the container;
    /// `listsItsRecords`: its items are exactly the records.
    func load(_ list: ContentIndex, listsItsRecords: Bool) {
        loaded = list
        self.listsItsRecords = listsItsRecords
    }

    /// Records that the items are known.
    func markKnown() { isKnown = true }

    /// Records which of all items don't fit the fields.
    func setUnfit(_ unfit: UnfitItems) {
        self.unfit = unfit
        leftOut = LeftOutItems()
    }

    /// Shows and returns the list that a load has filled, if there is one.
    func takeLoaded() -> ContentIndex? {
        guard let loaded = dropLoaded() else { return nil }
        list = loaded
        return loaded
    }

    /// Shows a list that was not filled by a load.
    func show(_ list: ContentIndex) { self.list = list }

    /// Drops and returns the list that a load was filling, if there was one.
    func dropLoaded() -> ContentIndex? {
        defer { loaded = nil }
        return loaded
    }

    fileprivate func inherit(from old: ContentsState, hasSameFields: Bool, showsLoaded: Bool) {
        if hasSameFields {
            list = old.list
            isKnown = old.isKnown
        } else if showsLoaded, let loaded {
            list = loaded
            isKnown = true
        }
    }
}

/// The tally of the votes on each subject, as a votes component reports it.
final class VotesState {
    /// Only subjects with votes have an entry.
    private(set) var tallies = SplitDictionary<Subject, Tally>()

    deinit { Discard.later(tallies) }

    func set(_ tally: Tally, of subject: Subject) {
        tallies[subject] = tally.count == 0 ? nil : tally
    }

    fileprivate func inherit(from old: VotesState) {
        // Moved, not shared: the first change of a shared dictionary would copy all of it.
        tallies = old.tallies
        old.tallies = SplitDictionary()
    }
}

/// The number of comments on each subject, as a comments component reports it.
final class CommentsState {
    /// Only subjects with comments have an entry.
    private(set) var counts = SplitDictionary<Subject, Int>()

    deinit { Discard.later(counts) }

    func set(_ count: Int, of subject: Subject) { counts[subject] = count == 0 ? nil : count }

    fileprivate func inherit(from old: CommentsState) {
        counts = old.counts
        old.counts = SplitDictionary()
    }
}

/// Which field values a filters component knows, and which sections it has.
final class FiltersState {
    /// The ids of the sections that it offered last; empty: it has none, or was not asked yet.
    private(set) var sections: [String] = []
    /// The version of the values that the component was sent last; nil: none were sent.
    private(set) var reported: UInt64?
    /// The number of values of each field at that version, as far as it is known.
    private(set) var valueCounts: [String: Int] = [:]
    /// The workers in a row that ended while they took values, also across restarts.
    private(set) var losses = ValueLosses()
    /// What the component preselects and can't be selected, as the continuation of "It"; nil: nothing, as far as is known.
    private(set) var leftOut: String?
    /// The callbacks to run once the component was sent the present values.
    private var waiting: [() -> Void] = []

    /// Runs `body` once the present values were sent; returns whether it is the only one that waits: then the caller
    /// has to find the values.
    func whenReported(_ body: @escaping () -> Void) -> Bool {
        waiting.append(body)
        return waiting.count == 1
    }

    /// Records the version that the component was sent, and the number of values of each field.
    func report(_ version: UInt64, counts: [String: Int]) {
        (reported, valueCounts) = (version, counts)
    }

    /// Records that the worker ended while it took the values that were sent last; returns the pause before others may
    /// be sent, nil for none.
    func recordLoss(
        of fields: [String], because reason: String, at now: Timestamp, longest: Duration
    ) -> Duration? {
        losses.add(reported, of: fields, because: reason, at: now, longest: longest)
    }

    /// Forgets the ends of workers that took values, because values were taken or the component is another one;
    /// returns whether there were any.
    @discardableResult func forgetLosses() -> Bool {
        defer { losses = ValueLosses() }
        return losses.count > 0
    }

    /// Records that the component is gone, with all values it was sent.
    func clear() {
        reported = nil
        sections = []
        leftOut = nil
    }

    /// Records what the component preselects and can't be selected; returns whether it was something else before.
    func leaveOut(_ problem: String?) -> Bool {
        defer { leftOut = problem }
        return leftOut != problem
    }

    /// Records which sections it offers; returns whether they are others than before.
    func offered(_ offers: [FilterSection]) -> Bool {
        guard !sections.elementsEqual(offers.lazy.map(\.id)) else { return false }
        sections = offers.map(\.id)
        return true
    }

    /// Returns and removes what waits.
    func takeWaiting() -> [() -> Void] {
        defer { waiting.removeAll() }
        return waiting
    }
}
