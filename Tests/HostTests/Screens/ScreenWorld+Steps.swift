import AtriumKit
import PluginLoader

@testable import Host

// What people do.
extension ScreenWorld {
    /// Does one thing, or several at once.
    ///
    /// - Parameter then: called once all are done.
    /// - Returns: how many.
    func act(_ then: @escaping @Sendable () -> Void) -> Int {
        let count = chance(30) ? 1 : pick(2...14)
        let isLooking = chance(50)
        nonisolated(unsafe) var open = count
        for _ in 0..<count {
            let done: @Sendable () -> Void = {
                open -= 1
                if open == 0 { then() }
            }
            if isLooking { look(any(lookers), done) } else { change(isAlone: count == 1, done) }
        }
        return count
    }

    // MARK: Changes

    private func change(isAlone: Bool, _ then: @escaping @Sendable () -> Void) {
        let list = chance(70) ? "list" : "more"
        switch pick(1...(isAlone ? 100 : 94)) {
        case ...35: put(list, then)
        case ...47: remove(list, then)
        case ...75: vote(then)
        case ...90: comment(then)
        case ...94: unsay(then)
        default: restructure(then)
        }
    }

    private func put(_ list: String, _ then: @escaping @Sendable () -> Void) {
        // Some ids are in both.
        let id = "\((chance(90) ? list : "list").prefix(1))\(pick(1...9))"
        var item = Item.film(
            id, (0..<pick(0...2)).compactMap { _ in any(ScreenModel.genres) },
            rating: Double(pick(5...9)))
        item.fields["title"] = .text(any(["José", "Heat", "heat two", "Alien"]) ?? "")
        if chance(30) {
            let parents = chance(70) ? list : "list"
            item.parent = any(model.items(of: parents).filter { $0 != id })
        }
        let new = item
        registry.put("shelves", component: list, [ItemDraft(item: new)], by: .ann) { [self] in
            // Refused where it would lie under itself.
            if take($0, orRefused: true) != nil {
                model.put(new, in: list)
                for looker in lookers { model.follow(&looker.choices) }
            }
            then()
        }
    }

    private func remove(_ list: String, _ then: @escaping @Sendable () -> Void) {
        guard let item = any(model.items(of: list)) else { return then() }
        registry.remove("shelves", component: list, [item], purge: false, by: .ann) { [self] in
            if take($0, orRefused: true) != nil {
                model.remove(item, from: list)
                for looker in lookers { model.follow(&looker.choices) }
            }
            then()
        }
    }

    private func subject() -> String? {
        chance(25) ? nil : any(model.items(of: "list") + model.items(of: "more"))
    }

    private func vote(_ then: @escaping @Sendable () -> Void) {
        let item = subject()
        let caller = chance(50) ? Caller.ann : .bob
        let address = SubjectAddress(container: "shelves", item: item)
        let value = chance(80) ? Double(pick(1...5)) : nil
        let took: @Sendable (Result<VoteResult, HostError>) -> Void = { [self] result in
            // What it is about may be gone by then.
            if let vote = take(result, orRefused: true) {
                model.vote(value, by: caller.actor, on: item, tally: vote.tally.tally)
            }
            then()
        }
        if let value {
            registry.cast(address, value: value, by: caller, took)
        } else {
            registry.retract(address, by: caller, took)
        }
    }

    private func comment(_ then: @escaping @Sendable () -> Void) {
        let parent = chance(40) ? any(posted.filter { $0.item.map(model.has) ?? true }) : nil
        let item = parent.map(\.item) ?? subject()
        registry.post(
            SubjectAddress(container: "shelves", item: item), parent: parent?.id,
            text: "text \(pick(1...100))", id: nil, by: .ann
        ) { [self] in
            if let comment = take($0, orRefused: true) {
                posted.append((comment.comment.entry.comment.id, item))
                if posted.count > 30 { posted.removeFirst() }
            }
            count(item, then)
        }
    }

