import AtriumKit
import Host
import JSONCodec

/// A screen as JSON, for the next process.
extension KeptScreen {
    var object: JSONObject {
        var value: JSONValue = [
            "screen": .string(id.text), "container": .string(container), "owner": .string(owner),
            "agent": .string(agent), "revision": .int(Int64(revision)),
            "search": .string(search), "sort": .array(sort.map { .string($0) }),
            "limit": .int(Int64(limit)),
        ]
        value["actor"] = actor.map { .string($0) }
        value["scope"] = scope.map { .string($0) }
        value["digest"] = digest.map { .int(Int64($0)) }
        value["subject"] = subject.map { .string($0) }
        value["selection"] = .object(
            selection.sections.sorted { $0.key < $1.key }.map {
                .init($0.key, .array($0.value.map { .string($0) }))
            })
        value["limits"] = .object(
            limits.sorted { $0.key < $1.key }.map { .init($0.key, .int(Int64($0.value))) })
        value["places"] = .array(
            path.map { ["component": .string($0.component), "item": .string($0.item)] })
        if !parts.isEmpty {
            value["parts"] = .object(
                parts.sorted { $0.key < $1.key }.map { .init($0.key, $0.value.object.value) })
        }
        if !hidden.isEmpty { value["hidden"] = .array(hidden.sorted().map { .string($0) }) }
        return JSONObject(value) ?? .empty
    }

    /// Decodes ``object(in:)``; nil for anything else.
    init?(_ value: JSONValue) {
        guard let id = value["screen"]?.string, let container = value["container"]?.string,
            let owner = value["owner"]?.string, let agent = value["agent"]?.string,
            let revision = value["revision"]?.int, let search = value["search"]?.string,
            let sort = value["sort"]?.array, let limit = value["limit"]?.int,
            let selection = value["selection"]?.object, let limits = value["limits"]?.object,
            let places = value["places"]?.array
        else { return nil }
        self.init(
            id: ScreenID(id), container: container, owner: owner, actor: value["actor"]?.string,
            agent: agent)
        self.revision = revision
        digest = value["digest"]?.int
        scope = value["scope"]?.string
        subject = value["subject"]?.string
        hidden = Set((value["hidden"]?.array ?? []).compactMap(\.string))
        for part in value["parts"]?.object ?? [] { parts[part.name] = KeptScreen(part.value) }
        self.search = search
        self.sort = sort.compactMap(\.string)
        self.limit = limit
        self.selection = Selection(
            Dictionary(
                selection.map { ($0.name, ($0.value.array ?? []).compactMap(\.string)) }
            ) { first, _ in first })
        self.limits = Dictionary(
            limits.compactMap { member in member.value.int.map { (member.name, $0) } }
        ) { first, _ in first }
        path = places.compactMap { place in
            guard let component = place["component"]?.string, let item = place["item"]?.string
            else { return nil }
            return PathItem(component: component, item: item)
        }
    }
}

/// A subscription as JSON, for the next process.
extension SubscriptionState {
    /// The subscription as an object: the call that would resume it, the store that its cursor is of, and the gaps
    /// still to be reported.
    func object(in store: String) -> JSONObject {
        [
            "topics": .array(patterns.map { .string($0) }), "after": .int(after),
            "store": .string(store),
            "restricted": .bool(seesRestricted),
            "gaps": .array(
                gaps.map {
                    [
                        "from": .int($0.from), "to": .int($0.to),
                        "reason": .string($0.reason.rawValue),
                    ]
                }),
        ]
    }

    /// Decodes ``object(in:)``; nil for anything else.
    init?(_ value: JSONValue) {
        guard let topics = value["topics"]?.array, let after = value["after"]?.int,
            let gaps = value["gaps"]?.array
        else { return nil }
        self.init(
            patterns: topics.compactMap(\.string), after: Int64(after),
            seesRestricted: value["restricted"]?.bool ?? false,
            gaps: gaps.compactMap { gap in
                guard let from = gap["from"]?.int, let to = gap["to"]?.int,
                    let reason = gap["reason"]?.string.flatMap(SubscriptionBatch.Gap.Reason.init)
                else { return nil }
                return .init(from: Int64(from), to: Int64(to), reason: reason)
            })
    }
}
