import AtriumKit
import Index
import Store

/// The result of a change of a container's structure.
struct StructuralChange {
    /// The definition after the change.
    var live: ContainerDefinition
    /// The definition that counts as applied after the change.
    var applied: ContainerDefinition?
    /// The detached components with records after the change.
    var remains: [String: Remains]
    /// Components whose records are erased.
    var erased: [String] = []
    /// The topic of the change's notification; nil: it has none.
    var topic: EntryTopic?
    var payload: [UInt8] = []
    var actor: ActorID?
}

/// One change of a container's structure, from its plan to its commit.
///
/// Whatever can fail is done before the commit, while the container runs: new components are made and loaded, and
/// their items are checked against the fields. Components that are replaced or removed keep running until then, but
/// their gates are closed, so that no decision of theirs is missed. At the commit the new components take their
/// places. If there is no commit, the new components are dropped, and nothing has changed.
///
/// A new component whose start is stalled is not waited for, and is attached when it is ready. If it would replace
/// another one, the change fails instead, and the other one stays.
final class Restructuring {
    private let container: Container
    private let change: StructuralChange
    private let keepsContainer: Bool
    private let remade: Set<String>
    private var kept: [String: Slot] = [:]
    /// Those of `kept` whose components go on with other settings.
    private var changed: [Slot] = []
    private var made: [Slot] = []
    private var gated: [String] = []
    private let delegates: Delegates
    /// The new components that are not waited for.
    private(set) var late: Set<String> = []
    /// Failures of their starts before the commit.
    private var lateFailures: [String: StartFailure] = [:]
    private var isCommitted = false

    private var domain: Domain { container.domain }

    /// Plans a change; the container's definition is erased if it does not stay, and `remade` components are made
    /// anew although their definitions are the same.
    init(
        of container: Container, to change: StructuralChange, keepsContainer: Bool = true,
        remaking remade: Set<String> = []
    ) {
        self.container = container
        self.remade = remade
        self.change = change
        self.keepsContainer = keepsContainer
        delegates = Delegates(
            for: change.live, keeping: container.delegates, in: container.domain)
    }

    /// Does everything that comes before the commit, then drops it; returns the ids of the sections of filters that
    /// the container would have, if they are asked for and known.
    func dryRun(asksSections: Bool = false, _ done: @escaping Answer<[String]?>) {
        prepare { [self] result in
            let end = { [self] (result: Result<[String]?, HostError>) in
                abandon()
                done(result)
            }
            if case .success = result, isTooLong { return end(.failure(tooLong)) }
            guard case .success = result, asksSections else { return end(result.map { nil }) }
            let filters = change.live.components.compactMap { definition in
                kept[definition.name] ?? made.first { $0.name == definition.name }
            }.filter { $0.kind == .filters }
            sections(of: filters[...], []) { end(.success($0)) }
        }
    }

    /// Makes the change; `atCommit` is called before anything else, `done` with the sequence once the new components
    /// are attached.
    func run(atCommit: @escaping () -> Void = {}, _ done: @escaping Answer<Int64>) {
        prepare { [self] result in
            if case .failure(let error) = result {
                abandon()
                return done(.failure(error))
            }
            write(atCommit, done)
        }
    }
}

// MARK: Before the commit

extension Restructuring {
    private func prepare(_ done: @escaping Answer<Void>) {
        if let error = delegates.objection(since: container.delegates) {
            return done(.failure(error))
        }
        // Another delegate may show other items, so all components have to report theirs again.
        let isRewired = delegates.hasOtherOwn(than: container.delegates)
        let fieldsChange = !change.live.fields.isSame(as: container.definition.fields)
        for definition in change.live.components where !definition.isPart {
            let old = container.slot(definition.name)
            if let old, !fieldsChange, !isRewired, !remade.contains(definition.name),
                old.definition.makesSame(as: definition)
            {
                kept[definition.name] = old
            } else {
                made.append(
                    Slot(
                        definition, kind: old?.kind, of: container, fields: change.live.fields))
            }
        }
        if let error = kindConflict { return done(.failure(error)) }
        gated = container.slots.map(\.name).filter { kept[$0] == nil }
        let goesOn = !fieldsChange && !isRewired
        container.gates.close(gated, needsEmptyLane: !keepsContainer) { [self] in
            keepCompatible(among: goesOn ? made.filter { !remade.contains($0.name) } : []) {
                [self] in
                make { [self] error in
                    if let error { return done(.failure(error)) }
                    checkFitness(done)
                }
            }
        } orElse: { [self] error in
            // They are open again.
            gated.removeAll()
            done(.failure(error))
        }
    }

