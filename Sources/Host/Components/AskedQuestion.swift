import AtriumKit
import Index
import NIOCore

/// A question whose answer screens show: asked once for all of them, and again when it fails or its answer changes.
///
/// It exists as long as a screen shows the answer.
final class AskedQuestion {
    /// The question, without the number of items, which depends on the screens.
    let question: ContentQuestion
    /// The ids of the answered items, in order.
    private(set) var ids: [String] = []
    /// Why the last try failed; nil: it did not.
    private(set) var problem: String?
    private(set) var isAnswered = false
    /// Changes whenever the answer or its state changes.
    private(set) var version = 0

    let source: AskedSource
    private let domain: Domain
    private var total: Int?
    private var next: String?
    private var windows: [ObjectIdentifier: WeakWindow] = [:]
    /// The user of the window that joined last.
    private var user = ""
    private var asking: Asking?
    /// The items of earlier pages, while further pages are being asked for.
    private var collected: [String] = []
    /// Keep in the list the items of pages that are not shown yet.
    private var pins: [AnswerPin] = []
    private var isPaused = false
    /// Whether the source has changed everything since the present answer, or the one under way, was asked for.
    private var isOutdated = false
    private var isRenewalComing = false
    private var lastRenewal: NIODeadline?
    /// When the question was asked last.
    ///
    /// `failures` counts the failures since its last answer.
    private var lastAsked: NIODeadline?
    private var failures = 0

    private struct WeakWindow { weak var value: AskedWindow? }

    init(_ question: ContentQuestion, of source: AskedSource, _ domain: Domain) {
        self.question = question
        self.source = source
        self.domain = domain
    }

    deinit {
        if let asking { source.drop(asking) }
        source.pin([], insteadOf: ids)
        source.remove(question)
    }

    /// The number of items, as far as it is known.
    var count: Int { max(total ?? 0, ids.count) }

    /// Whether there are more items than ``count``.
    var hasMore: Bool { total == nil && next != nil }

    var state: ListState {
        if let problem { return .stale(problem: problem) }
        return isAnswered && asking == nil ? .ready : .asking
    }

    /// Adds a window that shows the answer; while the user may still be typing the question it is asked after a
    /// pause.
    func join(_ window: AskedWindow, isTyped: Bool) {
        windows[ObjectIdentifier(window)] = WeakWindow(value: window)
        user = window.user
        guard asking == nil else { return }
        if problem != nil || isPaused {
            retry(isTyped: isTyped)
        } else if isAnswered {
            askMore()
        } else if isTyped {
            isPaused = true
            domain.timers.after(TimeAmount(domain.limits.typingPause)) { [weak self] in
                guard let self, isPaused else { return }
                begin()
            }
        } else {
            begin()
        }
    }

    /// Removes a window.
    func leave(_ window: ObjectIdentifier) { windows[window] = nil }

    /// Asks for the first page; no other may be under way.
    private func begin() {
        isOutdated = false
        ask(from: nil, after: [])
        changed()
    }

    /// Asks again from the first page, because the source has changed everything.
    ///
    /// At most once a second. An answer that is under way is shown first.
    func renew() {
        // A question that is not sent yet will get the new answer anyway.
        guard !isPaused, asking?.isSent ?? true else { return }
        isOutdated = true
        renewIfOutdated()
    }

    private func renewIfOutdated() {
        guard isOutdated, asking == nil, !isRenewalComing else { return }
        let now = NIODeadline.now()
        if let next = lastRenewal.map({ $0 + ComponentSource.pace }), next > now {
            isRenewalComing = true
            return domain.timers.after(next - now) { [weak self] in
                self?.domain.slices.run([{ self?.renewLater() }])
            }
        }
        lastRenewal = now
        begin()
    }

    private func renewLater() {
        isRenewalComing = false
        renewIfOutdated()
    }

    /// Asks again if the question has failed, at most once a second, or if it waits for the end of typing.
    ///
    /// Called when another screen wants the answer.
    func retry(isTyped: Bool = false) {
        if isPaused, !isTyped { begin() }
        guard problem != nil, asking == nil else { return }
        guard lastAsked.map({ .now() - $0 >= ComponentSource.pace }) ?? true else { return }
        begin()
    }

