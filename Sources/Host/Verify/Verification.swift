import AtriumKit
import Logging
import NIOCore
import Store

/// One verification: the store's rows, then what each component of some containers shows.
///
/// Used on the event loop; it runs until it is finished or no longer wanted.
final class Verification {
    /// The interval between two replies about progress.
    private static let interval = TimeAmount.milliseconds(200)

    /// Whether the verification is still wanted.
    private(set) var isWanted = true
    private let domain: Domain
    /// Whether the store itself is verified too.
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
    /// The earliest time of the next reply about progress.
    private var due = NIODeadline.now()
    /// The error that stopped it.
    private var failure: HostError?
    private var isOver = false

    /// Creates a verification of containers by name; `isWhole` includes the store itself.
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

    /// Starts the verification.
    func run() {
        guard isWanted else { return }
        store.progress = { [weak self] path, records in
            guard let self else { return }
            (news.container, news.component) = (path.container, path.component)
            news.records = records
        }
        store.run { [self] error in
            guard let error else { return verifyNextContainer() }
            failure = error
            end(of: self.store)
        }
    }

    /// Ends the verification, because it is no longer wanted.
    func end() {
        isWanted = false
        reply = nil
        store.end()
    }

    /// Ends the verification with an error, which is the reply to the waiting caller.
    func end(because error: HostError) {
        let reply = reply
        end()
        reply?(.failure(error))
    }

    /// Replies with the progress after an interval, or with the findings at the end.
    func pull(_ reply: @escaping Answer<VerificationNews>) {
        self.reply = reply
        if isOver { return answer() }
        let now = NIODeadline.now()
        due = max(due, now)
        domain.timers.after(due - now) { [self] in answer() }
    }

    private func answer() {
        guard let reply else { return }
        self.reply = nil
        due = .now() + Self.interval
        news.sequence = domain.commits.sequence
        if isOver { news.report = report }
        if let failure { reply(.failure(failure)) } else { reply(.success(news)) }
    }

    /// Ends the verification: it is finished, or can't continue.
    private func end(of store: StoreCheck) {
        isOver = true
        store.end()
        (news.container, news.component) = ("", "")
        if reply != nil { answer() }
    }

    // MARK: Containers

    private func verifyNextContainer() {
        guard isWanted else { return }
        guard let name = containers.popFirst() else { return verifyStore() }
        // A container that was removed meanwhile has nothing to compare with.
        guard let container = find(name) else { return verifyNextContainer() }
        container.loading.whenOver { [self] in
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
            record(outcome.damage(of: slot, in: container, found), of: slot)
            // Not at once: with thousands of empty components the calls would nest.
            domain.timers.later { [self] in verifyNextComponent(of: container) }
        }
    }

    /// Adds damage to the report, and to the component's status.
    private func record(_ damage: [Damage], of slot: Slot) {
        report.damage += damage
        slot.damage.record(VerifiedDamage(damage))
        slot.container?.structureChanged()
        log(damage)
    }

    /// Verifies what is left: records of detached components, and the store itself.
    private func verifyStore() {
        store.whenChecked { [self] in
            guard isWanted else { return }
            for (path, found) in store.rest {
                let kind = path.container.isEmpty ? "definitions" : "detached"
                report.checked.append(
                    VerifiedPart(
                        container: path.container, component: path.component, kind: kind,
                        records: found.records, skipped: nil))
                let damage = found.damage(in: path.container, path.component)
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
                "the verification found damage",
                metadata: [
                    "container": "\(one.container)", "component": "\(one.component)",
                    "reason": "\(one.found). \(one.advice)",
                ])
        }
    }
}
