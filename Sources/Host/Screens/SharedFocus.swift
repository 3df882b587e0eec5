import AtriumKit
import Index

/// The content that is shown of a subject, at one time; immutable.
final class FocusState: ShownState, Sendable {
    let number: UInt64
    let subject: Subject
    /// The votes; nil if no votes component is shown.
    let tally: Tally?
    /// The comments component that is shown; nil: none.
    let component: String?
    let comments: [CommentView]
    let total: Int
    /// Held comments, by author; only the author sees them.
    let held: [ActorID: [CommentView]]
    /// The item's detail fields, and what its source has beyond its fields, as JSON; nil: the container has no detail
    /// fields.
    let details: [UInt8]?
    let bytes: Int

    private let changes = StepCache<FocusChange>()

    init(
        number: UInt64, subject: Subject, tally: Tally?, component: String?,
        comments: [CommentView], total: Int, held: [ActorID: [CommentView]] = [:],
        details: [UInt8]?
    ) {
        self.number = number
        self.subject = subject
        self.tally = tally
        self.component = component
        self.comments = comments
        self.total = total
        self.held = held
        self.details = details
        let own = held.values.reduce(0) { $1.reduce($0 + 100) { $0 + $1.weight } }
        bytes = comments.reduce(500 + own + (details?.count ?? 0)) { $0 + $1.weight }
    }

    /// The change from another state, made once for all screens that need it; nil: from nothing.
    func change(from old: FocusState?) -> FocusChange {
        changes.step(from: old?.number ?? 0) { FocusChange(from: old, to: self) }
    }
}

/// The change for all screens that are focused on the same.
public final class FocusChange: Sendable {
    /// The screen's present subject: an item's id, or empty for the container; nil: unchanged.
    public let item: String?
    /// The comments; nil: unchanged.
    public let comments: ListChange<CommentView>?
    /// The item's details, as a JSON object's bytes; nil: unchanged.
    public let details: [UInt8]?

    private let bytes = MadeOnce<ChangeBytes>()

    init(from old: FocusState?, to new: FocusState) {
        item = (old?.subject ?? .container) == new.subject ? nil : new.subject.item ?? ""
        details = old?.details == new.details ? nil : new.details ?? Array("{}".utf8)
        guard let component = new.component else {
            comments = nil
            return
        }
        // The comments of another component are sent as a new list.
        let before = old?.component == component ? old : nil
        let edits = ListEdit.leading(
            from: before?.comments ?? [], to: new.comments, id: \.entry.comment.id, isSame: ==)
        guard before?.total != new.total || !edits.isEmpty else {
            comments = nil
            return
        }
        comments = ListChange(component: component, total: new.total, edits: edits)
    }

    /// Whether nothing changed, except perhaps the votes.
    public var isEmpty: Bool { item == nil && comments == nil && details == nil }

    /// The change as bytes, encoded once for all who receive it.
    public func encoded(_ encode: () -> ChangeBytes) -> ChangeBytes {
        bytes.value(encode)
    }
}

/// The subject of a focus, and what is shown of it.
struct FocusKey: Hashable {
    var subject: Subject
    /// The most comments that are shown.
    var limit: Int
    /// Hidden components, without those that the definition hides.
    var hidden: Set<String> = []
}

extension FocusKey {
    /// What screens with these choices show of their subject; those that hide only other components share it.
    init(_ choices: Screen.Choices, in container: Container) {
        let hidden = choices.view.hidden
        // One that the definition hides counts too, since it may be shown while the screen is open.
        let comments = container.slots.filter { $0.kind == .comments }
        let first = comments.first { !hidden.contains($0.name) } ?? comments.first
        subject = choices.subject
        limit = choices.view.mostEntries(of: first?.name ?? "")
        self.hidden = hidden.filter {
            let kind = container.slot($0)?.kind
            // A removed component may be added again.
            return kind == nil || kind == .votes || kind == .comments
        }
    }
}

