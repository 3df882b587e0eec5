import Store

/// Changes which containers there are, and of what components they consist.
///
/// Changes of one container are made one after another, in the order of the calls.
public final class StructureChanges {
    /// A name in the queue that is no container's.
    ///
    /// Every change that nests containers or deletes one queues for it too, so that such changes are made one at a
    /// time.
    private static let nesting = "*"

    let queue = StructureQueue()
    private let state: RegistryState
    private var domain: Domain { state.domain }
    private var containers: [String: Container] { state.containers }
    /// The names of containers that are being created.
    private var creating: Set<String> = []

    init(in state: RegistryState) { self.state = state }

    /// Changes containers to match their definitions, one container after another.
    ///
    /// The comparison is three-way: only what changed in a definition since it was last applied is changed. All
    /// definitions are rehearsed before the first one is applied, so that an invalid one changes nothing. Each
    /// container is committed as an entry of its own: when the store fails halfway, the containers that were already
    /// applied stay changed.
    ///
    /// - Parameters:
    ///   - definitions: the definitions, as their files have them.
    ///   - dryRun: whether to report the changes without making them.
    ///   - prune: whether to erase the records of components that were removed from a definition.
    ///   - caller: on whose behalf.
    ///   - reply: the changes; fails with `definitionInvalid`, `pluginNotFound`, `settingInvalid`, `itemsUnfit`,
    ///     `limitExceeded`, `componentUnavailable` or `storeUnavailable`.
    public func apply(
        _ definitions: [ContainerDefinition], dryRun: Bool, prune: Bool, by caller: Caller,
        _ reply: @escaping Reply<ApplyOutcome>
    ) {
        let names = Set(definitions.map(\.name))
        // Serialized: otherwise two changes could each nest one container in the other and both pass the check.
        let isNesting = definitions.contains { $0.components.contains(where: \.isPart) }
        change(isNesting ? names.union([Self.nesting]) : names) { [self] finished in
            let new = names.subtracting(containers.keys)
            let limit = domain.limits.containers
            guard new.isEmpty || containers.count + creating.count + new.count <= limit
            else {
                reply(
                    .failure(
                        .limitExceeded(limit: "containers", value: limit, retryAfter: nil)))
                return finished()
            }
            if isNesting, let problem = nesting(with: definitions).problem(of: names) {
                reply(.failure(problem))
                return finished()
            }
            creating.formUnion(new)
            let done: Answer<ApplyOutcome> = { [self] result in
                creating.subtract(new)
                reply(result)
                finished()
            }
            let follows = definitions.contains(where: \.follows)
            var application = Application(
                dryRun: dryRun, prune: prune, asksSections: follows || domain.isCheck,
                caller: caller)
            // A single definition needs no rehearsal: it is applied whole or not at all.
            guard definitions.count > 1 || dryRun || follows else {
                return applyAll(definitions, application, done)
            }
            application.dryRun = true
            applyAll(definitions, application) { [self] rehearsal in
                guard case .success(let outcome) = rehearsal else { return done(rehearsal) }
                checkFollowed(by: definitions, outcome) { [self] problem in
                    if let problem { return done(.failure(problem)) }
                    guard !dryRun else { return done(rehearsal) }
                    application.dryRun = false
                    applyAll(definitions, application, done)
                }
            }
        }
    }

    /// Looks whether the parts of definitions that were rehearsed can follow as these say.
    ///
    /// A part's container need not be there: a definition may come before those of its parts.
    private func checkFollowed(
        by definitions: [ContainerDefinition], _ outcome: ApplyOutcome,
        _ done: @escaping (HostError?) -> Void
    ) {
        let rehearsed = Set(outcome.results.map(\.container))
        var sections = FollowedSections(outcome.results)
        let parts = definitions.flatMap(\.components).filter { !$0.follow.isEmpty }
        var others = Set(parts.compactMap(\.container)).subtracting(rehearsed).sorted()[...]
        func next() {
            while let name = others.popFirst() {
                guard let other = containers[name], !other.loading.isUnderWay else { continue }
                return other.filters.sectionIDs { ids in
                    sections.add(ids, of: name)
                    next()
                }
            }
            for definition in definitions {
                for part in definition.components {
                    if let problem = sections.problem(of: part, in: definition.name) {
                        return done(problem)
                    }
                }
            }
            done(nil)
        }
        next()
    }

    /// Which containers would be parts of others once these definitions are applied.
    private func nesting(with definitions: [ContainerDefinition]) -> Nesting {
        var after = containers.mapValues(\.definition)
        for new in definitions {
            let container = containers[new.name]
            after[new.name] =
                ThreeWay(new: new, base: container?.applied, live: container?.definition).result
        }
        return Nesting(after.values)
    }

    private func applyAll(
        _ definitions: [ContainerDefinition], _ application: Application,
        _ done: @escaping Answer<ApplyOutcome>
    ) {
        applyNext(
            definitions[...], application,
            ApplyOutcome(results: [], sequence: domain.commits.sequence), done)
    }

    /// Options that are the same for all definitions of one call.
    private struct Application {
        var dryRun: Bool
        var prune: Bool
        var asksSections: Bool
        var caller: Caller
    }

