import AtriumKit
import DequeModule
import Index
import Logging
import NIOCore

/// The host's side of a source that is asked: its questions, each shared by all who ask the same, and the cache of
/// answered items.
///
/// It outlives its component, as its list does: questions without an answer are sent to the component's successor.
final class AskedSource {
    /// The maximum number of questions with the component that somebody waits for; further ones are queued.
    static let mostOpen = 32
    /// The maximum number of questions with the component, including those that nobody waits for any more.
    static let mostSent = 64
    /// The maximum number of open questions of one user while others wait.
    static let mostOfOne = 16

    private weak var slot: Slot?
    private let domain: Domain
    /// The questions whose answers screens show.
    private var questions: [ContentQuestion: WeakQuestion] = [:]
    /// The calls that wait for an answer, by question.
    private var calls: [ContentQuestion: [Call]] = [:]
    private let permits = WaitPermits()
    private var waiting: Deque<Asking> = []
    private var open: [Int: Asking] = [:]
    private var last = 0
    private var isSending = false
    private var isToSend = false
    /// The number of entries in `waiting` that were dropped since it was last cleaned up.
    private var dropped = 0
    private var taking: [ChangesMeanwhile] = []
    private var isMakingRoom = false
    private var kept = KeptItems()

    private struct WeakQuestion { weak var value: AskedQuestion? }

    /// A call that waits for an answer.
    private struct Call {
        let permit: WaitPermits.Permit
        let done: (Result<AskedAnswer, AskFailure>) -> Void
    }

    init(of slot: Slot) { (self.slot, domain) = (slot, slot.domain) }

    /// The question as screens share it; created if no screen shows it yet.
    func question(_ question: ContentQuestion) -> AskedQuestion {
        var key = question
        (key.limit, key.cursor) = (1, nil)
        if let known = questions[key]?.value { return known }
        let new = AskedQuestion(key, of: self, domain)
        questions[key] = WeakQuestion(value: new)
        return new
    }

    /// Removes a question whose answer no screen shows any more.
    func remove(_ question: ContentQuestion) {
        if questions[question]?.value == nil { questions[question] = nil }
    }

    /// Asks a question for a call; calls with the same question share its answer.
    ///
    /// Fails if too many calls of the user are waiting already.
    func call(
        _ question: ContentQuestion, for user: String,
        _ done: @escaping (Result<AskedAnswer, AskFailure>) -> Void
    ) {
        let permit: WaitPermits.Permit
        do throws(WaitPermits.Full) {
            permit = try permits.acquire(for: user, of: domain.limits.waitingCalls)
        } catch {
            return done(.failure(failure(error.reason, retryAfter: 1)))
        }
        calls[question, default: []].append(Call(permit: permit, done: done))
        guard calls[question]?.count == 1 else { return }
        let asking = Asking(question, for: user) { [self] result in
            let waiting = calls.removeValue(forKey: question) ?? []
            domain.slices.run(waiting.map { call in { call.done(result) } })
        }
        ask(asking)
    }

    /// Queues a question, and sends it when the component can take it.
    func ask(_ asking: Asking) {
        if let obstacle {
            return domain.timers.later { [self] in asking.end(.failure(failure(obstacle))) }
        }
        waiting.append(asking)
        domain.timers.after(TimeAmount(domain.limits.answerTime)) { [weak self, weak asking] in
            guard let self, let asking, !asking.isSent, asking.isWanted else { return }
            // In slices: thousands may time out at the same moment.
            domain.slices.run([{ self.end(asking) }])
        }
        sendLater()
    }

    /// Why the component can't be asked, now or soon; nil if it can, or is worth waiting for.
    private var obstacle: String? {
        guard let slot else { return "It was detached." }
        switch slot.state {
        case .closed: return "It was detached."
        case .starting, .prepared, .attached:
            return slot.start.watch.stall.map { _ in slot.absence.plainSentence }
        case .failed: return slot.absence.plainSentence
        }
    }

    /// Gives up a question that nobody waits for any more, which makes room for another.
    func drop(_ asking: Asking) {
        asking.drop()
        dropped += 1
        if dropped * 2 > waiting.count {
            waiting.removeAll { !$0.isWanted }
            dropped = 0
        }
        sendLater()
    }

    /// Sends later: the caller is still computing what to show, and the component may answer synchronously.
    private func sendLater() {
        guard !isToSend else { return }
        isToSend = true
        domain.timers.later { [weak self] in
            self?.isToSend = false
            self?.send()
        }
    }

