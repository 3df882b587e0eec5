import AtriumKit

// The result of a step, as a value that is compared with an example's.

extension Value {
    /// Returns the difference between a found and an expected value: all elements of lists are compared, and the
    /// expected members of objects.
    func difference(from expected: Value, at path: String) -> String? {
        let place = path.isEmpty ? "it" : path
        switch (self, expected) {
        case (.object(let found), .object(let members)):
            for (name, member) in members.sorted(by: { $0.key < $1.key }) {
                if let difference = (found[name] ?? .null).difference(
                    from: member, at: path.isEmpty ? name : "\(path).\(name)")
                {
                    return difference
                }
            }
            return nil
        case (.list(let found), .list(let elements)) where found.count == elements.count:
            for (index, element) in elements.enumerated() {
                if let difference = found[index].difference(from: element, at: "\(path)[\(index)]")
                {
                    return difference
                }
            }
            return nil
        default:
            if let number = number, let other = expected.number, abs(number - other) < 1e-9 {
                return nil
            }
            return self == expected
                ? nil : "\(place) is \(exampleText); expected was \(expected.exampleText)"
        }
    }

    /// The value as JSON.
    var exampleText: String {
        switch self {
        case .list(let elements):
            "[\(elements.map(\.exampleText).joined(separator: ", "))]"
        case .object(let members):
            "{\(members.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value.exampleText)" }.joined(separator: ", "))}"
        case .text(let text): "\"\(text)\""
        case .null: "null"
        default: plainText ?? typeName
        }
    }

    /// Records by key, null for none.
    var exampleChanges: [Change] {
        (object ?? [:]).sorted { $0.key < $1.key }.map { key, value in
            value.isNull ? .removed(key: key) : .put(key: key, value: value)
        }
    }

    fileprivate init(_ text: String?) { self = text.map { .text($0) } ?? .null }
}

extension Item {
    init(example value: Value) {
        let members = value.object ?? [:]
        self.init(
            id: members["id"]?.text ?? "", fields: members["fields"]?.object ?? [:],
            parent: members["parent"]?.text)
    }

    var example: Value {
        .object(["id": .text(id), "fields": .object(fields), "parent": Value(parent)])
    }
}

extension Decision {
    var example: Value {
        var members: [String: Value] = [
            "changes": .list(changes.map { .text($0.key) }), "events": .list(events.map(\.example)),
        ]
        switch answer {
        case .items(let inserted, let updated, let unchanged):
            members["inserted"] = .list(inserted.map { .text($0) })
            members["updated"] = .list(updated.map { .text($0) })
            members["unchanged"] = .int(Int64(unchanged))
        case .removed(let ids): members["removed"] = .list(ids.map { .text($0) })
        case .ballot(let tally, let previous, let current):
            members["tally"] = tally.example
            members["previous"] = previous.map { .number($0) } ?? .null
            members["current"] = current.map { .number($0) } ?? .null
        case .comment(let entry): members["comment"] = entry.example
        case .restored(let count): members["restored"] = .int(Int64(count))
        @unknown default: break
        }
        return .object(members)
    }
}

extension ComponentEvent {
    fileprivate var example: Value {
        switch self {
        case .contents(.insert(let items)): ["inserted": .list(items.map { .text($0.id) })]
        case .contents(.update(let items)): ["updated": .list(items.map { .text($0.id) })]
        case .contents(.remove(let ids)): ["removed": .list(ids.map { .text($0) })]
        case .contents(.replaceAll): "replaced"
        case .contents: "contents"
        case .didSelect(let filter, let section, _, _):
            ["selected": .text(filter), "section": .text(section)]
        case .didDeselect(let filter, let section, _, _):
            ["deselected": .text(filter), "section": .text(section)]
        case .didClear: "cleared"
        case .tally(let subject, let tally): ["tally": tally.example, "item": Value(subject.item)]
        case .didPost(let comment): ["posted": .text(comment.id)]
        case .didEdit(let comment): ["edited": .text(comment.id)]
        case .didRemove(let comment):
            [
                "removed": .text(comment.id), "text": Value(comment.text),
                "author": comment.author.example,
            ]
        case .commentCount(let subject, let count):
            ["count": .int(Int64(count)), "item": Value(subject.item)]
        }
    }
}

