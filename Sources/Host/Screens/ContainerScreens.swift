import AtriumKit

/// The screens of one container: opens, updates and ends them.
///
/// Created when the registry adds the container; both refer to each other until the registry removes the container.
/// What users choose is in ``filters`` and ``actions``, and how a choice is shown in ``choosing``.
public final class ContainerScreens {
    let container: Container
    let table: ScreenTable
    /// The paths of items in the container's lists.
    let paths: ItemPaths
    /// The views and focuses.
    let shared = ViewTable()
    private(set) lazy var updates = ScreenUpdates(of: self)
    private(set) lazy var placement = ItemPlacement(of: self)
    private(set) lazy var audience = AudienceCount(of: self)
    private(set) lazy var parts = PartAssembly(of: self)
    private(set) lazy var ballots = ScreenBallots(of: self)
    /// The answers of filters components.
    private(set) lazy var answers = SharedAnswers(in: domain) { [updates] in updates.isFollowing }
    /// What screens show of the container itself.
    private(set) lazy var shown = ShownContainer(of: self)

    var domain: Domain { container.domain }

    init(on container: Container, in table: ScreenTable) {
        self.container = container
        self.table = table
        paths = ItemPaths(container: container)
    }

    /// All screens and parts that show the container.
    var everywhere: [Screen] {
        (Array(table.screens.values) + table.parts.values).filter { $0.home === self }
    }

    /// Opens a screen once its first revision can be made.
    func open(
        _ request: ScreenRequest, by owner: String, _ reply: @escaping Answer<Screen>
    ) {
        do throws(HostError) {
            try container.scopes.check(request.scope)
            try table.detached.evict(for: owner)
        } catch {
            return reply(.failure(error))
        }
        let screen = Screen(
            table.freshID(), request,
            of: table.account(of: owner), on: self)
        table.insert(screen)
        let open = { [self] (selection: Selection) in
            choosing.choose(screen) { choices in
                choices.view = ViewKey(
                    ViewKey.Members(
                        scope: request.scope, selection: selection, search: request.search ?? "",
                        sort: request.sort, limit: request.limit))
            } then: { [self] result in
                if case .failure = result { close(screen) }
                reply(result.map { _ in screen })
            }
        }
        if let selection = request.selection { return open(selection) }
        PreselectionSearch(on: self, open).run()
    }

    /// Closes a screen.
    func close(_ screen: Screen) {
        for part in screen.parts { part.home?.close(part) }
        table.remove(screen.id)
        parts.removeFailure(screen)
        updates.unblock(screen)
        screen.release()
        ballots.remove(screen)
    }

    /// Ends all screens, and the parts that show the container on others: they are closed in slices.
    ///
    /// The screens stop showing changes at once. Afterwards nothing refers to the container's screens any more.
    func end() {
        var screens = table.screens.values.filter { $0.home === self }
        var parts = table.parts.values.filter { $0.home === self }
        for screen in screens { screen.freeze() }
        domain.slices.run { [self] in
            if let screen = screens.popLast() {
                end(screen)
            } else if let part = parts.popLast() {
                if table.parts[part.id] === part { close(part) }
                part.endPart()
                // Its reader may have been woken before, and seen the part.
                part.touched()
            } else {
                return false
            }
            return true
        } then: {
        }
    }

    /// Ends a screen, unless it was closed meanwhile.
    func end(_ screen: Screen) {
        guard table[screen.id] === screen else { return }
        screen.end()
        close(screen)
    }
}

// Changes of the container, of which it notifies its screens.
extension ContainerScreens: OpenScreens, ChangeFollower {
    var isIdle: Bool { updates.isIdle }

    func changed() { updates.changed() }

    func flush() { updates.flush() }

    func committed() { updates.committed() }

    func structureChanged() {
        updates.structureChanged()
        table.surroundings.forget()
        audience.recount()
        audience.recountParts()
        parts.retry()
        shared.touchFocuses()
        updates.changed()
    }

    func scopesChanged() {
        var screens = everywhere
        // Until then they show the lists of the first scope.
        domain.slices.run { [self] in
            guard let screen = screens.popLast() else { return false }
            let scope = screen.choices.view.scope
            guard scope != container.scopes[scope]?.name,
                screen.partState == nil || screen.view != nil
            else { return true }
            choosing.change(screen) { _ in
            } then: { _ in
            }
            return true
        } then: {
        }
    }

    func partsChanged(hadParts: Bool) { parts.changed(hadParts: hadParts) }

    func title(ofPart part: ComponentDefinition) -> String? {
        part.container.flatMap { table.homes()[$0] }.map {
            part.title ?? $0.container.definition.title ?? $0.container.name
        }
    }

    func sections(ofPart part: ComponentDefinition) -> [String]? {
        part.container.flatMap { table.homes()[$0] }?.container.filters.knownSections
    }

    func countAudience() { audience.recount() }

    func isInUse(_ item: String) -> Bool { shared.isInUse(item) }

    func itemsRemoved(_ items: Set<String>) { placement.itemsRemoved(items) }

    func itemsChanged(_ items: some Sequence<String>) {
        guard !shared.focuses.isEmpty else { return }
        for item in items { shared.touchFocuses(on: .item(item), withDetails: true) }
    }

    func subjectChanged(_ subject: Subject) {
        shared.touchFocuses(on: subject, withDetails: false)
    }

    func commentsGone(_ comments: Set<String>, of component: String) {
        shared.removeComments(comments, of: component)
    }

    func ballotChanged(_ value: Double?, of actor: ActorID, on subject: Subject, in slot: Slot) {
        ballots.update(value, of: actor, on: subject, in: slot)
    }

    func ballotsChanged() { ballots.clear() }
}
