import AtriumKit
import DequeModule
import Index
import Logging
import NIOCore

/// What a source was asked and has to answer, for a list on screens or a call.
final class Asking {
    /// What is to be found.
    let question: ContentQuestion
    /// Called with the answer, whose items are in the list by then, or with what went wrong.
    private(set) var done: ((Result<AskedAnswer, AskFailure>) -> Void)?
    /// How often the component's worker was lost while it was at this.
    var losses = 0
    /// Whether the component was asked.
    var isSent = false

    init(
        _ question: ContentQuestion, _ done: @escaping (Result<AskedAnswer, AskFailure>) -> Void
    ) {
        self.question = question
        self.done = done
    }

    /// Nobody wants the answer any more.
    func drop() { done = nil }

    /// It has come to an end.
    func end(_ result: Result<AskedAnswer, AskFailure>) {
        let done = done
        self.done = nil
        done?(result)
    }
}

/// An answer whose items are in the list.
struct AskedAnswer {
    var ids: [String]
    var total: Int?
    var next: String?
}

/// Why a source has no answer.
struct AskFailure: Error {
    /// A sentence for people.
    let reason: String
    /// What a call fails with.
    let error: HostError
    /// Whether it can't go on from where the question says.
    var isCursorInvalid: Bool { if case .cursorInvalid = error { true } else { false } }
}

/// A source that is asked, on the host's side: its questions, each for all who want the same, and which of the
/// items that it has answered are kept.
///
/// It outlives its component, as its list does: what was asked is asked again of the one made anew.
final class AskedSource {
    /// So many questions may be on their way to the component; others wait.
    static let mostOpen = 32

    private weak var slot: Slot?
    private let domain: Domain
    /// The open questions, whose answers screens show.
    private var questions: [ContentQuestion: WeakQuestion] = [:]
    /// What calls ask, by the question.
    private var calls: [ContentQuestion: [(Result<AskedAnswer, AskFailure>) -> Void]] = [:]
    private var waiting: Deque<Asking> = []
    private var open: [Int: Asking] = [:]
    private var last = 0
    private var isSending = false
    private var isToSend = false
    private var isMakingRoom = false
    private var kept = KeptItems()

    private struct WeakQuestion { weak var value: AskedQuestion? }

    init(of slot: Slot) { (self.slot, domain) = (slot, slot.domain) }

    /// The open question; a new one where nobody has asked it.
    func question(_ question: ContentQuestion) -> AskedQuestion {
        var key = question
        (key.limit, key.cursor) = (1, nil)
        if let known = questions[key]?.value { return known }
        let new = AskedQuestion(key, of: self, domain)
        questions[key] = WeakQuestion(value: new)
        return new
    }

    /// Nobody shows a question's answer any more.
    func forget(_ question: ContentQuestion) {
        if questions[question]?.value == nil { questions[question] = nil }
    }

    /// Asks for a call, which has to wait; equal ones share the answer.
    func call(
        _ question: ContentQuestion, _ done: @escaping (Result<AskedAnswer, AskFailure>) -> Void
    ) {
        calls[question, default: []].append(done)
        guard calls[question]?.count == 1 else { return }
        let asking = Asking(question) { [self] result in
            let waiting = calls.removeValue(forKey: question) ?? []
            domain.inSlices(waiting.map { done in { done(result) } })
        }
        ask(asking)
    }

    /// How many calls wait for an answer.
    var callCount: Int { calls.values.reduce(0) { $0 + $1.count } }

    /// Asks the component, once it can be asked.
    func ask(_ asking: Asking) {
        waiting.append(asking)
        domain.after(TimeAmount(domain.limits.answerTime)) { [weak self, weak asking] in
            guard let self, let asking else { return }
            // Thousands may be over at the same moment.
            domain.inSlices([{ self.overdue(asking) }])
        }
        guard !isToSend else { return }
        isToSend = true
        // Not at once: who asks is in the midst of showing what there is, and the answer may come at once.
        domain.later { [weak self] in
            self?.isToSend = false
            self?.send()
        }
    }

    private func overdue(_ asking: Asking) {
        guard open.contains(where: { $0.value === asking }) || asking.done != nil else { return }
        open = open.filter { $0.value !== asking }
        let reason = "It has not answered for \(domain.limits.answerTime)."
        asking.end(.failure(failure(reason)))
        send()
    }

    private func failure(_ reason: String) -> AskFailure {
        let error =
            slot?.unavailable(reason, retryAfter: 5)
            ?? .componentUnavailable(component: "", reason: reason, retryAfter: 5)
        return AskFailure(reason: reason, error: error)
    }

    /// Sends what may be sent now; what is answered at once makes room for more of it.
    func send() {
        guard !isSending, let slot else { return }
        isSending = true
        defer { isSending = false }
        let end = NIODeadline.now() + Domain.slice
        while slot.isAttached, let port = slot.port, open.count < Self.mostOpen,
            let next = waiting.popFirst()
        {
            // Nobody waits for it any more.
            guard next.done != nil else { continue }
            last += 1
            open[last] = next
            next.isSent = true
            port.ask(last, next.question)
            guard NIODeadline.now() >= end else { continue }
            return domain.afterPoll { [weak self] in self?.send() }
        }
    }
}