/// The content that is shown of a subject, kept up to date for all screens that are focused on it.
///
/// The host has the votes. Only the comments component has the comments: it is asked once it is quiet, so that its
/// answer has only what is committed.
final class SharedFocus: Queueable {
    let key: FocusKey
    private(set) var state: FocusState { didSet { payer.show(state) } }
    private var payer = Payer<FocusState>()
    private(set) var screens: [ScreenID: Screen] = [:]
    /// The new subject of its screens, if the present one was removed.
    private(set) var goal: Subject?
    var queueMarks = QueueMarks()
    /// The version of its last update.
    private(set) var version: UInt64 = 0

    /// Refers to it until its last screen has left.
    private let home: ContainerScreens
    /// Whether something changed since ``state`` was made.
    private var isStale = true
    /// Whether something changed since the comments component answered.
    private var isThreadStale = true
    /// Whether the item changed since its source was asked.
    private var areDetailsStale = true
    /// Whether the item existed; nothing is shown of an item that does not.
    private var wasThere = false
    private var asked: Slot?
    private var comments: (component: String?, page: [CommentView], total: Int) = (nil, [], 0)
    private var held: [ActorID: [CommentView]] = [:]
    /// The source that is asked for the item's details; the screen does not wait for it.
    private var source: Slot?
    /// The source's last answer.
    private var known: [String: Value] = [:]

    init(_ key: FocusKey, on home: ContainerScreens) {
        self.key = key
        self.home = home
        state = FocusState(
            number: home.domain.nextTicket(), subject: key.subject, tally: nil,
            component: nil, comments: [], total: 0, details: nil)
        advance(to: 0)
    }

    /// Adds a screen, or a part of one, that is focused on the subject from now on.
    func insert(_ screen: Screen) {
        screens[screen.id] = screen
        payer.join(screen.account, for: state)
    }

    /// Removes a screen; with the last one the focus goes.
    func remove(_ screen: Screen) {
        screens[screen.id] = nil
        payer.leave(screen.account, to: screens.values.first?.account)
        if screens.isEmpty { home.shared.remove(self) }
    }

    /// Whether ``state`` is current, or as current as possible while the component is not attached.
    ///
    /// Details that the source has not answered yet do not count.
    var isSettled: Bool { !(asked?.isAttached ?? false) }

    /// Sets the new subject of its screens, which follow.
    func move(to subject: Subject) { goal = subject }

    /// Marks a change of the votes or comments, or of the item; with details, its source is asked again.
    func touch(withDetails: Bool) {
        isStale = true
        isThreadStale = true
        if withDetails { areDetailsStale = true }
        home.updates.markStale(self)
    }

    /// Removes comments whose component is not attached, and so can't report their removal.
    func removeComments(_ gone: Set<String>, of component: String) {
        guard comments.component == component else { return }
        let before = comments.page.count
        comments.page.removeAll { gone.contains($0.entry.comment.id) }
        let kept = held.mapValues { $0.filter { !gone.contains($0.entry.comment.id) } }
            .filter { !$0.value.isEmpty }
        guard comments.page.count < before || kept != held else { return }
        held = kept
        comments.total -= before - comments.page.count
        touch(withDetails: false)
    }

    /// Updates the state to a version, if that is possible now; returns whether the state changed, or is now known to
    /// be unchanged.
    @discardableResult
    func advance(to version: UInt64) -> Bool {
        self.version = version
        let container = home.container
        let isThere = isThere(in: container)
        guard isStale || isThere != wasThere else { return false }
        if isThere != wasThere { (isThreadStale, areDetailsStale) = (true, true) }
        wasThere = isThere
        let slot = container.slots.first {
            $0.kind == .comments && !$0.isHidden(beside: key.hidden)
        }
        if isThere { askSource(in: container) }
        if let slot, isThere, slot.isAttached {
            if asked == nil, isThreadStale { ask(slot) }
        } else if slot?.name != comments.component || !isThere {
            comments = (slot?.name, [], 0)
            held = [:]
        }
        guard asked == nil else { return false }
        isStale = false
        return show(isThere, in: container)
    }