    /// Ends a question whose component took too long.
    ///
    /// If the component has the question, it keeps a permit for nine times as long again.
    private func timeOut(_ asking: Asking, _ number: Int) {
        if open[number] === asking {
            domain.timers.after(TimeAmount(domain.limits.answerTime * 9)) { [weak self] in
                guard let self, open.removeValue(forKey: number) != nil else { return }
                sendLater()
            }
        }
        end(asking)
    }

    private func end(_ asking: Asking) {
        guard asking.isWanted else { return }
        let time = domain.limits.answerTime
        let reason =
            if asking.isSent {
                "It has not answered for \(time)."
            } else if slot?.isAttached ?? false {
                "It could not be asked for \(time): it has too many other questions to answer."
            } else {
                "It has been starting for \(time)."
            }
        asking.end(.failure(failure(reason)))
        sendLater()
    }

    private func failure(_ reason: String, retryAfter: Double = 5) -> AskFailure {
        let error =
            slot?.unavailable(reason, retryAfter: retryAfter)
            ?? .componentUnavailable(component: "", reason: reason, retryAfter: retryAfter)
        return AskFailure(reason: reason, error: error)
    }

    /// Takes the next question that the component may be asked, oldest first.
    ///
    /// Users with many open questions come later while others wait.
    private func next() -> Asking? {
        while let first = waiting.first, !first.isWanted { waiting.removeFirst() }
        guard let first = waiting.first else { return nil }
        let wanted = open.values.filter(\.isWanted)
        if first.isSuspect { return wanted.isEmpty ? waiting.removeFirst() : nil }
        guard wanted.count < Self.mostOpen, open.count < Self.mostSent,
            !wanted.contains(where: \.isSuspect)
        else { return nil }
        var counts: [String: Int] = [:]
        for asking in wanted { counts[asking.user, default: 0] += 1 }
        let place = waiting.firstIndex { asking in
            asking.isWanted && counts[asking.user, default: 0] < Self.mostOfOne
        }
        return waiting.remove(at: place ?? 0)
    }

    /// Sends questions while there is room; those that are answered at once make room for more.
    func send() {
        guard !isSending, let slot else { return }
        isSending = true
        defer { isSending = false }
        let end = NIODeadline.now() + Slices.length
        while slot.isAttached, let port = slot.port, let next = next() {
            last += 1
            let number = last
            open[number] = next
            next.isSent = true
            domain.timers.after(TimeAmount(domain.limits.answerTime)) { [weak self, weak next] in
                guard let self, let next else { return }
                domain.slices.run([{ self.timeOut(next, number) }])
            }
            port.ask(number, next.question)
            guard NIODeadline.now() >= end else { continue }
            return domain.timers.afterPoll { [weak self] in self?.send() }
        }
    }
}

// MARK: Answers

extension AskedSource {
    /// Handles the component's answer; one that nobody waits for any more is dropped.
    func answered(_ number: Int, _ result: Result<ContentAnswer, Refusal>) {
        guard let asking = open.removeValue(forKey: number), let slot else { return }
        slot.failures.recordReply()
        send()
        guard asking.isWanted else { return }
        switch result {
        case .failure(let refusal):
            asking.end(
                .failure(
                    AskFailure(
                        reason: refusal.reason,
                        error: HostError(
                            refusal, container: slot.containerName, component: slot.name))))
        case .success(let answer): insert(answer, of: slot) { asking.end(.success($0)) }
        }
    }

    /// Checks the answered items and puts them into the list, in slices.
    private func insert(
        _ answer: ContentAnswer, of slot: Slot, then done: @escaping (AskedAnswer) -> Void
    ) {
        let ids = answer.items.map(\.id)
        let pin = AnswerPin(ids, of: self)
        let changes = ChangesMeanwhile()
        taking.append(changes)
        var rest = answer.items[...]
        var unfit = UnfitAnswer()
        let checker = FieldChecker(fields: slot.fields)
        domain.slices.run { [self, weak slot] in
            // If another slot took its place, the list belongs to that one.
            guard !rest.isEmpty, let slot, let container = slot.container,
                container.slot(slot.name) === slot
            else { return false }
            let piece = unfit.fitting(
                rest.prefix(64).compactMap { changes.current($0) }, checker)
            rest = rest.dropFirst(64)
            let new = piece.filter { !(slot.list?.contains($0.id) ?? false) }
            let known = piece.filter { slot.list?.contains($0.id) ?? false }
            if !new.isEmpty { container.show(.insert(new), from: slot) }
            if !known.isEmpty { container.show(.update(known), from: slot) }
            kept.touch(piece.lazy.filter { slot.list?.contains($0.id) ?? false })
            return true
        } then: { [self, weak slot] in
            taking.removeAll { $0 === changes }
            if let problem = unfit.problem {
                domain.logger.warning("\(problem)", metadata: slot?.logFields() ?? [:])
            }
            done(
                AskedAnswer(
                    ids: ids.filter { !changes.isGone($0) && !unfit.ids.contains($0) },
                    total: answer.total, next: answer.next, pin: pin))
            evictOldest()
        }
    }

