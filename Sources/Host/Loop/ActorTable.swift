import AtriumKit
import DequeModule
import Store

/// The people whom the host knows, by number and by name.
///
/// A new one is known here at once and in the store with the first entry that names them: until an
/// entry with them is committed, each carries them. Whoever is not in the store is known as long as
/// something under way names them, so that calls which are refused leave nothing behind.
final class ActorTable {
    private var numbers = SplitDictionary<String, ActorID>()
    private var names = SplitDictionary<ActorID, String>()
    /// Those who were erased, or are about to be: nothing else takes a name from a number.
    private var erased: Set<ActorID> = []
    /// Those whom the store does not hold, each with how much names them.
    private var guests: [ActorID: Int] = [:]
    /// New ones, whom nothing may name yet.
    private var idle: [ActorID] = []
    /// Whom recent notifications name that are not stored.
    private var heard: Deque<ActorID> = []
    /// How many are known of each namespace but the system's own users.
    private var people: [String: Int] = [:]
    /// How many people are known.
    var count: Int { names.count }

    /// Takes in what the store holds; an erased person keeps the number and has no name.
    func load(_ actors: [Actor]) {
        for actor in actors {
            let id = ActorID(actor.number)
            if actor.name.isEmpty { erased.insert(id) } else { know(id, actor.name) }
        }
    }

    /// The number of a person whom something is going to name, a new one when they never acted: known
    /// until they are stored, or released.
    func admit(_ name: String) -> ActorID {
        let id = number(ofNew: name)
        hold(id)
        return id
    }

    /// The number of a person whom something may name, a new one when they never acted: known until
    /// ``forgetIdle()``, or as long as they are held.
    func meet(_ name: String) -> ActorID {
        let id = number(ofNew: name)
        if guests[id] == 0 { idle.append(id) }
        return id
    }

    /// Something names this person.
    ///
    /// - Returns: whether it has to say when it does no more, since the store does not hold them.
    @discardableResult
    func hold(_ id: ActorID) -> Bool {
        guard !guests.isEmpty, let count = guests[id] else { return false }
        guests[id] = count + 1
        return true
    }

    /// What named this person is over: forgotten if nothing else does, and the store does not hold them.
    func release(_ id: ActorID) {
        guard let count = guests[id] else { return }
        guests[id] = count - 1
        if count <= 1 { forget(id) }
    }

    /// A notification that is not stored names this person; of so many recent ones at most.
    func hear(_ id: ActorID, atMost most: Int) {
        guard hold(id) else { return }
        heard.append(id)
        if heard.count > most, let first = heard.popFirst() { release(first) }
    }

    /// Whether there are new ones whom nothing may name.
    var hasIdle: Bool { !idle.isEmpty }

    /// Forgets the new ones whom nothing names.
    func forgetIdle() {
        for id in idle where guests[id] == 0 { forget(id) }
        idle.removeAll(keepingCapacity: idle.count < 1_000)
    }

    /// The number of a person who may have acted before; nil when they never did.
    func number(of name: String) -> ActorID? { numbers[name] }

    /// Forgets a person for good: the number is nobody's from now on, and who comes under the name gets
    /// another one.
    func erase(_ id: ActorID) {
        forget(id)
        erased.insert(id)
    }

    /// Whether a number that records have is nobody's because the person was erased; else its name is lost.
    func isErased(_ id: ActorID) -> Bool { erased.contains(id) }

    /// The one on whose behalf something was begun; nil once they are erased.
    func present(_ id: ActorID?) -> ActorID? { id.flatMap { names[$0] == nil ? nil : $0 } }

    /// How many people of a person's namespace are known.
    func count(likeThatOf name: String) -> Int {
        Self.namespace(of: name).flatMap { people[$0] } ?? 0
    }

    /// The name under a number; nil for an erased person.
    func name(of id: ActorID) -> String? { names[id] }

    /// What an entry of this person must carry.
    func unstored(_ id: ActorID) -> [Actor] {
        guard guests[id] != nil, let name = names[id] else { return [] }
        return [Actor(number: id.number, name: name)]
    }

    /// An entry that carried the person was committed.
    func stored(_ id: ActorID) {
        if !guests.isEmpty { guests[id] = nil }
    }

    private func number(ofNew name: String) -> ActorID {
        if let known = numbers[name] { return known }
        // At random: two stores whose records come together one day name nobody alike.
        let id = ActorID(.random(in: 1...Int64.max))
        know(id, name)
        guests[id] = 0
        return id
    }

    private func know(_ id: ActorID, _ name: String) {
        numbers[name] = id
        names[id] = name
        if let namespace = Self.namespace(of: name) { people[namespace, default: 0] += 1 }
    }

    private func forget(_ id: ActorID) {
        guests[id] = nil
        guard let name = names.removeValue(forKey: id) else { return }
        numbers[name] = nil
        if let namespace = Self.namespace(of: name) { people[namespace, default: 1] -= 1 }
    }

    private static func namespace(of name: String) -> String? {
        let namespace = String(name.prefix { $0 != ":" })
        return namespace == "unix" ? nil : namespace
    }
}

extension ActorID {
    /// No person: the actor of what the daemon does by itself.
    static let nobody = ActorID(0)
}
