import AtriumKit
import Index

/// What a slot keeps for its component by the component's kind: what lists and calls show of it.
///
/// It outlives the component: it is shown while the component is started again, and what takes the
/// component's place begins with it.
enum KindState {
    case contents(ContentsState)
    case votes(VotesState)
    case comments(CommentsState)
    case filters(FiltersState)
    /// Of a plugin that is not there, where no record tells what it did.
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

    var contents: ContentsState? { if case .contents(let state) = self { state } else { nil } }

    var votes: VotesState? { if case .votes(let state) = self { state } else { nil } }

    var comments: CommentsState? { if case .comments(let state) = self { state } else { nil } }

    var filters: FiltersState? { if case .filters(let state) = self { state } else { nil } }

    /// Shows what the component showed whose place this one's takes, until it says what there is.
    ///
    /// - Parameters:
    ///   - old: that component's, of the same kind.
    ///   - hasSameFields: whether that list has the columns that this one's has.
    ///   - showsLoaded: whether the items that it has loaded may be shown before a delegate has passed them on.
    func goOn(from old: KindState, hasSameFields: Bool, showsLoaded: Bool) {
        switch (self, old) {
        case (.contents(let new), .contents(let old)):
            new.goOn(from: old, hasSameFields: hasSameFields, showsLoaded: showsLoaded)
        case (.votes(let new), .votes(let old)): new.goOn(from: old)
        case (.comments(let new), .comments(let old)): new.goOn(from: old)
        default: break
        }
    }
}

/// The items of a contents component.
final class ContentsState {
    /// The items, with what was derived for them.
    private(set) var list: ContentIndex
    /// The list that a load has filled, until the container takes it in.
    private(set) var loaded: ContentIndex?
    /// Whether it was ever known what items there are: a source that reads them from elsewhere may be at it.
    private(set) var isKnown = false
    /// Whether its items were just what its records say, when it was started.
    private(set) var listsItsRecords = false
    /// The items that did not fit the fields at its last start.
    private(set) var unfit = UnfitItems()
    /// The items that did not fit when its source told of them since.
    var leftOut = LeftOutItems()

    init(fields: [Field]) { list = ContentIndex(fields: fields) }

    /// A load has a list; to be shown once the component is part of the container.
    ///
    /// - Parameters:
    ///   - list: the list, which may be yet to be filled.
    ///   - listsItsRecords: whether its items are just what the records say.
    func load(_ list: ContentIndex, listsItsRecords: Bool) {
        loaded = list
        self.listsItsRecords = listsItsRecords
    }

    /// It is known what items there are.
    func know() { isKnown = true }

    /// It is found which of all items don't fit.
    func note(_ unfit: UnfitItems) {
        self.unfit = unfit
        leftOut = LeftOutItems()
    }

    /// Shows the list that a load has filled.
    ///
    /// - Returns: that list; nil: there is none.
    func takeLoaded() -> ContentIndex? {
        guard let loaded = dropLoaded() else { return nil }
        list = loaded
        return loaded
    }

    /// Shows a list that was filled otherwise.
    func show(_ list: ContentIndex) { self.list = list }

    /// Lets the list go that a load was filling.
    ///
    /// - Returns: that list; nil: there was none.
    func dropLoaded() -> ContentIndex? {
        defer { loaded = nil }
        return loaded
    }

    fileprivate func goOn(from old: ContentsState, hasSameFields: Bool, showsLoaded: Bool) {
        if hasSameFields {
            list = old.list
            isKnown = old.isKnown
        } else if showsLoaded, let loaded {
            list = loaded
            isKnown = true
        }
    }
}

/// What the votes on each subject add up to, as a votes component tells it.
final class VotesState {
    /// Of subjects with votes alone.
    private(set) var tallies = SplitDictionary<Subject, Tally>()

    deinit { Discard.later(tallies) }

    func set(_ tally: Tally, of subject: Subject) {
        tallies[subject] = tally.count == 0 ? nil : tally
    }

    fileprivate func goOn(from old: VotesState) {
        // Moved: shared, the first change would copy all of them.
        tallies = old.tallies
        old.tallies = SplitDictionary()
    }
}

/// How many comments each subject has, as a comments component tells it.
final class CommentsState {
    /// Of subjects with comments alone.
    private(set) var counts = SplitDictionary<Subject, Int>()

    deinit { Discard.later(counts) }

    func set(_ count: Int, of subject: Subject) { counts[subject] = count == 0 ? nil : count }

    fileprivate func goOn(from old: CommentsState) {
        counts = old.counts
        old.counts = SplitDictionary()
    }
}

/// Which values of the fields that it observes a filters component knows.
final class FiltersState {
    /// A number that stands for the values that it was last sent; nil: it was sent none.
    private(set) var reported: UInt64?
    /// How many values its fields had then, where that is known.
    private(set) var valueCounts: [String: Int] = [:]
    /// Who waits until it was sent the present ones.
    private var waiting: [() -> Void] = []

    /// Has something done once the present values were sent.
    ///
    /// - Returns: whether nobody else waits: then they are still to be found.
    func whenReported(_ body: @escaping () -> Void) -> Bool {
        waiting.append(body)
        return waiting.count == 1
    }

    /// It was sent values, of fields that have so many.
    func report(_ version: UInt64, counts: [String: Int]) {
        (reported, valueCounts) = (version, counts)
    }

    /// Its component is gone, and with it what it knew.
    func forget() { reported = nil }

    /// Hands out who waits.
    func takeWaiting() -> [() -> Void] {
        defer { waiting.removeAll() }
        return waiting
    }
}
