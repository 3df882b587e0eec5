import AtriumKit

@testable import Host

/// A container, one of its components, and one of its items (nil: the container itself).
struct SubjectAddress: Hashable {
    var container: String
    /// nil: the first of the kind.
    var component: String?
    /// nil: the container itself.
    var item: String?
}

// Calls with the container's name: it is found first, as the control protocol's services do.
extension Registry {
    func with<T>(
        _ name: String, _ reply: @escaping Reply<T>, _ body: @escaping (Container) -> Void
    ) {
        find(name) { found in
            switch found {
            case .success(let container): body(container)
            case .failure(let error): reply(.failure(error))
            }
        }
    }

    func cast(
        _ address: SubjectAddress, value: Double, by caller: Caller,
        _ reply: @escaping Reply<VoteResult>
    ) {
        with(address.container, reply) {
            $0.votes.cast(value, on: address.item, in: address.component, by: caller, reply)
        }
    }

    func retract(
        _ address: SubjectAddress, by caller: Caller, _ reply: @escaping Reply<VoteResult>
    ) {
        with(address.container, reply) {
            $0.votes.retract(on: address.item, in: address.component, by: caller, reply)
        }
    }

    func tally(_ address: SubjectAddress) -> Result<TallyResult, HostError>? {
        container(address.container).map { container in
            Result { () throws(HostError) in
                try container.votes.tally(of: address.item, in: address.component)
            }
        }
    }

    func tally(
        _ address: SubjectAddress, actor: String?, _ reply: @escaping Reply<TallyResult>
    ) {
        with(address.container, reply) {
            $0.votes.tally(of: address.item, in: address.component, actor: actor, reply)
        }
    }

    func ballots(
        _ address: SubjectAddress, limit: Int, cursor: String?, by user: String = "",
        _ reply: @escaping Reply<BallotPage>
    ) {
        with(address.container, reply) {
            $0.votes.ballots(
                on: address.item, in: address.component, limit: limit, cursor: cursor, by: user,
                reply)
        }
    }

    func setOpen(
        _ container: String, votes: Bool?, comments: Bool?, by caller: Caller,
        _ reply: @escaping Reply<Int64>
    ) {
        structure.change(container, reply) {
            $0.structure.setOpen(votes: votes, comments: comments, by: caller, $1)
        }
    }

    func post(
        _ address: SubjectAddress, parent: String?, text: String, id: String?, by caller: Caller,
        _ reply: @escaping Reply<CommentResult>
    ) {
        let post = Post(item: address.item, parent: parent, text: text, id: id)
        with(address.container, reply) {
            $0.comments.post(post, in: address.component, by: caller, reply)
        }
    }

    func edit(
        _ container: String, component: String?, comment: String, text: String,
        by caller: Caller, _ reply: @escaping Reply<CommentResult>
    ) {
        with(container, reply) {
            $0.comments.edit(comment, text: text, in: component, by: caller, reply)
        }
    }

    func delete(
        _ container: String, component: String?, comment: String, by caller: Caller,
        _ reply: @escaping Reply<CommentResult>
    ) {
        with(container, reply) { $0.comments.delete(comment, in: component, by: caller, reply) }
    }

    func moderate(
        _ container: String, component: String?, comment: String, state: Comment.State,
        reason: String?, seen: String? = nil, by caller: Caller,
        _ reply: @escaping Reply<CommentResult>
    ) {
        with(container, reply) {
            $0.comments.moderate(
                comment, state: state, reason: reason, seen: seen, in: component, by: caller, reply)
        }
    }

    func thread(
        _ container: String, component: String?, _ query: ThreadQuery,
        _ reply: @escaping Reply<ThreadResult>
    ) {
        with(container, reply) { $0.comments.thread(query, in: component, reply) }
    }

    func list(
        _ container: String, _ request: ListRequest, _ reply: @escaping Reply<ListPage>
    ) {
        with(container, reply) { $0.contents.list(request, reply) }
    }

    func get(
        _ container: String, component: String?, item: String, actor: String?,
        _ reply: @escaping Reply<ItemResult>
    ) {
        with(container, reply) { $0.contents.get(item, in: component, actor: actor, reply) }
    }

    func put(
        _ container: String, component: String?, _ items: [ItemDraft], by caller: Caller,
        _ reply: @escaping Reply<PutResult>
    ) {
        with(container, reply) {
            $0.contents.put(ItemBatch(items), in: component, by: caller, reply)
        }
    }

    func remove(
        _ container: String, component: String?, _ items: [String], purge: Bool,
        by caller: Caller, _ reply: @escaping Reply<RemoveResult>
    ) {
        with(container, reply) {
            $0.contents.remove(items, in: component, purge: purge, by: caller, reply)
        }
    }

    func filters(
        _ container: String, component: String?, scope: String? = nil, selection: Selection,
        search: String?, page: SectionPage? = nil, by user: String = "",
        _ reply: @escaping Reply<FiltersPage>
    ) {
        with(container, reply) {
            $0.filters.list(
                component, in: scope, selection, search: search, page: page, by: user, reply)
        }
    }

