public import AtriumKit
import Index
import JSONCodec

extension Container {
    /// The items of the container's lists.
    public var contents: ContainerContents { ContainerContents(container: self) }
}

/// The items of a container's lists: reading them, their details and their pictures, putting and removing them.
///
/// A call names a contents component, or means the first one. What it reads is the committed state, from the index.
public struct ContainerContents {
    let container: Container

    private var domain: Domain { container.domain }

    /// The lists of all components.
    var lists: [ContentIndex] { container.slots.compactMap(\.list) }

    /// Reads a page of a list, with sections and counts if requested; all of it shows the same state.
    ///
    /// `isAwaited` is asked while the call waits for its turn, and between the steps of a long query; once it returns
    /// false the call is dropped, and may not be replied to.
    public func list(
        _ request: ListRequest, while isAwaited: @escaping () -> Bool = { true },
        _ reply: @escaping Answer<ListPage>
    ) {
        ListCall(request, of: container, while: isAwaited, reply).run()
    }

    /// The lists that may have children of a list's items: those that a screen shows inside an item, or without modes
    /// the list itself.
    ///
    /// Sources that are asked are left out: they have only those children that somebody happened to open.
    ///
    /// - Parameters:
    ///   - list: the list.
    ///   - scope: the scope; nil: the container's first, if it has any.
    ///   - hidden: the components that a screen hides, in addition to those that the definition hides.
    /// - Returns: the lists; empty if no children are counted.
    func nested(
        in list: ContentIndex, scope: String?, hiding hidden: Set<String> = []
    ) -> [ContentIndex] {
        let scope = container.scopes[scope]
        guard container.scopes.modes(in: scope)?.isByMode ?? false else {
            let isCounted =
                list.tree.hasChildren && !container.slots.contains { $0.asks && $0.list === list }
            return isCounted ? [list] : []
        }
        return container.scopes.lists(in: scope, .entered).filter {
            !$0.asks && !$0.isHidden(beside: hidden)
        }
        .compactMap(\.list).filter(\.tree.hasChildren)
    }

    /// Reads one item, with the details that its source has beyond its fields, and with an actor's ballot as `mine`;
    /// fails with `itemNotFound` or `componentUnavailable`.
    ///
    /// It may not reply at all if `isAwaited` returns false when its turn has come.
    public func get(
        _ item: String, in component: String?, actor: String?, by user: String = "",
        while isAwaited: @escaping () -> Bool = { true },
        _ reply: @escaping Answer<ItemResult>
    ) {
        let slot: Slot
        do throws(HostError) {
            let chosen = try container.list(component)
            slot = chosen.slot
            // As in ``Container/check(_:)``: an id in another Unicode form is unknown.
            guard chosen.list.contains(item), ItemID.isNormal(item) else {
                throw .itemNotFound(container: container.name, item: item)
            }
        } catch {
            return reply(.failure(error))
        }
        slot.requests.ask(
            Question(
                needsQuiet: true, by: user, while: isAwaited, make: { .details(item: item) }
            ) { result in
                switch result {
                case .failure(let error): reply(.failure(error))
                case .success(let answer):
                    guard case .details(let details) = answer else {
                        return reply(.failure(.wrongAnswer(of: slot.name)))
                    }
                    readItem(item, slot, details, actor: actor, by: user, reply)
                }
            }, for: slot)
    }

    private func readItem(
        _ item: String, _ slot: Slot, _ details: [String: Value]?, actor: String?, by user: String,
        _ reply: @escaping Answer<ItemResult>
    ) {
        var found: ItemResult?
        container.votes.withBallots(of: actor, by: user) {
            // Looked up by name: the component may have been made anew meanwhile.
            if let list = container.slot(slot.name)?.list, let row = list.item(item) {
                found = ItemResult(
                    item: ItemView(
                        row, nested: nested(in: list, scope: nil), derived: container.derived),
                    details: details?.jsonBytes, sequence: domain.commits.sequence)
            }
            return found == nil ? [] : [.item(item)]
        } then: { ballots in
            do throws(HostError) {
                let mine = try ballots.get().first.flatMap { $0 }?.value
                guard var found else { throw .itemNotFound(container: container.name, item: item) }
                found.item.votes?.mine = mine
                reply(.success(found))
            } catch {
                reply(.failure(error))
            }
        }
    }

