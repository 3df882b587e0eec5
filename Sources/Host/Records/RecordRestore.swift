import AtriumKit
import Index
import JSONCodec
import Store

/// Restores records to the components of a container, with one entry.
///
/// The gates of the components concerned are closed before the records are compared with the store, and opened when
/// the entry's outcome is known. Each component in turn applies its own records before they are committed. The last
/// component's operation carries the entry, with the changes of all. If the restore ends earlier, for any reason,
/// each component gets back the records that the store holds.
final class RecordRestore {
    /// A component and the changes that it should apply.
    private struct Target {
        var slot: Slot
        var changes: [Change]
        /// The store's present records under the same keys.
        var before: [Change]
        /// The component's start at which it applied the changes.
        var start = 0
        var events: [ComponentEvent] = []
        /// The domain's number when the component had decided.
        var decidedAt: UInt64?
    }

    /// A record that differs from the one to restore.
    private struct Difference: Sendable {
        var component: String
        var change: Change
        var before: Change
    }

    private let container: Container
    private let context: CommandContext
    private let changes: [(component: String, change: Change)]
    private let people: [ActorID]
    /// The components concerned, contents first.
    private let components: [String]
    private let records: [RecordView]
    /// The fields that the records were checked against.
    private let fields: [Field]
    private let reply: Answer<RestoreResult>
    private var targets: [Target] = []

    private var domain: Domain { container.domain }

    /// Reads the records; throws the error if they don't fit the container.
    init(
        _ records: [RecordView], to container: Container, by caller: Caller,
        _ reply: @escaping Answer<RestoreResult>
    ) throws(HostError) {
        let drafts = try Self.read(records, of: container)
        self.container = container
        self.records = records
        fields = container.definition.fields
        self.reply = reply
        let actors = container.domain.actors
        people =
            (Set(drafts.flatMap { [$0.actor, $0.moderator].compactMap(\.self) })
            .union([caller.actor])).map { actors.admit($0) }
        context = CommandContext(of: caller, in: container.domain)
        changes = drafts.map { ($0.component, $0.change(actors)) }
        let named = Set(drafts.map(\.component))
        components = container.recordSources.map(\.component).filter(named.contains)
    }

    private static func read(
        _ records: [RecordView], of container: Container
    ) throws(HostError) -> [RecordDraft] {
        let kinds = container.slots.compactMap { slot in slot.kind.map { (slot.name, $0) } }
        return try RecordReader(
            kinds: Dictionary(kinds) { first, _ in first }, container: container.name,
            checker: container.checker
        ).read(records)
    }

    /// Puts the records back, and replies.
    func run() {
        container.gates.close(components) { [self] in
            do throws(HostError) {
                // The fields may have changed since the call.
                if container.definition.fields != fields {
                    _ = try Self.read(records, of: container)
                }
                // The records already refer to actors by number.
                if people.contains(where: { domain.actors.present($0) == nil }) {
                    throw .refused(
                        reason: "A person whose records these are was erased meanwhile.",
                        retryAfter: 1)
                }
                compare()
            } catch {
                finish(.failure(error))
            }
        } orElse: { [self] error in
            answer(.failure(error))
        }
    }

    private func finish(_ result: Result<RestoreResult, HostError>) {
        if case .failure = result { undo() }
        answer(result)
        container.gates.open(components)
    }

    private func answer(_ result: Result<RestoreResult, HostError>) {
        for person in people { domain.actors.release(person) }
        reply(result)
    }
}

// MARK: Comparing

