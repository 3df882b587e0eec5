internal import AtriumKit
internal import JSONCodec

extension WorkerAnswer {
    /// Reads the decision on a vote without the containers of `Decodable`, which take as long as the rest of the vote.
    ///
    /// Nil if the answer is another one or can't be read: then `Decodable` reads it, or throws the error.
    init?(decisionOnVote answer: JSONValue) {
        guard let decision = answer["decided"]?["_0"], let ballot = decision["answer"]?["ballot"],
            let tally = ballot["tally"].flatMap(Tally.init(read:)),
            let previous = Double?(read: ballot["previous"]),
            let current = Double?(read: ballot["current"]),
            let changes = [Change](decision["changes"], Change.init(read:)),
            let events = [ComponentEvent](decision["events"], ComponentEvent.init(tally:))
        else { return nil }
        self = .decided(
            Decision(
                changes: changes,
                answer: .ballot(tally: tally, previous: previous, current: current),
                events: events))
    }
}

extension Change {
    fileprivate init?(read change: JSONValue) {
        if let put = change["put"], let key = put["key"]?.string,
            let value = try? put["value"]?.plain()
        {
            self = .put(key: key, value: value)
        } else if let key = change["removed"]?["key"]?.string {
            self = .removed(key: key)
        } else {
            return nil
        }
    }
}

extension ComponentEvent {
    fileprivate init?(tally event: JSONValue) {
        // The container's subject is null, and so is no text.
        guard let event = event["tally"], let item = event["_0"]?.string,
            let tally = event["_1"].flatMap(Tally.init(read:))
        else { return nil }
        self = .tally(.item(item), tally)
    }
}

extension Tally {
    fileprivate init?(read tally: JSONValue) {
        guard let count = tally["count"]?.int, let score = Double?(read: tally["score"]),
            case .object(let members)? = tally["histogram"]
        else { return nil }
        var histogram: [String: Int] = [:]
        for member in members {
            guard let count = member.value.int,
                histogram.updateValue(count, forKey: member.name) == nil
            else { return nil }
        }
        self.init(count: count, score: score, histogram: histogram)
    }
}

extension Double? {
    /// A number that may be absent; nil: it is neither.
    fileprivate init?(read number: JSONValue?) {
        switch number {
        case nil, .null?: self = nil
        case .double(let number)?: self = number
        default: return nil
        }
    }
}

extension Array {
    fileprivate init?(_ list: JSONValue?, _ read: (JSONValue) -> Element?) {
        guard case .array(let elements)? = list else { return nil }
        self = []
        reserveCapacity(elements.count)
        for element in elements {
            guard let element = read(element) else { return nil }
            append(element)
        }
    }
}