    /// Reads the picture that a field of an item names; fails with `itemNotFound`, `fieldUnknown`, `refused` or
    /// `componentUnavailable`.
    public func image(
        of item: String, in component: String?, field: String, by user: String = "",
        _ reply: @escaping Answer<ItemImage>
    ) {
        do throws(HostError) {
            let (slot, list) = try container.list(component)
            let known = container.definition.fields.filter { $0.type == .image }.map(\.name)
            guard known.contains(field) else { throw .fieldUnknown(field: field, known: known) }
            guard let row = list.item(item), ItemID.isNormal(item) else {
                throw .itemNotFound(container: container.name, item: item)
            }
            guard let text = row.text(of: field) else {
                throw .refused(
                    reason: "The item '\(item)' has no picture in '\(field)'.", retryAfter: nil)
            }
            if text.hasPrefix(PictureText.sourceScheme) {
                return slot.images.read(of: item, field: field, by: user) { result in
                    reply(result.flatMap { present($0, of: item, in: slot.name, field, text) })
                }
            }
            guard text.prefix(5).lowercased() == "data:", let comma = text.firstIndex(of: ",")
            else {
                throw .refused(
                    reason: "The picture in '\(field)' is a URL; load it from there: "
                        + "\(text)", retryAfter: nil)
            }
            do throws(Refusal) {
                let image = try ItemImage(base64: String(text[text.index(after: comma)...]))
                reply(.success(image))
            } catch {
                throw .refused(reason: error.reason, retryAfter: nil)
            }
        } catch {
            reply(.failure(error))
        }
    }

    /// A picture that was read, if its item still exists and still names it.
    private func present(
        _ image: ItemImage, of item: String, in component: String, _ field: String, _ text: String
    ) -> Result<ItemImage, HostError> {
        guard let row = container.slot(component)?.list?.item(item) else {
            return .failure(.itemNotFound(container: container.name, item: item))
        }
        guard row.text(of: field) == text else {
            return .failure(
                .refused(
                    reason: "The picture in '\(field)' was replaced while it was read.",
                    retryAfter: 0))
        }
        return .success(image)
    }

    /// Makes a component, or all that are attached, reload their sources, each at most once a second; a reload that
    /// comes earlier is delayed.
    ///
    /// Throws `componentNotFound`, or `componentUnavailable` if the component is not attached.
    public func reload(_ component: String?) throws(HostError) {
        guard let component else {
            for slot in container.slots { slot.source.reload() }
            return
        }
        guard let slot = container.slot(component) else {
            throw .componentNotFound(container: container.name, component: component)
        }
        guard slot.isAttached else { throw slot.absence }
        slot.source.reload()
    }
}

// MARK: Putting and removing items

extension ContainerContents {
    /// Adds or replaces items, at most 1,000 and 1 MiB, all or none.
    ///
    /// Items that are unchanged keep their revision. It fails with `fieldInvalid`, `itemInvalid`, `revisionMismatch`,
    /// `readOnly` or `limitExceeded`.
    public func put(
        _ batch: ItemBatch, in component: String?, by caller: Caller,
        _ reply: @escaping Answer<PutResult>
    ) {
        do throws(HostError) {
            let (slot, _) = try container.list(component)
            try domain.limits.check(batch: batch.count)
            let command = PutCommand(batch, to: slot, of: container, by: caller, reply)
            if let problem = command.problem { throw problem }
            command.run(by: caller.user)
            command.checkOnThread()
        } catch {
            reply(.failure(error))
        }
    }

    /// Removes items; unknown ones are ignored.
    ///
    /// Ballots and comments on them are kept but hidden, and shown again if an item with the same id is added, unless
    /// they are purged, those of ids that don't exist any more, too. It fails with `readOnly` or `limitExceeded`.
    public func remove(
        _ items: [String], in component: String?, purge: Bool, by caller: Caller,
        _ reply: @escaping Answer<RemoveResult>
    ) {
        do throws(HostError) {
            let (slot, _) = try container.list(component)
            try domain.limits.check(batch: items.count)
            // Ids are stored in NFC only; another form compares equal in Swift, but matches no record.
            let items = items.filter(ItemID.isNormal)
            guard purge else {
                return RemoveCommand(items, from: slot, of: container, by: caller, reply)
                    .run(by: caller.user)
            }
            ItemPurge(items, from: slot.name, of: container, by: caller, reply).run()
        } catch {
            reply(.failure(error))
        }
    }
}

