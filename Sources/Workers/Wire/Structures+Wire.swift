internal import AtriumKit

// The kit's structures, member by member.

extension Item: WireCodable {
    var wire: Value { .wire(members: ["id": id, "fields": fields, "parent": parent]) }

    init(wire: Value) throws(WireError) {
        let object = try WireObject(wire)
        self.init(
            id: try object("id"), fields: try object("fields"), parent: try object("parent"))
    }
}

extension ContentQuestion: WireCodable {
    var wire: Value {
        .wire(members: [
            "search": search, "selection": selection, "path": path, "sort": sort, "limit": limit,
            "cursor": cursor,
        ])
    }

    init(wire: Value) throws(WireError) {
        let object = try WireObject(wire)
        self.init(
            search: try object("search"), selection: try object("selection"),
            path: try object("path"), sort: try object("sort"), limit: try object("limit"),
            cursor: try object("cursor"))
    }
}

extension ContentAnswer: WireCodable {
    var wire: Value { .wire(members: ["items": items, "total": total, "next": next]) }

    init(wire: Value) throws(WireError) {
        let object = try WireObject(wire)
        self.init(
            items: try object("items"), total: try object("total"), next: try object("next"))
    }
}

extension Ballot: WireCodable {
    var wire: Value {
        .wire(members: ["subject": subject, "actor": actor, "value": value, "cast": cast])
    }

    init(wire: Value) throws(WireError) {
        let object = try WireObject(wire)
        self.init(
            subject: try object("subject"), actor: try object("actor"),
            value: try object("value"), cast: try object("cast"))
    }
}

extension Tally: WireCodable {
    var wire: Value {
        .wire(members: ["count": count, "score": score, "histogram": histogram])
    }

    init(wire: Value) throws(WireError) {
        let object = try WireObject(wire)
        self.init(
            count: try object("count"), score: try object("score"),
            histogram: try object("histogram"))
    }
}

extension Comment: WireCodable {
    var wire: Value {
        .wire(members: [
            "id": id, "subject": subject, "parent": parent, "author": author, "text": text,
            "state": state, "created": created, "edited": edited, "fingerprint": fingerprint,
            "reason": reason, "moderator": moderator,
        ])
    }

    init(wire: Value) throws(WireError) {
        let object = try WireObject(wire)
        self.init(
            id: try object("id"), subject: try object("subject"), parent: try object("parent"),
            author: try object("author"), text: try object("text"), state: try object("state"),
            created: try object("created"), edited: try object("edited"),
            fingerprint: try object("fingerprint"))
        reason = try object("reason")
        moderator = try object("moderator")
    }
}

extension CommentDraft: WireCodable {
    var wire: Value {
        .wire(members: ["id": id, "subject": subject, "parent": parent, "text": text])
    }

    init(wire: Value) throws(WireError) {
        let object = try WireObject(wire)
        self.init(
            id: try object("id"), subject: try object("subject"), parent: try object("parent"),
            text: try object("text"))
    }
}

extension ThreadQuery: WireCodable {
    var wire: Value {
        .wire(members: [
            "subject": subject, "root": root, "order": order, "depth": depth, "limit": limit,
            "cursor": cursor, "tellsHeld": tellsHeld,
        ])
    }

    init(wire: Value) throws(WireError) {
        let object = try WireObject(wire)
        self.init(
            subject: try object("subject"), root: try object("root"), order: try object("order"),
            depth: try object("depth"), limit: try object("limit"), cursor: try object("cursor"))
        tellsHeld = try object("tellsHeld")
    }
}

extension ThreadPage: WireCodable {
    var wire: Value {
        .wire(members: ["entries": entries, "total": total, "next": next, "held": held])
    }

    init(wire: Value) throws(WireError) {
        let object = try WireObject(wire)
        self.init(
            entries: try object("entries"), total: try object("total"), next: try object("next"))
        held = try object("held")
    }
}

extension ThreadPage.Entry: WireCodable {
    var wire: Value {
        .wire(members: ["comment": comment, "depth": depth, "replies": replies, "more": more])
    }

    init(wire: Value) throws(WireError) {
        let object = try WireObject(wire)
        self.init(
            comment: try object("comment"), depth: try object("depth"),
            replies: try object("replies"), more: try object("more"))
    }
}

extension Filter: WireCodable {
    var wire: Value {
        .wire(members: [
            "id": id, "title": title, "predicate": predicate, "presentOf": presentOf,
        ])
    }