    private func applyNext(
        _ definitions: ArraySlice<ContainerDefinition>, _ application: Application,
        _ outcome: ApplyOutcome, _ done: @escaping Answer<ApplyOutcome>
    ) {
        guard let definition = definitions.first else { return done(.success(outcome)) }
        let known = containers[definition.name]
        let container = known ?? Container(name: definition.name, domain: domain)
        let reached: Answer<(result: ApplyResult, sequence: Int64)> = { [self] result in
            switch result {
            case .failure(let error): done(.failure(error))
            case .success(let (result, sequence)):
                var outcome = outcome
                outcome.results.append(result)
                outcome.sequence = max(outcome.sequence, sequence)
                state.expected.resume(container.name)
                applyNext(definitions.dropFirst(), application, outcome, done)
            }
        }
        container.structure.apply(
            definition, dryRun: application.dryRun, prune: application.prune, isNew: known == nil,
            asksSections: application.asksSections, by: application.caller,
            atCommit: { [self] in state.add(container) }, reached)
    }

    /// Attaches a component to a container, as ``ContainerStructure/attach(_:at:by:_:)`` does.
    ///
    /// - Parameters:
    ///   - component: the component's definition.
    ///   - name: the container.
    ///   - place: the component's place among the others, from 0; nil: at the end.
    ///   - caller: on whose behalf.
    ///   - reply: the sequence; fails with `containerNotFound` if the component is a container that is not there, with
    ///     `definitionInvalid` if a container would contain itself, a screen would have too many parts, or a section to
    ///     follow, or that follows, is not there.
    public func attach(
        _ component: ComponentDefinition, to name: String, at place: Int?, by caller: Caller,
        _ reply: @escaping Answer<Int64>
    ) {
        let attach = { [self] in
            change(name, beside: component.isPart ? [Self.nesting] : [], reply) {
                [self] container, done in
                if let problem = problem(attaching: component, to: container) {
                    return done(.failure(problem))
                }
                container.structure.attach(component, at: place, by: caller, done)
            }
        }
        guard let part = component.container.flatMap({ containers[$0] }),
            let container = containers[name]
        else { return attach() }
        // Before its turn, because components are asked: others would wait for their answers.
        checkSections(of: component, part, in: container) { problem in
            if let problem { reply(.failure(problem)) } else { attach() }
        }
    }

    /// The error if a component is a container that can't be a part of this one; nil: it can, or is no container.
    private func problem(
        attaching component: ComponentDefinition, to container: Container
    ) -> HostError? {
        guard let part = component.container else { return nil }
        // A definition may come before those of its parts; by hand it is a mistyped name.
        guard containers[part] != nil else { return .containerNotFound(part) }
        var after = containers.mapValues(\.definition)
        after[container.name]?.components.append(component)
        return Nesting(after.values).problem(of: [container.name])
    }

    /// Looks whether sections that follow others, and these, are there, as far as their components say.
    private func checkSections(
        of component: ComponentDefinition, _ part: Container, in container: Container,
        _ done: @escaping (HostError?) -> Void
    ) {
        guard !component.follow.isEmpty else { return done(nil) }
        var sections = FollowedSections()
        part.filters.sectionIDs { own in
            sections.add(own, of: part.name)
            if let wrong = sections.problem(of: component, in: container.name) {
                return done(wrong)
            }
            container.filters.sectionIDs { around in
                sections.add(around, of: container.name)
                done(sections.problem(of: component, in: container.name))
            }
        }
    }

    /// Deletes a container.
    ///
    /// Its records stay, and are used again when the container is applied again.
    ///
    /// - Parameters:
    ///   - name: the container.
    ///   - purge: whether to erase its records too.
    ///   - caller: on whose behalf.
    ///   - reply: the sequence; fails with `refused` while the container is a part of others.
    public func delete(
        _ name: String, purge: Bool, by caller: Caller, _ reply: @escaping Reply<Int64>
    ) {
        change(name, beside: [Self.nesting], reply) { [self] container, done in
            let parents = containers.values.filter { parent in
                parent.parts.contains { $0.container == name }
            }.map(\.name).sorted()
            guard parents.isEmpty else {
                return done(
                    .failure(
                        .refused(
                            reason: "The container '\(name)' is a part of "
                                + "\(parents.joined(separator: ", ")): take it out of there first.",
                            retryAfter: nil)))
            }
            domain.read { store in
                try store.components(of: name)
            } then: { [self] result in
                guard case .success(let components) = result else {
                    return done(
                        .failure(
                            .storeUnavailable(
                                reason: "The store can't be read.", retryAfter: 1)))
                }
                container.structure.remove(
                    purge: purge, by: caller, erased: components,
                    atCommit: { [self] in state.remove(name) }, done)
            }
        }
    }

    /// Finds a container, which need not exist yet, and changes its structure by `body` when the change's turn comes;
    /// fails with `containerNotFound`.
    public func change(
        _ name: String, _ reply: @escaping Answer<Int64>,
        _ body: @escaping (Container, @escaping Answer<Int64>) -> Void
    ) {
        change(name, beside: [], reply, body)
    }

    private func change(
        _ name: String, beside others: Set<String>, _ reply: @escaping Answer<Int64>,
        _ body: @escaping (Container, @escaping Answer<Int64>) -> Void
    ) {
        change(others.union([name])) { [self] finished in
            let done: Answer<Int64> = { result in
                reply(result)
                finished()
            }
            guard let container = containers[name] else {
                return done(.failure(.containerNotFound(name)))
            }
            body(container, done)
        }
    }

    /// Runs a change of the structure of containers when its turn comes and all these containers are loaded.
    private func change(_ names: Set<String>, _ job: @escaping StructureQueue.Job) {
        queue.add(names) { [self] finished in
            var loading = names.compactMap { containers[$0] }.filter(\.loading.isUnderWay)[...]
            func next() {
                guard let container = loading.popFirst() else { return job(finished) }
                container.loading.whenOver(next)
            }
            next()
        }
    }
}
