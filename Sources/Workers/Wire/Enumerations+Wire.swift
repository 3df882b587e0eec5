internal import AtriumKit
internal import Host

// The kit's enumerations: each is an object, whose `case` names the case.

extension Change: WireCodable {
    var wire: Value {
        switch self {
        case .put(let key, let value): .wire("put", ["key": key, "value": value])
        case .removed(let key): .wire("removed", ["key": key])
        }
    }

    init(wire: Value) throws(WireError) {
        let object = try WireObject(wire)
        switch try object.caseName() {
        case "put": self = .put(key: try object("key"), value: try object("value"))
        case "removed": self = .removed(key: try object("key"))
        default: throw object.unknownCase(of: "Change")
        }
    }
}

extension ContentChange: WireCodable {
    var wire: Value {
        switch self {
        case .insert(let items): .wire("insert", ["items": items])
        case .update(let items): .wire("update", ["items": items])
        case .remove(let ids): .wire("remove", ["ids": ids])
        case .replaceAll: .wire("replaceAll")
        @unknown default: .wire("unknown")
        }
    }

    init(wire: Value) throws(WireError) {
        let object = try WireObject(wire)
        switch try object.caseName() {
        case "insert": self = .insert(try object("items"))
        case "update": self = .update(try object("items"))
        case "remove": self = .remove(try object("ids"))
        case "replaceAll": self = .replaceAll
        default: throw object.unknownCase(of: "ContentChange")
        }
    }
}

extension Predicate.Bound: WireCodable {
    var wire: Value { .wire(members: ["value": value, "isIncluded": isIncluded]) }

    init(wire: Value) throws(WireError) {
        let object = try WireObject(wire)
        self.init(try object("value"), isIncluded: try object("isIncluded"))
    }
}

extension Predicate: WireCodable {
    var wire: Value {
        switch self {
        case .all: .wire("all")
        case .equals(let field, let value): .wire("equals", ["field": field, "value": value])
        case .range(let field, let lower, let upper):
            .wire("range", ["field": field, "lower": lower, "upper": upper])
        case .contains(let field, let text): .wire("contains", ["field": field, "text": text])
        case .and(let parts): .wire("and", ["parts": parts])
        case .or(let parts): .wire("or", ["parts": parts])
        case .not(let part): .wire("not", ["part": part])
        @unknown default: .wire("unknown")
        }
    }

    init(wire: Value) throws(WireError) {
        let object = try WireObject(wire)
        switch try object.caseName() {
        case "all": self = .all
        case "equals": self = .equals(field: try object("field"), value: try object("value"))
        case "range":
            self = .range(
                field: try object("field"), lower: try object("lower"),
                upper: try object("upper"))
        case "contains": self = .contains(field: try object("field"), text: try object("text"))
        case "and": self = .and(try object("parts"))
        case "or": self = .or(try object("parts"))
        case "not": self = .not(try object("part"))
        default: throw object.unknownCase(of: "Predicate")
        }
    }
}

extension ComponentCommand: WireCodable {
    var wire: Value {
        switch self {
        case .putItems(let items): .wire(name, ["items": items])
        case .removeItems(let ids): .wire(name, ["ids": ids])
        case .castBallot(let subject, let value):
            .wire(name, ["subject": subject, "value": value])
        case .retractBallot(let subject): .wire(name, ["subject": subject])
        case .postComment(let draft): .wire(name, ["draft": draft])
        case .editComment(let id, let text): .wire(name, ["id": id, "text": text])
        case .deleteComment(let id): .wire(name, ["id": id])
        case .moderateComment(let id, let state, let reason, let seen):
            .wire(name, ["id": id, "state": state, "reason": reason, "seen": seen])
        case .restoreRecords(let changes): .wire(name, ["changes": changes])
        }
    }

    init(wire: Value) throws(WireError) {
        let object = try WireObject(wire)
        switch try object.caseName() {
        case "putItems": self = .putItems(try object("items"))
        case "removeItems": self = .removeItems(try object("ids"))
        case "castBallot":
            self = .castBallot(subject: try object("subject"), value: try object("value"))
        case "retractBallot": self = .retractBallot(subject: try object("subject"))
        case "postComment": self = .postComment(try object("draft"))
        case "editComment": self = .editComment(id: try object("id"), text: try object("text"))
        case "deleteComment": self = .deleteComment(id: try object("id"))
        case "moderateComment":
            self = .moderateComment(
                id: try object("id"), state: try object("state"), reason: try object("reason"),
                seen: try object("seen"))
        case "restoreRecords": self = .restoreRecords(try object("changes"))
        default: throw object.unknownCase(of: "ComponentCommand")
        }
    }
}

extension Decision: WireCodable {
    var wire: Value {
        .wire(members: ["changes": changes, "answer": answer, "events": events])
    }

    convenience init(wire: Value) throws(WireError) {
        let object = try WireObject(wire)
        self.init(
            changes: try object("changes"), answer: try object("answer"),
            events: try object("events"))
    }
}

extension Decision.Answer: WireCodable {
    var wire: Value {
        switch self {
        case .items(let inserted, let updated, let unchanged):
            .wire(
                "items", ["inserted": inserted, "updated": updated, "unchanged": unchanged])
        case .removed(let ids): .wire("removed", ["ids": ids])
        case .ballot(let tally, let previous, let current):
            .wire("ballot", ["tally": tally, "previous": previous, "current": current])
        case .comment(let entry): .wire("comment", ["entry": entry])
        case .restored(let count): .wire("restored", ["count": count])
        }
    }

    init(wire: Value) throws(WireError) {
        let object = try WireObject(wire)
        switch try object.caseName() {
        case "items":
            self = .items(
                inserted: try object("inserted"), updated: try object("updated"),
                unchanged: try object("unchanged"))
        case "removed": self = .removed(try object("ids"))
        case "ballot":
            self = .ballot(
                tally: try object("tally"), previous: try object("previous"),
                current: try object("current"))
        case "comment": self = .comment(try object("entry"))
        case "restored": self = .restored(try object("count"))
        default: throw object.unknownCase(of: "Decision.Answer")
        }
    }
}