    /// Finds out which sections filters components have, the new ones among them.
    private func sections(
        of slots: ArraySlice<Slot>, _ known: [String], _ done: @escaping ([String]?) -> Void
    ) {
        guard let slot = slots.first else { return done(known) }
        let found = { [self] (sections: [String]?) in
            guard let sections else { return done(nil) }
            self.sections(of: slots.dropFirst(), known + sections, done)
        }
        if kept[slot.name] === slot {
            // With settings to come it may have others.
            guard slot.isAttached, !changed.contains(where: { $0 === slot }) else {
                return found(nil)
            }
            return container.filters.sectionIDs(of: slot, found)
        }
        guard slot.isPrepared, let port = slot.port else { return found(nil) }
        port.answer(.sections) { answer in
            guard case .success(.sections(let sections)) = answer, !sections.isEmpty else {
                return found(port.observedFields.isEmpty && answer.failure == nil ? [] : nil)
            }
            found(sections.map(\.id))
        }
    }

    /// Keeps the components that can go on with the settings of new slots of their names, one after the other.
    private func keepCompatible(among new: [Slot], then done: @escaping () -> Void) {
        guard let slot = new.first else { return done() }
        let keepOthers = { [self] in keepCompatible(among: Array(new.dropFirst()), then: done) }
        guard let old = container.slot(slot.name) else { return keepOthers() }
        old.settingsChange.canTake(slot.definition) { [self] canTake in
            if canTake {
                slot.close()
                made.removeAll { $0 === slot }
                kept[slot.name] = old
                changed.append(old)
            }
            keepOthers()
        }
    }

    /// The error if a component would get the records of one of another kind; nil otherwise.
    private var kindConflict: HostError? {
        for slot in made {
            let before =
                container.slot(slot.name)?.kind ?? container.remains[slot.name].flatMap(\.kind)
            guard let before, let kind = slot.kind, before != kind,
                !change.erased.contains(slot.name)
            else { continue }
            return .definitionInvalid(
                container: container.name,
                reason:
                    "The component '\(slot.name)' has records of the kind '\(before.rawValue)', "
                    + "and \(slot.definition.plugin) makes '\(kind.rawValue)': give it another "
                    + "name, or erase the records first by detaching it with purge.")
        }
        return nil
    }

    /// Makes and loads the new components in parallel, until one fails.
    private func make(_ done: @escaping (HostError?) -> Void) {
        var outstanding = made.count
        guard outstanding > 0 else { return done(nil) }
        var isOver = false
        func end(_ error: HostError?) {
            guard !isOver else { return }
            isOver = true
            for slot in made { slot.start.watch.onStall(nil) }
            done(error)
        }
        func endOne() {
            outstanding -= 1
            if outstanding == 0 { end(nil) }
        }
        for slot in made where !isOver {
            slot.start.watch.onStall { [self] in
                guard container.slot(slot.name) == nil else { return end(slot.absence) }
                late.insert(slot.name)
                endOne()
            }
            slot.start.prepare { [self] failure in
                if late.contains(slot.name) { return endLate(slot, failure) }
                switch failure {
                case nil: endOne()
                case .final(let error): end(error)
                case .passing(let reason): end(slot.unavailable(reason))
                }
            }
        }
    }

    /// Handles the end of a start that was not waited for.
    private func endLate(_ slot: Slot, _ failure: StartFailure?) {
        if isCommitted { return slot.start.finish(after: failure) {} }
        // A component that is loaded by then is attached with the others.
        lateFailures[slot.name] = failure
    }

    /// Checks that the present items fit the new fields.
    private func checkFitness(_ done: @escaping Answer<Void>) {
        guard change.live.fields != container.definition.fields else { return done(.success(())) }
        let checker = FieldChecker(fields: change.live.fields)
        var lists = made.compactMap { slot -> ItemList? in
            if case .prepared(let loaded) = slot.state { loaded.list } else { nil }
        }
        var unfit: [FieldProblem] = []
        var next = 0
        domain.slices.run {
            guard unfit.count < 10, let list = lists.first else { return false }
            guard next < list.count else {
                lists.removeFirst()
                next = 0
                return true
            }
            if let problem = list.item(next).flatMap(checker.check),
                problem.field == unfit.first?.field ?? problem.field
            {
                unfit.append(problem)
            }
            next += 1
            return true
        } then: { [container] in
            guard let first = unfit.first else { return done(.success(())) }
            done(
                .failure(
                    .itemsUnfit(
                        container: container.name, field: first.field,
                        reason: "Expected \(first.expected), found \(first.found).",
                        items: unfit.map(\.item))))
        }
    }

    private func abandon() {
        for slot in made { slot.close() }
        made.removeAll()
        container.gates.open(gated)
        gated.removeAll()
    }
}

// MARK: The commit

