internal import AtriumKit
internal import Host

// Events, commands, queries and their answers.

extension ComponentEvent: WireCodable {
    var wire: Value {
        switch self {
        case .contents(let change): .wire("contents", ["change": change])
        case .didSelect(let filter, let section, let selection, let screen):
            .wire(
                "didSelect",
                [
                    "filter": filter, "section": section, "selection": selection,
                    "screen": screen,
                ])
        case .didDeselect(let filter, let section, let selection, let screen):
            .wire(
                "didDeselect",
                [
                    "filter": filter, "section": section, "selection": selection,
                    "screen": screen,
                ])
        case .didClear(let screen): .wire("didClear", ["screen": screen])
        case .tally(let subject, let tally):
            .wire("tally", ["subject": subject, "tally": tally])
        case .didPost(let comment): .wire("didPost", ["comment": comment])
        case .didEdit(let comment): .wire("didEdit", ["comment": comment])
        case .didRemove(let comment): .wire("didRemove", ["comment": comment])
        case .commentCount(let subject, let count):
            .wire("commentCount", ["subject": subject, "count": count])
        }
    }

    init(wire: Value) throws(WireError) {
        let object = try WireObject(wire)
        switch try object.caseName() {
        case "contents": self = .contents(try object("change"))
        case "didSelect":
            self = .didSelect(
                filter: try object("filter"), section: try object("section"),
                selection: try object("selection"), screen: try object("screen"))
        case "didDeselect":
            self = .didDeselect(
                filter: try object("filter"), section: try object("section"),
                selection: try object("selection"), screen: try object("screen"))
        case "didClear": self = .didClear(screen: try object("screen"))
        case "tally": self = .tally(try object("subject"), try object("tally"))
        case "didPost": self = .didPost(try object("comment"))
        case "didEdit": self = .didEdit(try object("comment"))
        case "didRemove": self = .didRemove(try object("comment"))
        case "commentCount":
            self = .commentCount(try object("subject"), try object("count"))
        default: throw object.unknownCase(of: "ComponentEvent")
        }
    }
}

/// Only the picture's bytes are sent; its type is determined from them when it is decoded.
extension ItemImage: WireCodable {
    var wire: Value { base64.wire }

    init(wire: Value) throws(WireError) {
        let text = try String(wire: wire)
        do throws(Refusal) {
            try self.init(base64: text)
        } catch {
            throw WireError(expected: "a picture", found: error.reason)
        }
    }
}

extension ComponentFacts: WireCodable {
    var wire: Value {
        switch self {
        case .votes(let facts): .wire("votes", ["facts": facts])
        case .comments(let facts): .wire("comments", ["facts": facts])
        }
    }

    init(wire: Value) throws(WireError) {
        let object = try WireObject(wire)
        switch try object.caseName() {
        case "votes": self = .votes(try object("facts"))
        case "comments": self = .comments(try object("facts"))
        default: throw object.unknownCase(of: "ComponentFacts")
        }
    }
}

extension ComponentQuery.FilterID: WireCodable {
    var wire: Value { .wire(members: ["section": section, "filter": filter]) }

    init(wire: Value) throws(WireError) {
        let object = try WireObject(wire)
        self.init(section: try object("section"), filter: try object("filter"))
    }
}

extension ComponentQuery: WireCodable {
    var wire: Value {
        switch self {
        case .canTake(let settings): .wire(name, ["settings": settings])
        case .details(let item): .wire(name, ["item": item])
        case .sections: .wire(name)
        case .filters(let ids): .wire(name, ["ids": ids])
        case .select(let id, let selection, let screen),
            .deselect(let id, let selection, let screen):
            .wire(name, ["id": id, "selection": selection, "screen": screen])
        case .clear(let selection, let screen):
            .wire(name, ["selection": selection, "screen": screen])
        case .ballotsOf(let actor, let subjects):
            .wire(name, ["actor": actor, "subjects": subjects])
        case .ballots(let subject, let after, let limit):
            .wire(name, ["subject": subject, "after": after, "limit": limit])
        case .comment(let id): .wire(name, ["id": id])
        case .thread(let query): .wire(name, ["query": query])
        case .pendingComments(let limit, let cursor):
            .wire(name, ["limit": limit, "cursor": cursor])
        case .recordKeys(let subjects): .wire(name, ["subjects": subjects])
        case .recordKeyPage(let subjects, let after, let limit):
            .wire(name, ["subjects": subjects, "after": after, "limit": limit])
        }
    }

    init(wire: Value) throws(WireError) {
        let object = try WireObject(wire)
        switch try object.caseName() {
        case "canTake": self = .canTake(try object("settings"))
        case "details": self = .details(item: try object("item"))
        case "sections": self = .sections
        case "filters": self = .filters(try object("ids"))
        case "select":
            self = .select(
                try object("id"), of: try object("selection"), screen: try object("screen"))
        case "deselect":
            self = .deselect(
                try object("id"), of: try object("selection"), screen: try object("screen"))
        case "clear":
            self = .clear(try object("selection"), screen: try object("screen"))
        case "ballotsOf":
            self = .ballotsOf(try object("actor"), subjects: try object("subjects"))
        case "ballots":
            self = .ballots(
                try object("subject"), after: try object("after"), limit: try object("limit"))
        case "comment": self = .comment(id: try object("id"))
        case "thread": self = .thread(try object("query"))
        case "pendingComments":
            self = .pendingComments(limit: try object("limit"), cursor: try object("cursor"))
        case "recordKeys": self = .recordKeys(try object("subjects"))
        case "recordKeyPage":
            self = .recordKeyPage(
                try object("subjects"), after: try object("after"), limit: try object("limit"))
        default: throw object.unknownCase(of: "ComponentQuery")
        }
    }
}

extension ComponentAnswer: WireCodable {
    var wire: Value {
        switch self {
        case .canTake(let can): .wire("canTake", ["can": can])
        case .details(let details): .wire("details", ["details": details])
        case .sections(let sections): .wire("sections", ["sections": sections])
        case .filters(let filters): .wire("filters", ["filters": filters])
        case .selection(let selection, let events):
            .wire("selection", ["selection": selection, "events": events])
        case .ballotsOf(let ballots): .wire("ballotsOf", ["ballots": ballots])
        case .ballots(let ballots): .wire("ballots", ["ballots": ballots])
        case .comment(let entry): .wire("comment", ["entry": entry])
        case .thread(let page): .wire("thread", ["page": page])
        case .recordKeys(let keys): .wire("recordKeys", ["keys": keys])
        }
    }

    init(wire: Value) throws(WireError) {
        let object = try WireObject(wire)
        switch try object.caseName() {
        case "canTake": self = .canTake(try object("can"))
        case "details": self = .details(try object("details"))
        case "sections": self = .sections(try object("sections"))
        case "filters": self = .filters(try object("filters"))
        case "selection":
            self = .selection(try object("selection"), events: try object("events"))
        case "ballotsOf": self = .ballotsOf(try object("ballots"))
        case "ballots": self = .ballots(try object("ballots"))
        case "comment": self = .comment(try object("entry"))
        case "thread": self = .thread(try object("page"))
        case "recordKeys": self = .recordKeys(try object("keys"))
        default: throw object.unknownCase(of: "ComponentAnswer")
        }
    }
}