    /// Edits or deletes a comment.
    private func unsay(_ then: @escaping @Sendable () -> Void) {
        guard let comment = any(posted) else { return then() }
        let took: @Sendable (Result<CommentResult, HostError>) -> Void = { [self] in
            _ = take($0, orRefused: true)
            count(comment.item, then)
        }
        if chance(50) {
            registry.edit(
                "shelves", component: nil, comment: comment.id, text: "\(pick(1...9))",
                by: .ann, took)
        } else {
            registry.delete("shelves", component: nil, comment: comment.id, by: .ann, took)
        }
    }

    /// Looks up how many comments there are, as the reply does not say.
    private func count(_ item: String?, _ then: @escaping @Sendable () -> Void) {
        let slot = registry.containers["shelves"]?.slot("talk")
        model.setComments(slot?.commentCount(of: Subject(item: item)) ?? 0, on: item)
        then()
    }

    /// Hides, shows or moves a component.
    private func restructure(_ then: @escaping @Sendable () -> Void) {
        let place = pick(0...model.components.count - 1)
        let (name, isHidden) = model.components[place]
        if chance(30) {
            return model.scopes.isEmpty ? changeModes(then) : changeScopes(then)
        }
        if chance(75) {
            registry.setHidden("shelves", name, !isHidden, by: .ann) { [self] in
                if take($0) != nil,
                    let place = model.components.firstIndex(where: { $0.name == name })
                {
                    model.components[place].isHidden = !isHidden
                    for looker in lookers { model.follow(&looker.choices) }
                }
                then()
            }
        } else {
            let goal = pick(0...model.components.count - 1)
            registry.move("shelves", name, to: goal, by: .ann) { [self] in
                if take($0) != nil,
                    let place = model.components.firstIndex(where: { $0.name == name })
                {
                    model.components.insert(model.components.remove(at: place), at: goal)
                }
                then()
            }
        }
    }

    /// Applies the container with other scopes: whose scope is gone goes on in the first.
    private func changeScopes(_ then: @escaping @Sendable () -> Void) {
        let scopes = Array(ContainerDefinition.shelfScopes.shuffled(using: &random)[...pick(0...3)])
        let definition = ContainerDefinition.shelves(
            isolation: script == nil ? .daemon : .process, scopes: scopes, delegate: delegate)
        registry.structure.apply([definition], dryRun: false, prune: false, by: .ann) { [self] in
            if take($0) != nil {
                model.scopes = scopes
                for looker in lookers
                where !scopes.contains(where: { $0.name == looker.choices.scope }) {
                    looker.choices.scope = scopes[0].name
                    looker.choices.places = []
                }
            }
            then()
        }
    }

    /// Applies the container with other lists at the top, inside items and while searching.
    private func changeModes(_ then: @escaping @Sendable () -> Void) {
        let modes = any(ListModes.shelfModes) ?? nil
        var definition = ContainerDefinition.shelves(
            isolation: script == nil ? .daemon : .process, delegate: delegate)
        definition.lists = modes
        registry.structure.apply([definition], dryRun: false, prune: false, by: .ann) { [self] in
            if take($0) != nil {
                model.modes = modes
                for looker in lookers { model.follow(&looker.choices) }
            }
            then()
        }
    }

    /// What a call was answered; a failure that it should not have had ends the run.
    func take<T>(_ result: Result<T, HostError>, orRefused: Bool = false) -> T? {
        switch result {
        case .success(let value): return value
        case .failure(.filterNotFound(section: "genre", _, _, _)): break
        case .failure(.refused), .failure(.commentNotFound), .failure(.itemNotFound):
            if !orRefused, script == nil { note(result) }
        case .failure(.componentUnavailable) where script != nil,
            .failure(.componentFailed) where script != nil:
            break
        // Closed while a component was yet to answer; nobody looks at that one any more.
        case .failure(.screenNotFound(let id)) where !isRead(id): break
        case .failure: note(result)
        }
        return nil
    }

    private func isRead(_ id: String) -> Bool {
        lookers.contains { $0.reader?.screen.text == id }
    }

    private func note<T>(_ result: Result<T, HostError>) {
        failure = failure ?? "\(result)"
    }
}
