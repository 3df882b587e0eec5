import AtriumKit

// Screens opened on a container, and what they show.
extension Container {
    /// Opens a screen once its first revision is known to be possible.
    func openScreen(
        _ request: ScreenRequest, by caller: Caller, wake: @escaping @Sendable () -> Void,
        _ reply: @escaping Answer<ScreenID>
    ) {
        guard (1...domain.limits.pageItems).contains(request.limit) else {
            return reply(
                .failure(
                    .limitExceeded(
                        limit: "pageItems", value: domain.limits.pageItems, retryAfter: nil)))
        }
        guard domain.screens.count < domain.limits.screens else {
            return reply(
                .failure(
                    .limitExceeded(
                        limit: "screens", value: domain.limits.screens, retryAfter: 5)))
        }
        let screen = Screen(
            request, id: ScreenID(domain.freshID()), owner: caller.actor, on: self, wake: wake)
        snapshot(screen) { [self] result in
            reply(
                result.map { _ in
                    screens.append(screen)
                    domain.screens[screen.id] = screen
                    return screen.id
                })
        }
    }

    func closeScreen(_ screen: Screen) {
        screens.removeAll { $0 === screen }
    }

    /// Something that screens show changed.
    func screensChanged() {
        for screen in screens { screen.changed() }
    }

    func endScreens() {
        for screen in screens { screen.end() }
        screens.removeAll()
    }

    /// Asks the filters component that has the section; what it tells its delegate reaches the
    /// screen through the container's.
    func choose(
        _ screen: Screen, section: String?,
        _ query: @escaping (Selection) -> ComponentQuery, _ reply: @escaping Answer<Int>
    ) {
        screen.choose { [self] finished in
            let done: Answer<Int> = { result in
                reply(result)
                finished()
            }
            findFilters(section) { [self] result in
                switch result {
                case .failure(let error): done(.failure(error))
                case .success(let slot):
                    ask(slot, query(screen.selection), screen, done)
                }
            }
        }
    }

    private func ask(
        _ slot: Slot, _ query: ComponentQuery, _ screen: Screen, _ done: @escaping Answer<Int>
    ) {
        report(to: slot)
        slot.ask(query) { [self] result in
            switch result {
            case .success(.selection(_, let events)):
                deliver(events, from: slot)
                done(.success(screen.latest))
            case .success: done(.failure(slot.unavailable("It answered something else.")))
            case .failure(let error): explain(error, slot, done)
            }
        }
    }

    /// The filters component that has a section; nil: the first.
    private func findFilters(_ section: String?, _ done: @escaping Answer<Slot>) {
        let candidates = slots.filter { $0.kind == .filters }
        guard let first = candidates.first else {
            return done(
                .failure(.filterNotFound(section: section ?? "", filter: "", known: [])))
        }
        guard let section, candidates.count > 1 else { return done(.success(first)) }
        find(section, in: candidates[...], otherwise: first, done)
    }

    private func find(
        _ section: String, in slots: ArraySlice<Slot>, otherwise first: Slot,
        _ done: @escaping Answer<Slot>
    ) {
        // The first one's own refusal says best what there is.
        guard let slot = slots.first else { return done(.success(first)) }
        slot.ask(.sections) { [self] result in
            if case .success(.sections(let sections)) = result,
                sections.contains(where: { $0.id == section })
            {
                return done(.success(slot))
            }
            find(section, in: slots.dropFirst(), otherwise: first, done)
        }
    }
}

// MARK: What a screen shows

extension Container {
    /// A whole revision, its number not set yet.
    func snapshot(_ screen: Screen, _ reply: @escaping Answer<ScreenSnapshot>) {
        let selection = screen.selection
        resolve(selection, offers: true) { [self] result in
            switch result {
            case .failure(let error): reply(.failure(error))
            case .success(let sections): read(screen, sections, reply)
            }
        }
    }

    /// Reads all lists, and the ballots of the screen's actor, at one moment.
    private func read(
        _ screen: Screen, _ sections: [ResolvedSection], _ reply: @escaping Answer<ScreenSnapshot>
    ) {
        var snapshot: Result<ScreenSnapshot, HostError> = .failure(.screenNotFound(screen.id.text))
        withBallots(of: screen.actor) { [self] in
            do throws(HostError) {
                snapshot = .success(try read(screen, sections))
            } catch {
                snapshot = .failure(error)
            }
            return (try? snapshot.get())?.subjects ?? []
        } then: { ballots in
            reply(snapshot.map { $0.filled(with: ballots) })
        }
    }

    private func read(
        _ screen: Screen, _ sections: [ResolvedSection]
    ) throws(HostError) -> ScreenSnapshot {
        var lists: [ScreenSnapshot.ListView] = []
        var counted: [SectionView]?
        for slot in slots where slot.kind == .contents && !slot.definition.isHidden {
            guard let list = slot.list else { continue }
            let request = ListRequest(
                container: name, search: screen.search, sort: screen.sort, facets: counted == nil,
                limit: screen.limit)
            let page = try page(of: list, request, sections)
            counted = counted ?? page.sections
            lists.append(
                ScreenSnapshot.ListView(
                    component: slot.name, total: page.total, items: page.items))
        }
        let shows = { [self] (kind: Kind) in
            slots.contains { $0.kind == kind && !$0.definition.isHidden }
        }
        let votes = slots.first { $0.kind == .votes && !$0.definition.isHidden }
        return ScreenSnapshot(
            screen: screen.id, revision: 0, sequence: domain.sequence, commits: 0,
            components: slots.map(\.view),
            sections: shows(.filters) ? counted ?? sections.views(counts: []) : nil,
            lists: lists,
            tally: votes.map { TallyView(tally: $0.tallies[.container] ?? Tally(), mine: nil) })
    }
}

extension ScreenSnapshot {
    /// What the actor may have voted on, in the order in which ``filled(with:)`` takes the ballots.
    fileprivate var subjects: [Subject] {
        [.container] + lists.flatMap { $0.items.map { .item($0.id) } }
    }

    fileprivate func filled(with ballots: [Ballot?]) -> ScreenSnapshot {
        guard !ballots.isEmpty else { return self }
        var snapshot = self
        var values = ballots.map { $0?.value }[...]
        snapshot.tally?.mine = values.popFirst() ?? nil
        for list in snapshot.lists.indices {
            for item in snapshot.lists[list].items.indices {
                snapshot.lists[list].items[item].votes?.mine = values.popFirst() ?? nil
            }
        }
        return snapshot
    }
}

extension Slot {
    fileprivate var view: ScreenSnapshot.ComponentView {
        ScreenSnapshot.ComponentView(
            name: name, kind: kind, title: definition.title ?? plugin?.title ?? name,
            isHidden: definition.isHidden)
    }
}