    /// Handles a change that the component reported without being asked.
    func follow(_ change: ContentChange) {
        for changes in taking { changes.record(change) }
        switch change {
        case .remove(let ids):
            let gone = Set(ids)
            for id in ids { kept.remove(id) }
            for question in present { question.remove(gone) }
            slot?.container?.itemsRemoved(gone)
        case .insert(let items), .update(let items):
            for item in items where slot?.list?.contains(item.id) ?? false { kept.measure(item) }
            evictOldest()
        default: evictOldest()
        }
    }

    /// Pins the items of the answer that is shown now, in place of those of the one before.
    func pin(_ ids: [String], insteadOf old: [String]) {
        kept.pin(ids)
        if kept.unpin(old) { kept.setEvictionSize(at: 0, bytes: 0) }
    }

    /// Pins the items of an answer until it is shown or read.
    func pin(_ ids: [String]) { kept.pin(ids) }

    /// Unpins the items of an answer that was shown, read or given up.
    func unpin(_ ids: [String]) { kept.unpin(ids) }

    /// Evicts the items that were shown longest ago if there are too many; some more than necessary, so that this is
    /// rare.
    private func evictOldest() {
        guard let list = slot?.list, !isMakingRoom,
            list.count > max(domain.limits.askedItems, kept.enough.items)
                || kept.bytes > max(domain.limits.askedBytes, kept.enough.bytes)
        else { return }
        isMakingRoom = true
        var row = 0
        var free: [(stamp: UInt64, id: String)] = []
        domain.slices.run { [self] in
            guard row < list.rowCount else { return false }
            let rows = row..<min(row + 128, list.rowCount)
            row = rows.upperBound
            for id in list.ids(inRows: rows) where !kept.isShown(id) {
                free.append((kept.stamp(of: id), id))
            }
            return true
        } then: { [self] in
            evict(free.sorted { $0.stamp < $1.stamp }.map(\.id), from: list)
        }
    }

    private func evict(_ free: [String], from list: ContentIndex) {
        let (limit, bytes) = (domain.limits.askedItems, domain.limits.askedBytes)
        var rest = free[...]
        domain.slices.run { [self] in
            guard list.count > limit - limit / 16 || kept.bytes > bytes - bytes / 16,
                let container = slot?.container,
                let id = rest.popFirst()
            else { return false }
            // A screen may show it by now.
            guard !kept.isShown(id), !container.isInUse(id) else { return true }
            kept.remove(id)
            list.remove([id])
            return true
        } then: { [self] in
            isMakingRoom = false
            // If most items are shown, this keeps every further answer from searching all of them again.
            kept.setEvictionSize(
                at: list.count > limit ? list.count + limit / 16 : 0,
                bytes: kept.bytes > bytes ? kept.bytes + bytes / 16 : 0)
            slot?.container?.listsChanged()
        }
    }

    private var present: [AskedQuestion] { questions.values.compactMap(\.value) }
}

// MARK: The component comes and goes

extension AskedSource {
    /// Asks again for everything that screens show.
    func askAgain() { domain.slices.run(present.map { question in { question.renew() } }) }

    /// Queues the questions again that the component left unanswered, for its successor.
    ///
    /// - Parameter isLost: whether its worker ended. Then the questions are sent one at a time; one that ends the
    ///   worker again when sent alone fails.
    func disconnect(isLost: Bool) {
        let ended = open.sorted { $0.key < $1.key }.map(\.value).filter(\.isWanted)
        let isAlone = open.count == 1
        open = [:]
        for asking in ended { asking.isSent = false }
        let failed = ended.filter { isLost && isAlone && $0.isSuspect }
        for asking in ended.reversed() where failed.isEmpty {
            if isLost { asking.isSuspect = true }
            waiting.prepend(asking)
        }
        for asking in failed {
            asking.end(.failure(failure("Its worker ended twice at this question.")))
        }
    }

    /// Fails all questions: the component can't be made, or is gone for good.
    func fail(because reason: String) {
        let failed = open.values + waiting
        open = [:]
        waiting = []
        let failure = failure(reason)
        domain.slices.run(failed.map { asking in { asking.end(.failure(failure)) } })
    }

    /// Sends what waits, and asks failed questions again, because the component is attached again.
    func connect() {
        domain.slices.run(present.map { question in { question.retry(isTyped: true) } })
        send()
    }
}