extension RecordRestore {
    /// Finds the records that differ from those to restore.
    private func compare() {
        let (name, changes) = (container.name, changes)
        let keys = changes.map {
            RecordKey(container: name, component: $0.component, key: $0.change.key)
        }
        domain.read { store in
            // A damaged record counts as missing, so it is written again.
            var damaged: [RecordKey] = []
            let records = try store.records(keys, damaged: &damaged)
            return zip(changes, records).compactMap { new, stored -> Difference? in
                let value = stored.flatMap { try? Value(jsonBytes: $0.value) }
                if let value, let put = new.change.value, value.isSame(as: put) { return nil }
                let key = new.change.key
                return Difference(
                    component: new.component, change: new.change,
                    before: value.map { .put(key: key, value: $0) } ?? .removed(key: key))
            }
        } then: { [self] result in
            switch result {
            case .failure(let error): finish(.failure(.unreadable(error)))
            case .success(let differences): begin(differences)
            }
        }
    }

    private func begin(_ differences: [Difference]) {
        guard !differences.isEmpty else {
            return finish(.success(done(0, domain.commits.sequence)))
        }
        let byComponent = Dictionary(grouping: differences, by: \.component)
        for component in components {
            guard let differences = byComponent[component] else { continue }
            guard let slot = container.slot(component) else {
                // The component was detached while the restore waited.
                return finish(
                    .failure(
                        .componentNotFound(container: container.name, component: component)))
            }
            targets.append(
                Target(
                    slot: slot, changes: differences.map(\.change),
                    before: differences.map(\.before)))
        }
        decide(0)
    }

    private func done(_ restored: Int, _ sequence: Int64) -> RestoreResult {
        RestoreResult(
            restored: restored, unchanged: changes.count - restored, sequence: sequence)
    }
}

// MARK: Applying and writing

extension RecordRestore {
    /// Makes a component apply its records, then continues with the next one.
    private func decide(_ index: Int) {
        let slot = targets[index].slot
        guard slot.isAttached else { return finish(.failure(slot.absence)) }
        let isLast = index == targets.count - 1
        let command = RestoreCommand(targets[index].changes, to: slot, of: container, context) {
            [self] decision in
            isLast ? entry(decision) : nil
        } atCommit: { [self] in
            show()
        } done: { [self] result in
            switch result {
            case .failure(let error): finish(.failure(error))
            case .success(let decided) where isLast: finish(decided)
            case .success(let decided):
                targets[index].events = decided.decision.events
                targets[index].decidedAt = domain.lastTicket
                targets[index].start = slot.start.attempt
                decide(index + 1)
            }
        }
        command.queue()
    }

    /// The entry with the changes of all components; nil if a component was lost after it had applied its records.
    private func entry(_ decision: Decision) -> EntryDraft? {
        guard lost == nil, !decision.changes.isEmpty else { return nil }
        let (name, others) = (container.name, targets.dropLast())
        let count = targets.reduce(0) { $0 + $1.changes.count }
        return EntryDraft(
            topic: .recordsRestored,
            payload: Payload.object {
                $0.member("component", targets.count == 1 ? targets.first?.slot.name : nil)
                $0.member("count", count)
            },
            others: others.flatMap { target in
                target.changes.map { RecordChange($0, name, target.slot.name) }
            },
            people: people)
    }

    /// Runs when the entry is committed: shows what all components except the last one applied.
    private func show() {
        for person in people { domain.actors.stored(person) }
        for target in targets.dropLast() {
            container.delivery.deliver(
                target.events, from: target.slot, reportedAt: target.decidedAt)
        }
    }

    private func finish(_ decided: Decided) {
        guard decided.isCommitted else {
            let slot = lost ?? targets[targets.count - 1].slot
            return finish(.failure(slot.absence))
        }
        let restored = targets.reduce(0) { $0 + $1.changes.count }
        finish(.success(done(restored, decided.sequence)))
    }

    /// A component that was lost after it had applied its records.
    private var lost: Slot? {
        targets.dropLast().first { !$0.slot.isAttached || $0.slot.start.attempt != $0.start }?.slot
    }

    /// Gives all components back the records that the store holds.
    ///
    /// A component that is starting reads the store anyway.
    private func undo() {
        for target in targets where target.slot.isAttached { target.slot.port?.undo(target.before) }
    }
}