    private func show(_ isThere: Bool, in container: Container) -> Bool {
        let votes = container.slots.first {
            $0.kind == .votes && !$0.isHidden(beside: key.hidden)
        }
        let tally = votes.map { isThere ? $0.tally(of: key.subject) ?? Tally() : Tally() }
        let details = details(in: container)
        guard
            details != state.details || tally != state.tally
                || comments.component != state.component
                || comments.page != state.comments || comments.total != state.total
                || held != state.held
        else { return false }
        state = FocusState(
            number: container.domain.nextTicket(), subject: key.subject, tally: tally,
            component: comments.component, comments: comments.page, total: comments.total,
            held: held, details: details)
        return true
    }

    private func isThere(in container: Container) -> Bool {
        key.subject.item.map(container.has) ?? true
    }

    private func ask(_ slot: Slot) {
        let container = home.container
        var query = ThreadQuery(subject: key.subject, limit: key.limit)
        query.tellsHeld = true
        let thread = query
        asked = slot
        slot.requests.ask(
            Question(needsQuiet: true, isOfScreen: true, make: { .thread(thread) }) {
                [weak self] result in
                guard let self else { return }
                asked = nil
                // The answer has everything that was committed so far: the component answers in order, and nothing
                // was committed since it was asked.
                isThreadStale = false
                // The item may have changed meanwhile; the next update then asks its source.
                isStale = areDetailsStale
                // The item may exist again before the next update.
                wasThere = isThere(in: container)
                if !wasThere {
                    // The item was removed meanwhile.
                    comments = (slot.name, [], 0)
                    held = [:]
                } else if case .success(.thread(let page)) = result {
                    comments = (
                        slot.name, page.entries.map { container.comments.view($0) }, page.total
                    )
                    let authors = Set(page.held.compactMap(\.comment.author))
                    held = authors.reduce(into: [:]) {
                        $0[$1] = container.comments.held(page, of: $1)
                    }
                } else if comments.component != slot.name {
                    comments = (slot.name, [], 0)
                    held = [:]
                }
                _ = show(wasThere, in: container)
                home.updates.touch(screens.values)
            }, for: slot)
    }
}

// MARK: Details

extension SharedFocus {
    /// The list that has the item; nil: the container has no detail fields.
    private func sourceSlot(in container: Container) -> Slot? {
        guard let item = key.subject.item,
            container.definition.fields.contains(where: \.details)
        else { return nil }
        let slots = container.slots.filter { $0.list?.contains(item) ?? false }
        return slots.first { !$0.isHidden(beside: key.hidden) } ?? slots.first
    }

    private func askSource(in container: Container) {
        guard areDetailsStale, source == nil else { return }
        guard let slot = sourceSlot(in: container), let item = key.subject.item else {
            areDetailsStale = false
            return
        }
        guard slot.isAttached else { return }
        areDetailsStale = false
        source = slot
        slot.requests.ask(
            Question(needsQuiet: true, isOfScreen: true, make: { .details(item: item) }) {
                [weak self] result in
                guard let self else { return }
                source = nil
                // Without an answer, the previous details stay.
                if case .success(.details(let details)) = result { known = details ?? [:] }
                // Something else may have changed meanwhile; the next update shows both.
                isStale = true
                home.updates.markStale(self)
                home.updates.touch(screens.values)
            }, for: slot)
    }

    /// The item's detail fields, and what its source has beyond its fields.
    private func details(in container: Container) -> [UInt8]? {
        guard let list = sourceSlot(in: container)?.list, let item = key.subject.item,
            let row = list.item(item)
        else { return nil }
        let held = row.fields(named: container.definition.detailFields)
        guard !known.isEmpty, let fields = try? Value(jsonBytes: held).object else { return held }
        // The item's own values take precedence, and fields that are shown in lists are not replaced.
        let listed = Set(container.definition.fields.lazy.filter { !$0.details }.map(\.name))
        return fields.merging(known.filter { !listed.contains($0.key) }) { held, _ in held }
            .jsonBytes
    }
}