extension Restructuring {
    private func write(_ atCommit: @escaping () -> Void, _ done: @escaping Answer<Int64>) {
        let record = RecordChange(
            container: "", component: "", key: container.name, value: nil)
        let time = domain.now()
        container.lane.append(
            changes: [keepsContainer ? self.record.change : record],
            purges: change.erased.map { Purge(container: container.name, component: $0) },
            topic: change.topic?.name(in: container.name), payload: change.payload,
            by: change.actor, at: time
        ) { [self] result in
            switch result {
            case .success(let commit):
                atCommit()
                commitStructure(commit, at: time, done)
            case .failure(.limitExceeded("entryBytes", _, _)):
                abandon()
                done(.failure(tooLong))
            case .failure(let error):
                abandon()
                done(.failure(error))
            }
        }
    }

    /// Whether the store would refuse the entry for its size, as far as the definition makes it large.
    private var isTooLong: Bool {
        (record.change.value?.count ?? 0) + change.payload.count > Entry.mostBytes
    }

    /// The error for a definition that takes more bytes than an entry may: it names the setting that is to be shorter.
    private var tooLong: HostError {
        let limit =
            "the store keeps the definition as it is and as it was applied, in at most "
            + "\(Entry.mostBytes) bytes: make "
        let settings = change.live.components.flatMap { component in
            component.settings.map { name, value in
                (component: component.name, name: name, size: value.roughSize)
            }
        }
        // Of many short ones none is the reason.
        guard let (component, name, size) = settings.max(by: { $0.size < $1.size }),
            size > Entry.mostBytes / 8
        else {
            return .definitionInvalid(
                container: container.name,
                reason: "The definition is too long; " + limit + "its settings and texts shorter.")
        }
        return .settingInvalid(
            component: component, setting: name,
            reason: "it has \(size) bytes, and " + limit + "it shorter")
    }

    private var record: DefinitionRecord {
        let slots = kept.values + made
        let kinds = slots.compactMap { slot in slot.kind.map { (slot.name, $0) } }
        return DefinitionRecord(
            live: change.live, applied: change.applied,
            kinds: Dictionary(kinds) { first, _ in first }, remains: change.remains)
    }

    private func commitStructure(
        _ commit: Commit, at time: Timestamp, _ done: @escaping Answer<Int64>
    ) {
        isCommitted = true
        let hadParts = !container.parts.isEmpty
        let leaving = container.slots.filter { kept[$0.name] !== $0 }
        let made = made
        for slot in leaving { slot.leave() }
        let slots = change.live.components.compactMap { definition in
            kept[definition.name] ?? made.first { $0.name == definition.name }
        }
        container.setDefinition(
            change.live, applied: change.applied, remains: change.remains, slots)
        for old in leaving { replace(old) }
        for slot in changed { slot.settingsChange.send() }
        container.adopt(delegates)
        container.derived.follow()
        container.structureChanged()
        domain.bus.readabilityChanged()
        container.delivery.announce(
            change.topic?.name(in: container.name), commit, time: time, actor: change.actor,
            payload: change.payload)
        container.screens?.scopesChanged()
        container.startsChanged()
        attach(made.filter { !late.contains($0.name) || $0.isPrepared }[...]) { [self] in
            waitForSettings(changed[...]) { [self] in
                container.gates.open(gated)
                container.screens?.partsChanged(hadParts: hadParts)
                // A caller that has the sequence must not read older state.
                container.derived.whenShown { done(.success(commit.sequence)) }
            }
        }
        for slot in made {
            if let failure = lateFailures[slot.name] { slot.start.finish(after: failure) {} }
        }
    }

    /// Replaces a slot by the new one of its name, which takes over waiting requests and what is shown.
    ///
    /// If there is no new one, waiting requests are refused.
    private func replace(_ old: Slot) {
        old.kept.drop(unlessFor: container.slot(old.name)?.definition)
        guard let new = container.slot(old.name) else {
            return old.requests.refuseAll(
                of: old, .componentNotFound(container: container.name, component: old.name))
        }
        new.replace(old, showsLoaded: delegates.isDefault)
    }

    /// Calls back once all of these components have their new settings.
    private func waitForSettings(_ slots: ArraySlice<Slot>, _ done: @escaping () -> Void) {
        guard let slot = slots.first else { return done() }
        slot.settingsChange.whenOver { [self] in waitForSettings(slots.dropFirst(), done) }
    }

    private func attach(_ slots: ArraySlice<Slot>, _ done: @escaping () -> Void) {
        guard let slot = slots.first else { return done() }
        container.attach(slot) { [self] in attach(slots.dropFirst(), done) }
    }
}

extension ComponentDefinition {
    /// Whether a component made from one definition is the same as one made from the other.
    func makesSame(as other: ComponentDefinition) -> Bool {
        hasSameRuntime(as: other) && hasSameSettings(as: other)
    }
}