extension Tally {
    var example: Value {
        [
            "count": .int(Int64(count)), "score": score.map { .number($0) } ?? .null,
            "histogram": .object(histogram.mapValues { .int(Int64($0)) }),
        ]
    }
}

extension ActorID? {
    fileprivate var example: Value { map { .int($0.number) } ?? .null }
}

extension ThreadPage.Entry {
    fileprivate var example: Value {
        [
            "id": .text(comment.id), "depth": .int(Int64(depth)), "replies": .int(Int64(replies)),
            "more": Value(more), "state": .text(comment.state.rawValue),
            "text": Value(comment.text),
            "author": comment.author.example, "parent": Value(comment.parent),
            "reason": Value(comment.reason), "moderator": comment.moderator.example,
            "fingerprint": .text(comment.fingerprint),
            "edited": comment.edited.map { .int($0.milliseconds) } ?? .null,
        ]
    }
}

extension Selection {
    var example: Value { .object(sections.mapValues { .list($0.map { .text($0) }) }) }
}

extension ComponentFacts {
    var example: Value {
        switch self {
        case .votes(let facts):
            [
                "min": facts.min.map { .number($0) } ?? .null,
                "max": facts.max.map { .number($0) } ?? .null,
                "step": facts.step.map { .number($0) } ?? .null, "subjects": names(facts.subjects),
            ]
        case .comments(let facts):
            [
                "maxLength": facts.maxLength.map { .int(Int64($0)) } ?? .null,
                "moderated": .bool(facts.moderated), "subjects": names(facts.subjects),
            ]
        }
    }

    private func names(_ subjects: Set<SubjectKind>) -> Value {
        .list(subjects.map(\.rawValue).sorted().map { .text($0) })
    }
}

extension ComponentAnswer {
    var example: Value {
        switch self {
        case .canTake(let can): .bool(can)
        case .details(let details): details.map { .object($0) } ?? .null
        case .sections(let sections): .list(sections.map(\.example))
        case .filters(let filters): filters.first?.example ?? .null
        case .selection(let selection, let events):
            ["selection": selection.example, "events": .list(events.map(\.example))]
        case .ballotsOf(let ballots): .list(ballots.map { $0?.example ?? .null })
        case .ballots(let ballots): .list(ballots.map(\.example))
        case .comment(let entry): entry?.example ?? .null
        case .thread(let page):
            [
                "entries": .list(page.entries.map(\.example)), "total": .int(Int64(page.total)),
                "next": Value(page.next), "held": .list(page.held.map(\.example)),
            ]
        case .recordKeys(let keys): .list(keys.map { .text($0) })
        }
    }
}

extension Ballot {
    fileprivate var example: Value {
        [
            "actor": .int(actor.number), "value": .number(value), "cast": .int(cast.milliseconds),
        ]
    }
}

extension FilterSection {
    fileprivate var example: Value {
        [
            "id": .text(id), "title": .text(title), "input": .text(input.rawValue),
            "filters": .list(filters.map(\.example)), "hasMore": .bool(hasMore),
            "weekOf": Value(weekOf),
        ]
    }
}

extension Filter {
    fileprivate var example: Value {
        [
            "id": .text(id), "title": .text(title), "predicate": predicate.example,
            "presentOf": Value(presentOf),
        ]
    }
}

extension Predicate {
    fileprivate var example: Value {
        switch self {
        case .all: "all"
        case .equals(let field, let value): ["field": .text(field), "equals": value]
        case .range(let field, let lower, let upper):
            ["field": .text(field), "from": lower.example, "to": upper.example]
        case .contains(let field, let text): ["field": .text(field), "contains": .text(text)]
        case .and(let parts): ["and": .list(parts.map(\.example))]
        case .or(let parts): ["or": .list(parts.map(\.example))]
        case .not(let part): ["not": part.example]
        @unknown default: "unknown"
        }
    }
}

extension Predicate.Bound? {
    fileprivate var example: Value {
        map { ["value": .number($0.value), "isIncluded": .bool($0.isIncluded)] } ?? .null
    }
}