    /// Removes items that the source has removed.
    func remove(_ gone: Set<String>) {
        collected.removeAll { gone.contains($0) }
        let left = ids.filter { !gone.contains($0) }
        guard left.count < ids.count else { return }
        source.pin(left, insteadOf: ids)
        total = total.map { max(left.count, $0 - (ids.count - left.count)) }
        ids = left
        changed()
    }

    /// The number of items that the largest window shows.
    private var limit: Int { windows.values.reduce(0) { max($0, $1.value?.limit ?? 0) } }

    private func changed() {
        version += 1
        for window in windows.values { window.value?.holder?.queryBecameStale() }
    }
}

// MARK: Asking

extension AskedQuestion {
    /// Asks for the next page if a window shows more items than were answered.
    private func askMore() {
        guard ids.count < limit, let next else { return }
        ask(from: next, after: ids)
        changed()
    }

    private func ask(from cursor: String?, after ids: [String]) {
        isPaused = false
        lastAsked = .now()
        var question = question
        question.limit = min(max(limit - ids.count, 1), ContentQuestion.mostItems)
        question.cursor = cursor
        collected = ids
        let asking = Asking(question, for: user) { [weak self] in self?.handle($0, from: cursor) }
        self.asking = asking
        source.ask(asking)
    }

    private func handle(_ result: Result<AskedAnswer, AskFailure>, from cursor: String?) {
        asking = nil
        let before = collected
        // The pins are released only once the items are shown.
        defer {
            if asking == nil { pins = [] }
            renewIfOutdated()
        }
        switch result {
        case .success(let answer):
            var known = Set(before)
            let ids = before + answer.ids.filter { known.insert($0).inserted }
            // A page without a new item is the last one, whatever its cursor says.
            let next = ids.count == before.count ? nil : answer.next
            if let next, ids.count < limit {
                pins.append(answer.pin)
                return ask(from: next, after: ids)
            }
            (problem, failures) = (nil, 0)
            show(ids, answer.total, next)
        case .failure(let failure) where failure.isCursorInvalid && cursor != nil && failures == 0:
            failures = 1
            begin()
        case .failure(let failure):
            if !isAnswered, !before.isEmpty { show(before, nil, cursor) }
            fail(because: failure.reason)
        }
    }

    private func show(_ ids: [String], _ total: Int?, _ next: String?) {
        source.pin(ids, insteadOf: self.ids)
        (self.ids, self.total, self.next, isAnswered) = (ids, total, next, true)
        changed()
    }

    /// Reports the failure and asks again later, as ``AskedPause`` says: after 5 seconds at first, at most 5 minutes.
    private func fail(because reason: String) {
        problem = reason
        failures += 1
        changed()
        let expected = failures
        let pause = AskedPause.after(failures, at: question, first: domain.limits.askPause)
        domain.timers.after(TimeAmount(pause)) { [weak self] in
            self?.domain.slices.run([{ self?.askLater(after: expected) }])
        }
    }

    private func askLater(after expected: Int) {
        if failures == expected, problem != nil, asking == nil { begin() }
    }
}

// MARK: On a screen

/// The first items of an answer, as screens with the same choices show them, at their present values.
final class AskedWindow {
    let question: AskedQuestion
    /// The maximum number of items.
    let limit: Int
    /// One of the users who look at it.
    let user: String
    /// The view that is notified of changes, and then advances the window.
    private(set) weak var holder: (any LiveQueryHolder)?

    private let index: ContentIndex
    private var live: LiveItems
    private var version: Int
    private(set) var state: ListState

    init(
        _ question: AskedQuestion, limit: Int, of user: String, isTyped: Bool,
        in index: ContentIndex, for holder: any LiveQueryHolder
    ) {
        self.question = question
        self.limit = limit
        self.user = user
        self.index = index
        self.holder = holder
        live = LiveItems(question.ids.prefix(limit), in: index)
        (version, state) = (question.version, question.state)
        live.holder = holder
        question.join(self, isTyped: isTyped)
        _ = advance()
    }

    deinit { question.leave(ObjectIdentifier(self)) }

    var items: [IndexedItem] { live.window }

    /// Updates the window to the present state; false: it shows the same as before.
    func advance() -> Bool {
        guard version != question.version else { return live.advance() }
        (version, state) = (question.version, question.state)
        live = LiveItems(question.ids.prefix(limit), in: index)
        live.holder = holder
        return true
    }
}
