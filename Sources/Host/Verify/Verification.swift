import AtriumKit
import Logging
import NIOCore
import Store

/// One verification: the rows of the store, then what is shown of each component of some containers, one after
/// the other.
///
/// Used on the event loop; it goes on by itself until it is through, or nobody wants to know any more.
final class Verification {
    /// How often it is told how far it is.
    private static let interval = TimeAmount.milliseconds(200)

    /// Whether somebody wants to know.
    private(set) var isWanted = true
    private let domain: Domain
    /// Whether the store itself is looked at, too.
    private let isWhole: Bool
    private var containers: ArraySlice<String>
    private let find: (String) -> Container?
    private lazy var store = StoreCheck(
        of: isWhole ? nil : containers.first, in: domain,
        while: { [weak self] in self?.isWanted ?? false })
    private var slots: ArraySlice<Slot> = []
    private var news: VerificationNews
    private var report = VerificationReport()
    private var reply: Answer<VerificationNews>?
    /// Before this nothing is told but the end.
    private var due = NIODeadline.now()
    /// Why it could not go on.
    private var failure: HostError?
    private var isOver = false

    /// A verification of containers by their names; with `isWhole` of the store itself, too.
    init(
        _ containers: [String], isWhole: Bool, in domain: Domain,
        find: @escaping (String) -> Container?
    ) {
        self.containers = containers[...]
        self.isWhole = isWhole
        self.domain = domain
        self.find = find
        news = VerificationNews(container: "", component: "", records: 0, sequence: 0)
    }

    /// Begins.
    func run() {
        guard isWanted else { return }
        store.progress = { [weak self] place, records in
            guard let self else { return }
            (news.container, news.component) = (place.container, place.component)
            news.records = records
        }
        store.run { [self] error in
            guard let error else { return verifyNextContainer() }
            failure = error
            end(of: self.store)
        }
    }

    /// Nobody wants to know any more.
    func end() {
        isWanted = false
        reply = nil
        store.end()
    }

    /// Ends it with an error, which whoever waits for news gets.
    func end(because error: HostError) {
        let reply = reply
        end()
        reply?(.failure(error))
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

    /// It is through, or can't go on.
    private func end(of store: StoreCheck) {
        isOver = true
        store.end()
        (news.container, news.component) = ("", "")
        if reply != nil { tell() }
    }

    // MARK: Containers

    private func verifyNextContainer() {
        guard isWanted else { return }
        guard let name = containers.popFirst() else { return verifyStore() }
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
            let found = store.take(container.name, slot.name)
            note(outcome.damage(of: slot, in: container, found), of: slot)
            // Not at once: of thousands that are empty each would begin the next.
            domain.later { [self] in verifyNextComponent(of: container) }
        }
    }

    /// Takes down what was found, and has the component's status tell of it.
    private func note(_ damage: [Damage], of slot: Slot) {
        report.damage += damage
        slot.damage.note(VerifiedDamage(damage))
        slot.container?.structureChanged()
        log(damage)
    }

    /// What is left: records of components that are not there, and the store itself.
    private func verifyStore() {
        store.whenLooked { [self] in
            guard isWanted else { return }
            for (place, found) in store.rest {
                let kind = place.container.isEmpty ? "definitions" : "detached"
                report.checked.append(
                    VerifiedPart(
                        container: place.container, component: place.component, kind: kind,
                        records: found.records, skipped: nil))
                let damage = found.damage(in: place.container, place.component)
                report.damage += damage
                log(damage)
            }
            if isWhole {
                report.checked += store.parts
                report.damage += store.damage
                domain.verified = VerifiedDamage(store.damage)
                log(store.damage)
            }
            end(of: store)
        }
    }

    private func log(_ damage: [Damage]) {
        for one in damage {
            domain.logger.error(
                "the store is damaged, as it was verified",
                metadata: [
                    "container": "\(one.container)", "component": "\(one.component)",
                    "reason": "\(one.found). \(one.advice)",
                ])
        }
    }
}

/// The verification that goes on.
///
/// It reads all there is: one at a time.
final class VerificationTable {
    private var present: (id: VerificationID, verification: Verification)?
    /// Why the last one that was not left to its end could not go on.
    private var ended: (id: VerificationID, error: HostError)?
    private var last: UInt64 = 0

    var isEmpty: Bool { present == nil }

    /// Why a verification is not there any more.
    func reason(of id: VerificationID) -> HostError {
        if let ended, ended.id == id { return ended.error }
        return .storeUnavailable(reason: "The verification has ended.", retryAfter: 1)
    }

    /// Ends the one that goes on with an error, which its caller gets.
    func end(because error: HostError) {
        guard let (id, verification) = present else { return }
        present = nil
        ended = (id, error)
        verification.end(because: error)
    }

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
