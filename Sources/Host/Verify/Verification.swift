import AtriumKit
import Logging
import NIOCore
import Store

/// One verification: all components of some containers, one after the other, then the store itself.
///
/// Used on the event loop; it goes on by itself until it is through, or nobody wants to know any more.
final class Verification {
    /// How often it is told how far it is.
    private static let interval = TimeAmount.milliseconds(200)

    /// Whether somebody wants to know.
    private(set) var isWanted = true
    private let domain: Domain
    private var containers: ArraySlice<String>
    private let find: (String) -> Container?
    private var slots: ArraySlice<Slot> = []
    private var news: VerificationNews
    private var report = VerificationReport()
    private var reply: Answer<VerificationNews>?
    /// Before this nothing is told but the end.
    private var due = NIODeadline.now()
    /// Why it could not go on.
    private var failure: HostError?
    private var isOver = false

    /// A verification of containers by their names.
    init(_ containers: [String], in domain: Domain, find: @escaping (String) -> Container?) {
        self.containers = containers[...]
        self.domain = domain
        self.find = find
        news = VerificationNews(container: "", component: "", records: 0, sequence: 0)
    }

    /// Begins.
    func run() { verifyNextContainer() }

    /// Nobody wants to know any more.
    func end() {
        isWanted = false
        reply = nil
    }

    /// Replies with how far it is, after a while; with what was found once it is through.
    func pull(_ reply: @escaping Answer<VerificationNews>) {
        self.reply = reply
        if isOver { return tell() }
        let now = NIODeadline.now()
        due = max(due, now)
        domain.after(due - now) { [self] in tell() }
    }

    private func tell() {
        guard let reply else { return }
        self.reply = nil
        due = .now() + Self.interval
        news.sequence = domain.sequence
        if isOver { news.report = report }
        if let failure { reply(.failure(failure)) } else { reply(.success(news)) }
    }

    // MARK: Containers

    private func verifyNextContainer() {
        guard isWanted else { return }
        guard let name = containers.popFirst() else { return finish() }
        // One that is gone by now has nothing to be compared with.
        guard let container = find(name) else { return verifyNextContainer() }
        container.whenLoaded { [self] in
            slots = container.slots[...]
            verifyNextComponent(of: container)
        }
    }

    private func verifyNextComponent(of container: Container) {
        guard isWanted else { return }
        guard let slot = slots.popFirst() else { return verifyNextContainer() }
        guard let kind = slot.kind, kind != .filters else {
            return verifyNextComponent(of: container)
        }
        (news.container, news.component, news.records) = (container.name, slot.name, 0)
        ComponentCheck(CheckedSlot(slot, in: container, for: self)) { [self] in
            news.records += $0
        }.run { [self] outcome in
            report.checked.append(
                VerifiedPart(
                    container: container.name, component: slot.name, kind: kind.rawValue,
                    records: outcome.records, skipped: outcome.skipped))
            note(outcome.damage(of: slot, in: container), of: slot)
            // Not at once: of thousands that are empty each would begin the next.
            domain.later { [self] in verifyNextComponent(of: container) }
        }
    }

    /// Takes down what was found, and has the component's status tell of it.
    private func note(_ damage: [Damage], of slot: Slot) {
        report.damage += damage
        slot.verified = VerifiedDamage(damage)
        slot.container?.structureChanged()
        for one in damage {
            domain.logger.error(
                "a component is damaged, as it was verified",
                metadata: slot.logFields(["reason": "\(one.found). \(one.advice)"]))
        }
    }

    private func finish() {
        isOver = true
        (news.container, news.component) = ("", "")
        if reply != nil { tell() }
    }
}

extension ComponentCheck.Outcome {
    /// What is wrong, in sentences.
    fileprivate func damage(of slot: Slot, in container: Container) -> [Damage] {
        func damage(_ kind: Damage.Kind, _ found: FoundKeys, _ sentence: String, _ advice: String)
            -> Damage
        {
            Damage(
                container: container.name, component: slot.name, kind: kind, count: found.count,
                keys: found.keys.filter { !$0.isEmpty || kind == .shown && slot.kind == .votes },
                found: sentence, advice: advice)
        }
        var all: [Damage] = []
        if unreadable.count > 0 {
            all.append(
                damage(
                    .unreadable, unreadable,
                    unreadable.count == 1
                        ? "1 record can't be read" : "\(unreadable.count) records can't be read",
                    "Stop the daemon and put back a copy of the file, or write these anew"))
        }
        for (noun, found) in shown {
            let advice =
                unreadable.count > 0
                ? "Records are damaged, which may be all: restore a backup" : noun.advice
            all.append(damage(.shown, found, noun.sentence(found), advice))
        }
        return all
    }
}

extension ComponentCheck.Noun {
    fileprivate func sentence(_ found: FoundKeys) -> String {
        let count = found.count
        let subject =
            switch self {
            case .item: count == 1 ? "1 item differs" : "\(count) items differ"
            case .tally: count == 1 ? "1 tally differs" : "\(count) tallies differ"
            case .comment: count == 1 ? "1 comment differs" : "\(count) comments differ"
            case .count: count == 1 ? "1 thread differs" : "\(count) threads differ"
            case .order:
                count == 1 ? "1 field is wrongly indexed" : "\(count) fields are wrongly indexed"
            }
        return "\(subject) from what the store holds: \(found.example)"
    }

    fileprivate var advice: String {
        let restart = "Restart the daemon, which reads the store anew, and report this"
        guard self == .tally else { return restart }
        return "\(restart). If it stays, the plugin does not count all ballots: was its scale "
            + "another one when they were cast?"
    }
}

/// The verification that goes on.
///
/// It reads all there is: one at a time.
final class VerificationTable {
    private var present: (id: VerificationID, verification: Verification)?
    private var last: UInt64 = 0

    var isEmpty: Bool { present == nil }

    subscript(id: VerificationID) -> Verification? {
        present?.id == id ? present?.verification : nil
    }

    func add(_ verification: Verification) -> VerificationID {
        last += 1
        let id = VerificationID(number: last)
        present = (id, verification)
        return id
    }

    func end(_ id: VerificationID) {
        guard let verification = self[id] else { return }
        verification.end()
        present = nil
    }
}