    init(wire: Value) throws(WireError) {
        let object = try WireObject(wire)
        if let field: String = try object("presentOf") {
            self.init(id: try object("id"), title: try object("title"), presentOf: field)
            return
        }
        self.init(
            id: try object("id"), title: try object("title"),
            predicate: try object("predicate"))
    }
}

extension FilterSection: WireCodable {
    var wire: Value {
        .wire(members: [
            "id": id, "title": title, "input": input, "filters": filters, "hasMore": hasMore,
            "weekOf": weekOf,
        ])
    }

    init(wire: Value) throws(WireError) {
        let object = try WireObject(wire)
        self.init(
            id: try object("id"), title: try object("title"), input: try object("input"),
            filters: try object("filters"))
        hasMore = try object("hasMore")
        weekOf = try object("weekOf")
    }
}

extension Selection: WireCodable {
    var wire: Value { sections.wire }
    init(wire: Value) throws(WireError) { self.init(try [String: [String]](wire: wire)) }
}

extension Field: WireCodable {
    var wire: Value {
        .wire(members: [
            "name": name, "type": type, "required": required, "search": search, "min": min,
            "max": max, "title": title, "unit": unit, "summary": summary, "derivation": derivation,
            "zone": zone, "details": details,
        ])
    }

    init(wire: Value) throws(WireError) {
        let object = try WireObject(wire)
        self.init(
            name: try object("name"), type: try object("type"),
            required: try object("required"), search: try object("search"),
            min: try object("min"), max: try object("max"), title: try object("title"),
            unit: try object("unit"), summary: try object("summary"),
            details: try object("details"))
        derivation = try object("derivation")
        zone = try object("zone")
    }
}

extension Field.Derivation: WireCodable {
    var wire: Value { .wire(members: ["of": of, "by": by, "zone": zone]) }

    init(wire: Value) throws(WireError) {
        let object = try WireObject(wire)
        self.init(of: try object("of"), by: try object("by"), zone: try object("zone"))
    }
}

extension VoteFacts: WireCodable {
    var wire: Value {
        .wire(members: ["min": min, "max": max, "step": step, "subjects": subjects.inOrder])
    }

    init(wire: Value) throws(WireError) {
        let object = try WireObject(wire)
        let subjects: [SubjectKind] = try object("subjects")
        self.init(
            min: try object("min"), max: try object("max"), step: try object("step"),
            subjects: Set(subjects))
    }
}

extension CommentFacts: WireCodable {
    var wire: Value {
        .wire(members: [
            "maxLength": maxLength, "moderated": moderated, "subjects": subjects.inOrder,
        ])
    }

    init(wire: Value) throws(WireError) {
        let object = try WireObject(wire)
        let subjects: [SubjectKind] = try object("subjects")
        self.init(
            maxLength: try object("maxLength"), moderated: try object("moderated"),
            subjects: Set(subjects))
    }
}

extension Set<SubjectKind> {
    fileprivate var inOrder: [SubjectKind] { SubjectKind.allCases.filter(contains) }
}

extension CommandContext: WireCodable {
    var wire: Value {
        .wire(members: [
            "actor": actor, "time": time, "freshID": freshID, "isModerator": isModerator,
            "order": order,
        ])
    }

    init(wire: Value) throws(WireError) {
        let object = try WireObject(wire)
        self.init(
            actor: try object("actor"), time: try object("time"),
            freshID: try object("freshID"), isModerator: try object("isModerator"),
            order: try object("order"))
    }
}

extension Notification: WireCodable {
    var wire: Value {
        .wire(members: [
            "sequence": sequence, "time": time, "topic": topic, "payload": payload,
        ])
    }

    init(wire: Value) throws(WireError) {
        let object = try WireObject(wire)
        self.init(
            sequence: try object("sequence"), time: try object("time"),
            topic: try object("topic"), payload: try object("payload"))
    }
}

extension Refusal: WireCodable {
    var wire: Value {
        .wire(members: [
            "code": code, "reason": reason, "retryAfter": retryAfter, "evidence": evidence,
        ])
    }

    init(wire: Value) throws(WireError) {
        let object = try WireObject(wire)
        self.init(
            try object("code"), try object("reason"), retryAfter: try object("retryAfter"),
            evidence: try object("evidence"))
    }
}

extension SettingError: WireCodable {
    var wire: Value { .wire(members: ["setting": setting, "reason": reason]) }

    init(wire: Value) throws(WireError) {
        let object = try WireObject(wire)
        self.init(try object("setting"), try object("reason"))
    }
}
