import AtriumKit
import Index
import NIOCore

/// A question that screens show the answer to: asked once for all of them, and again when it fails or is to be.
///
/// It lives as long as any of them shows it.
final class AskedQuestion {
    /// What is asked, but for how much of it.
    let question: ContentQuestion
    /// The answered items, in order.
    private(set) var ids: [String] = []
    /// What went wrong the last time; nil: nothing.
    private(set) var problem: String?
    private(set) var isAnswered = false
    /// Another one with each change.
    private(set) var version = 0

    let source: AskedSource
    private let domain: Domain
    private var total: Int?
    private var next: String?
    private var windows: [ObjectIdentifier: WeakWindow] = [:]
    /// The user who opened it last.
    private var user = ""
    private var asking: Asking?
    /// The items before those that are asked for.
    private var collected: [String] = []
    /// Keep the items of pages that are not shown yet.
    private var pins: [AnswerPin] = []
    private var isPaused = false
    /// Whether its answer, or the one that is under way, is of before all became another.
    private var isOutdated = false
    private var isRenewalComing = false
    private var lastRenewal: NIODeadline?
    /// When it was asked last, and how often in a row without an answer.
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
        source.forget(question)
    }

    /// How many there are, as far as it is known.
    var count: Int { max(total ?? 0, ids.count) }

    /// Whether there are more than ``count`` tells.
    var hasMore: Bool { total == nil && next != nil }

    var state: ListState {
        if let problem { return .stale(problem: problem) }
        return isAnswered && asking == nil ? .ready : .asking
    }

    /// Somebody shows it.
    ///
    /// - Parameters:
    ///   - window: what they show of it.
    ///   - isTyped: whether the user may be about to type on.
    func join(_ window: AskedWindow, isTyped: Bool) {
        windows[ObjectIdentifier(window)] = WeakWindow(value: window)
        user = window.user
        guard asking == nil else { return }
        if problem != nil || isPaused {
            lookAgain(isTyped: isTyped)
        } else if isAnswered {
            askMore()
        } else if isTyped {
            isPaused = true
            domain.after(TimeAmount(domain.limits.typingPause)) { [weak self] in
                guard let self, isPaused else { return }
                begin()
            }
        } else {
            begin()
        }
    }

    /// Somebody shows it no more.
    func leave(_ window: ObjectIdentifier) { windows[window] = nil }

    /// Asks from the first item on; nothing is under way.
    private func begin() {
        isOutdated = false
        ask(from: nil, after: [])
        changed()
    }

    /// All of it is another: asks from the first item on, at most once a second; what is under way is shown before.
    func renew() {
        // What is not sent yet will be answered with what is new.
        guard !isPaused, asking?.isSent ?? true else { return }
        isOutdated = true
        goOnRenewing()
    }

    private func goOnRenewing() {
        guard isOutdated, asking == nil, !isRenewalComing else { return }
        let now = NIODeadline.now()
        if let next = lastRenewal.map({ $0 + SourceState.pace }), next > now {
            isRenewalComing = true
            return domain.after(next - now) { [weak self] in
                self?.domain.inSlices([{ self?.renewLater() }])
            }
        }
        lastRenewal = now
        begin()
    }

    private func renewLater() {
        isRenewalComing = false
        goOnRenewing()
    }

    /// Somebody else wants it: asks again where it failed, at most once a second, and waits for nobody to type on.
    func lookAgain(isTyped: Bool = false) {
        if isPaused, !isTyped { begin() }
        guard problem != nil, asking == nil else { return }
        guard lastAsked.map({ .now() - $0 >= SourceState.pace }) ?? true else { return }
        begin()
    }

    /// The source has removed items.
    func remove(_ gone: Set<String>) {
        collected.removeAll { gone.contains($0) }
        let left = ids.filter { !gone.contains($0) }
        guard left.count < ids.count else { return }
        source.pin(left, insteadOf: ids)
        total = total.map { max(left.count, $0 - (ids.count - left.count)) }
        ids = left
        changed()
    }

    /// How many items are shown of it at most.
    private var limit: Int { windows.values.reduce(0) { max($0, $1.value?.limit ?? 0) } }

    private func changed() {
        version += 1
        for window in windows.values { window.value?.holder?.isConcerned() }
    }
}

// MARK: Asking

extension AskedQuestion {
    /// Asks for what is missing, where a screen shows more than was answered.
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
        let asking = Asking(question, for: user) { [weak self] in self?.take($0, from: cursor) }
        self.asking = asking
        source.ask(asking)
    }

    private func take(_ result: Result<AskedAnswer, AskFailure>, from cursor: String?) {
        asking = nil
        let before = collected
        // Once this is shown.
        defer {
            if asking == nil { pins = [] }
            goOnRenewing()
        }
        switch result {
        case .success(let answer):
            var known = Set(before)
            let ids = before + answer.ids.filter { known.insert($0).inserted }
            // One that gives nothing new has come to its end.
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

    /// It is asked again after 5 seconds, and each time after twice as long, up to 5 minutes, or up to half of it earlier.
    private func fail(because reason: String) {
        problem = reason
        failures += 1
        changed()
        let expected = failures
        let pause = AskedPause.after(failures, at: question, first: domain.limits.askPause)
        domain.after(TimeAmount(pause)) { [weak self] in
            self?.domain.inSlices([{ self?.askLater(after: expected) }])
        }
    }

    private func askLater(after expected: Int) {
        if failures == expected, problem != nil, asking == nil { begin() }
    }
}

// MARK: On a screen

/// What screens that chose the same show of an answer: its first items, as they are by now.
final class AskedWindow {
    let question: AskedQuestion
    /// How many items at most.
    let limit: Int
    /// One of those who wanted to see it first.
    let user: String
    /// Who lets it advance.
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

    /// Brings it up to now; false: it shows what it did.
    func advance() -> Bool {
        guard version != question.version else { return live.advance() }
        (version, state) = (question.version, question.state)
        live = LiveItems(question.ids.prefix(limit), in: index)
        live.holder = holder
        return true
    }
}