// MARK: Answers

extension AskedSource {
    /// The component answers; what nobody waits for any more is dropped.
    func answered(_ number: Int, _ result: Result<ContentAnswer, Refusal>) {
        guard let asking = open.removeValue(forKey: number), let slot else { return }
        slot.noteAnswer()
        send()
        guard asking.done != nil else { return }
        switch result {
        case .failure(let refusal):
            asking.end(
                .failure(
                    AskFailure(
                        reason: refusal.reason,
                        error: HostError(
                            refusal, container: slot.containerName, component: slot.name))))
        case .success(let answer):
            take(answer.items) {
                asking.end(
                    .success(
                        AskedAnswer(
                            ids: answer.items.map(\.id), total: answer.total, next: answer.next)))
            }
        }
    }

    /// Has answered items shown in the list, in slices.
    private func take(_ items: [Item], then done: @escaping () -> Void) {
        guard let slot else { return done() }
        kept.touch(items.lazy.map(\.id))
        var rest = items[...]
        domain.inSlices { [weak slot] in
            // Its list is another's where another one took its place.
            guard !rest.isEmpty, let slot, let container = slot.container,
                container.slot(slot.name) === slot
            else { return false }
            let piece = rest.prefix(64)
            rest = rest.dropFirst(64)
            let new = piece.filter { !(slot.list?.contains($0.id) ?? false) }
            let known = piece.filter { slot.list?.contains($0.id) ?? false }
            if !new.isEmpty { container.show(.insert(new), from: slot) }
            if !known.isEmpty { container.show(.update(known), from: slot) }
            return true
        } then: { [weak self] in
            done()
            self?.makeRoom()
        }
    }

    /// The component told by itself of items.
    func follow(_ change: ContentChange) {
        switch change {
        case .remove(let ids):
            let gone = Set(ids)
            for question in present { question.remove(gone) }
        default: makeRoom()
        }
    }

    /// Items of which an answer is shown are kept.
    func pin(_ ids: [String], insteadOf old: [String]) { kept.pin(ids, insteadOf: old) }

    /// Lets the items go that were shown longest ago, where there are too many; some more than that, so that it
    /// is seldom.
    private func makeRoom() {
        guard let list = slot?.list, !isMakingRoom,
            list.count > max(domain.limits.askedItems, kept.enough)
        else { return }
        isMakingRoom = true
        var row = 0
        var free: [(stamp: UInt64, id: String)] = []
        domain.inSlices { [self] in
            guard row < list.rowCount else { return false }
            let rows = row..<min(row + 128, list.rowCount)
            row = rows.upperBound
            for id in list.ids(inRows: rows) where !kept.isShown(id) {
                free.append((kept.stamp(of: id), id))
            }
            return true
        } then: { [self] in
            letGo(free.sorted { $0.stamp < $1.stamp }.map(\.id), from: list)
        }
    }

    private func letGo(_ free: [String], from list: ContentIndex) {
        let limit = domain.limits.askedItems
        var rest = free[...]
        domain.inSlices { [self] in
            guard list.count > limit - limit / 16, let container = slot?.container,
                let id = rest.popFirst()
            else { return false }
            // Somebody may show it by now.
            guard !kept.isShown(id), !container.isInUse(id) else { return true }
            kept.forget(id)
            list.remove([id])
            return true
        } then: { [self] in
            isMakingRoom = false
            // Where most are shown, not each answer is to look through them.
            kept.settle(at: list.count > limit ? list.count + limit / 16 : 0)
            slot?.container?.listsChanged()
        }
    }

    private var present: [AskedQuestion] { questions.values.compactMap(\.value) }
}

// MARK: The component comes and goes

extension AskedSource {
    /// All that screens show is asked for again.
    func askAgain() { domain.inSlices(present.map { question in { question.renew() } }) }

    /// Its component is lost: what it has not answered is asked again of the one made anew.
    func disconnect() {
        let lost = open.sorted { $0.key < $1.key }.map(\.value)
        open = [:]
        for asking in lost {
            asking.losses += 1
            asking.isSent = false
        }
        for asking in lost.reversed() where asking.losses < 2 { waiting.prepend(asking) }
        for asking in lost where asking.losses >= 2 {
            asking.end(.failure(failure("Its worker ended twice at this question.")))
        }
    }

    /// Its component can't be made, or is gone for good.
    func fail(because reason: String) {
        let failed = open.values + waiting
        open = [:]
        waiting = []
        let failure = failure(reason)
        domain.inSlices(failed.map { asking in { asking.end(.failure(failure)) } })
    }

    /// It is there again: what failed is asked again, too.
    func connect() {
        domain.inSlices(present.map { question in { question.lookAgain(isTyped: true) } })
        send()
    }
}