extension Slot {
    /// The order of its list if a request names none.
    func order(of index: ContentIndex) -> [SortKey] {
        definition.sort.map { SortKey($0) }.filter { index.isSortable(by: $0.field) }
    }
}

extension ListPresentation {
    init(_ slot: Slot, in container: Container) {
        let definition = container.definition
        self.init(
            title: slot.title,
            fields: definition.fields, present: slot.definition.present ?? definition.present,
            sort: slot.definition.sort, empty: slot.definition.empty,
            votes: container.first(.votes)?.facts(in: definition),
            comments: container.first(.comments)?.facts(in: definition))
    }
}

extension ItemView {
    /// An item as a call or a screen gets it, without anybody's ballot: with some of its fields, or all, and the
    /// number of its children in the `nested` lists.
    @inline(__always)
    init(
        _ row: IndexedItem, fields: Set<String>? = nil, nested: [ContentIndex],
        derived: DerivedFields
    ) {
        self.init(
            id: row.id, parent: row.parent,
            fields: Self.fields(fields, of: row),
            votes: derived.votes == nil ? nil : TallyView(tally: row.tally, mine: nil),
            comments: derived.comments == nil ? nil : row.comments,
            children: nested.children(of: row.id))
    }

    private static func fields(_ names: Set<String>?, of row: IndexedItem) -> [UInt8] {
        // Without a closure, which would copy the row.
        if let names { row.fields(named: names) } else { row.fields }
    }
}

extension ContainerDefinition {
    /// The fields that are left out of lists.
    var detailFields: Set<String> { Set(fields.lazy.filter(\.details).map(\.name)) }

    /// The fields of items in lists; nil: all.
    var listedFields: Set<String>? {
        guard fields.contains(where: \.details) else { return nil }
        return Set(fields.lazy.filter { !$0.details }.map(\.name))
    }
}

extension [ContentIndex] {
    /// The number of an item's children in all of these lists; nil if there are none.
    func children(of item: String) -> Int? {
        let count = reduce(0) { $0 + $1.tree.childCount(of: item) }
        return count == 0 ? nil : count
    }
}

extension ContentIndex {
    /// Builds, in slices, the sort orders that its queries have asked for.
    func growOrders(in domain: Domain) {
        guard orders.claim() else { return }
        // Not at once: the present turn of the loop has just answered the query.
        domain.timers.afterPoll { [domain, self] in
            // The list is kept until then: its end is what frees its memory on another thread.
            domain.slices.run { [self] in
                orders.grow()
            } then: { [self] in
                orders.release()
            }
        }
    }

    /// Prepares the answer to a query in slices, for as long as `isAwaited` returns true; `then` is called with it, and
    /// is to read it at once.
    func prepare(
        _ query: IndexQuery, of slot: Slot, while isAwaited: @escaping () -> Bool,
        then: @escaping Answer<QueryPreparation>
    ) {
        let prepared: QueryPreparation
        do {
            prepared = try QueryPreparation(query, in: self)
        } catch {
            return then(.failure(HostError(error)))
        }
        slot.domain.slices.run {
            isAwaited() && prepared.step()
        } then: {
            guard isAwaited() else { return then(.failure(LongQueries.abandoned)) }
            guard prepared.isHopeless else { return then(.success(prepared)) }
            then(.failure(slot.tooBusy))
        }
    }

    /// Answers a query; nil if it must be prepared in slices.
    ///
    /// Throws the host's errors.
    func answer(_ query: IndexQuery) throws(HostError) -> IndexPage? {
        do {
            return try page(of: query)
        } catch {
            throw HostError(error)
        }
    }
}

extension IndexedItem {
    /// The text in a field; nil if there is none.
    fileprivate func text(of field: String) -> String? {
        let value = try? JSON.decode(Value.self, from: fields(named: [field]))
        return value?.object?[field]?.text
    }
}
