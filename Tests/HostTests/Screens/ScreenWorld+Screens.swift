import AtriumKit

@testable import Host

// What people do on their screens.
extension ScreenWorld {
    private static let sorts = [
        [], ["title"], ["-rating"], ["-votes.score", "title"], ["comments.count"],
        ["genres", "-id"],
    ]

    func open(
        _ looker: Looker, resume: ScreenRequest.Resume? = nil,
        _ then: @escaping @Sendable () -> Void
    ) {
        var request = ScreenRequest(
            container: "shelves", limit: 4, actor: looker.actor, resume: resume)
        if resume == nil {
            looker.choices = ScreenModel.Choices()
            looker.opened += 1
        }
        if resume == nil, !model.scopes.isEmpty {
            request.scope = chance(30) ? any(model.scopes)?.name : nil
            looker.choices.scope = request.scope ?? model.scopes[0].name
        }
        if resume == nil, chance(30) {
            looker.choices.search = "heat"
            looker.choices.selection["genre"] = ["crime"]
            request.search = "heat"
            request.selection = looker.choices.selection
        }
        registry.openScreen(request, by: .ann) {
        } _: { [self] in
            looker.reader = take($0)
            if resume == nil { looker.told = 0 }
            looker.isNew = true
            then()
        }
    }

    func look(_ looker: Looker?, _ then: @escaping @Sendable () -> Void) {
        guard let looker, let reader = looker.reader else { return then() }
        if chance(12) { return reopen(looker, reader, then) }
        let told: @Sendable (Result<Int, HostError>) -> Void = { [self] in
            if let revision = take($0) { looker.told = max(looker.told, revision) }
            then()
        }
        choose(looker, reader.screen, in: registry, told)
    }

    /// The connection is lost; another one goes on, or one begins anew.
    private func reopen(
        _ looker: Looker, _ reader: ScreenReader, _ then: @escaping @Sendable () -> Void
    ) {
        looker.reader = nil
        if chance(70) { registry.screens.leave(reader) }
        guard chance(80) else {
            if let screen = registry.state.screens[reader.screen] {
                screen.home?.close(screen)
            }
            return open(looker, then)
        }
        // Sometimes a revision that nobody knows.
        let revision = looker.copy.revision + (chance(90) ? 0 : 1_000)
        open(looker, resume: .init(screen: reader.screen, revision: revision), then)
    }

    private func choose(
        _ looker: Looker, _ id: ScreenID, in registry: Registry,
        _ told: @escaping @Sendable (Result<Int, HostError>) -> Void
    ) {
        switch pick(1...11) {
        case 1...3: select(looker, id, in: registry, told)
        case 4:
            looker.choices.selection = Selection()
            registry.clear(id, by: .ann, told)
        case 5:
            looker.choices.search = any(["", "heat", "JOSE", "zzz"]) ?? ""
            registry.search(id, looker.choices.search, by: .ann, told)
        case 6:
            looker.choices.sort = any(Self.sorts) ?? []
            registry.sort(id, by: looker.choices.sort, by: .ann, told)
        case 7:
            let limit = pick(1...6)
            let component = any([nil, "list", "more", "talk"]) ?? nil
            if let component {
                looker.choices.limits[component] = limit
            } else {
                looker.choices.limit = limit
                looker.choices.limits = [:]
            }
            registry.resize(id, component: component, to: limit, by: .ann, told)
        case 8: place(looker, id, in: registry, told)
        case 9 where !model.scopes.isEmpty:
            let scope = any(model.scopes)?.name ?? ""
            if scope != looker.choices.scope { looker.choices.places = [] }
            looker.choices.scope = scope
            registry.setScope(id, to: scope, by: .ann, told)
        default:
            let item = chance(30) ? nil : any(model.items(of: "list") + model.items(of: "more"))
            looker.choices.focus = item
            registry.focus(id, item: item, by: .ann, told)
        }
    }

    private func select(
        _ looker: Looker, _ id: ScreenID, in registry: Registry,
        _ told: @escaping @Sendable (Result<Int, HostError>) -> Void
    ) {
        let (section, filter) =
            chance(70) ? ("genre", any(ScreenModel.genres) ?? "") : ("rating", "8+")
        if looker.choices.selection[section].contains(filter) {
            looker.choices.selection[section].removeAll { $0 == filter }
            registry.deselect(id, section: section, filter: filter, by: .ann, told)
        } else {
            looker.choices.selection[section].append(filter)
            let opened = looker.opened
            registry.select(id, section: section, filter: filter, by: .ann) {
                if case .failure(.filterNotFound) = $0, looker.opened == opened {
                    // No item has it now.
                    looker.choices.selection[section].removeAll { $0 == filter }
                }
                told($0)
            }
        }
    }

    /// Enters an item that is shown, or goes back.
    private func place(
        _ looker: Looker, _ id: ScreenID, in registry: Registry,
        _ told: @escaping @Sendable (Result<Int, HostError>) -> Void
    ) {
        let scope = looker.choices.scope
        let shown = model.components(for: looker.choices).filter { !$0.isHidden }
            .flatMap { model.items(of: $0.name) }
        if chance(50), let goal = any(shown), let home = model.home(of: goal, in: scope) {
            looker.choices.places = model.places(to: goal, in: home, scope)
            registry.enter(id, item: goal, by: .ann, told)
        } else {
            _ = looker.choices.places.popLast()
            registry.back(id, by: .ann, told)
        }
    }
}