    func export(
        _ container: String, skipsDamaged: Bool = false, _ reply: @escaping Reply<ExportID>
    ) {
        with(container, reply) { [self] in
            exports.begin(of: $0, skipsDamaged: skipsDamaged, reply)
        }
    }

    func restore(
        _ container: String, _ records: [RecordView], by caller: Caller,
        _ reply: @escaping Reply<RestoreResult>
    ) {
        with(container, reply) { $0.restore(records, by: caller, reply) }
    }
}

// Changes of a container's structure, with its name.
extension Registry {
    func attach(
        _ container: String, _ component: ComponentDefinition, at place: Int?, by caller: Caller,
        _ reply: @escaping Reply<Int64>
    ) {
        structure.change(container, reply) {
            $0.structure.attach(component, at: place, by: caller, $1)
        }
    }

    func detach(
        _ container: String, _ component: String, purge: Bool, by caller: Caller,
        _ reply: @escaping Reply<Int64>
    ) {
        structure.change(container, reply) {
            $0.structure.detach(component, purge: purge, by: caller, $1)
        }
    }

    func move(
        _ container: String, _ component: String, to place: Int, by caller: Caller,
        _ reply: @escaping Reply<Int64>
    ) {
        structure.change(container, reply) {
            $0.structure.move(component, to: place, by: caller, $1)
        }
    }

    func setHidden(
        _ container: String, _ component: String, _ isHidden: Bool, by caller: Caller,
        _ reply: @escaping Reply<Int64>
    ) {
        structure.change(container, reply) {
            $0.structure.setHidden(component, isHidden, by: caller, $1)
        }
    }
}

// What users do on a screen, with its id, or on a part of it: then its path follows, after a `/`.
extension Registry {
    private func with<T>(
        _ id: ScreenID, _ caller: Caller, _ reply: @escaping Reply<T>,
        _ body: @escaping (ContainerScreens, Screen) -> Void
    ) {
        let names = id.text.split(separator: "/", maxSplits: 1).map(String.init)
        let id = ScreenID(names[0])
        keptScreens.whenRestored(id) { [self] in
            guard let (screens, screen) = screens.find(id, of: caller) else {
                return reply(.failure(.screenNotFound(id.text)))
            }
            switch screens.find(names.count == 2 ? names[1] : nil, of: screen) {
            case .success(let (screens, screen)): body(screens, screen)
            case .failure(let error): reply(.failure(error))
            }
        }
    }

    func select(
        _ screen: ScreenID, section: String, filter: String, by caller: Caller,
        _ reply: @escaping Reply<Int>
    ) {
        with(screen, caller, reply) {
            $0.filters.select(section: section, filter: filter, on: $1, reply)
        }
    }

    func deselect(
        _ screen: ScreenID, section: String, filter: String, by caller: Caller,
        _ reply: @escaping Reply<Int>
    ) {
        with(screen, caller, reply) {
            $0.filters.deselect(section: section, filter: filter, on: $1, reply)
        }
    }

    func clear(_ screen: ScreenID, by caller: Caller, _ reply: @escaping Reply<Int>) {
        with(screen, caller, reply) { $0.filters.clear($1, reply) }
    }

    func search(
        _ screen: ScreenID, _ text: String, by caller: Caller, _ reply: @escaping Reply<Int>
    ) {
        with(screen, caller, reply) { $0.actions.search(text, on: $1, reply) }
    }

    func sort(
        _ screen: ScreenID, by fields: [String], by caller: Caller, _ reply: @escaping Reply<Int>
    ) {
        with(screen, caller, reply) { $0.actions.sort(by: fields, on: $1, reply) }
    }

    func setScope(
        _ screen: ScreenID, to scope: String, by caller: Caller, _ reply: @escaping Reply<Int>
    ) {
        with(screen, caller, reply) { $0.actions.setScope(scope, on: $1, reply) }
    }

    func resize(
        _ screen: ScreenID, component: String?, to limit: Int, by caller: Caller,
        _ reply: @escaping Reply<Int>
    ) {
        with(screen, caller, reply) { $0.actions.resize(component, to: limit, on: $1, reply) }
    }

    func enter(
        _ screen: ScreenID, item: String, by caller: Caller, _ reply: @escaping Reply<Int>
    ) {
        with(screen, caller, reply) { $0.actions.enter(item, on: $1, reply) }
    }

    func setHidden(
        _ screen: ScreenID, component: String, _ isHidden: Bool, by caller: Caller,
        _ reply: @escaping Reply<Int>
    ) {
        with(screen, caller, reply) { $0.actions.setHidden(component, isHidden, on: $1, reply) }
    }

    func back(_ screen: ScreenID, by caller: Caller, _ reply: @escaping Reply<Int>) {
        with(screen, caller, reply) { $0.actions.back(on: $1, reply) }
    }

    func focus(
        _ screen: ScreenID, item: String?, by caller: Caller, _ reply: @escaping Reply<Int>
    ) {
        with(screen, caller, reply) { $0.actions.focus(on: item, of: $1, reply) }
    }

    func activate(
        _ screen: ScreenID, item: String, by caller: Caller, _ reply: @escaping Reply<Int64?>
    ) {
        with(screen, caller, reply) { $0.actions.activate(item, on: $1, reply) }
    }
}
