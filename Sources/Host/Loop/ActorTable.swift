import AtriumKit
import DequeModule
import Store

/// The actors that the host knows, by number and by name.
///
/// A new actor is known here at once, and in the store with the first committed entry that names it. Until then
/// each entry that names it carries it. An actor that is not in the store is forgotten once no work in progress
/// names it, so that refused calls leave nothing behind.
final class ActorTable {
    private var numbers = SplitDictionary<String, ActorID>()
    private var names = SplitDictionary<ActorID, String>()
    /// The actors whose erasure has begun or is done; nothing else leaves a number without a name.
    private var erased: Set<ActorID> = []
    /// The actors that the store does not hold, each with the number of things in progress that name it.
    private var guests: [ActorID: Int] = [:]
    /// The new actors that ``removeIdle()`` removes, unless something names them by then.
    private var idle: [ActorID] = []
    /// The actors that recent transient notifications name.
    private var recent: Deque<ActorID> = []
    /// How many actors are known in each namespace other than the system's users.
    private var people: [String: Int] = [:]
    /// How many actors are known.
    var count: Int { names.count }

    /// Adds the actors that the store holds, where an erased one has a number and no name; those whose erasure has
    /// begun may still have names there, which may be those of new persons, too.
    func load(_ actors: [Actor], erasing: Set<Int64> = []) {
        for actor in actors {
            let id = ActorID(actor.number)
            if actor.name.isEmpty || erasing.contains(actor.number) {
                erased.insert(id)
            } else {
                know(id, actor.name)
            }
        }
        for number in erasing { erased.insert(ActorID(number)) }
    }

    /// Returns an actor's number, a new one for an unknown name, and holds the actor.
    ///
    /// The actor is known until it is stored or released.
    func admit(_ name: String) -> ActorID {
        let id = number(ofNew: name)
        retain(id)
        return id
    }

    /// Returns an actor's number, a new one for an unknown name, without holding the actor.
    ///
    /// A new actor is known until ``removeIdle()``, or for as long as it is held.
    func intern(_ name: String) -> ActorID {
        let id = number(ofNew: name)
        if guests[id] == 0 { idle.append(id) }
        return id
    }

    /// Counts one more thing in progress that names an actor; returns whether the caller must ``release(_:)`` it,
    /// since the store does not hold the actor.
    @discardableResult
    func retain(_ id: ActorID) -> Bool {
        guard !guests.isEmpty, let count = guests[id] else { return false }
        guests[id] = count + 1
        return true
    }

    /// Ends a hold; the actor is forgotten with the last one, unless the store holds it.
    func release(_ id: ActorID) {
        guard let count = guests[id] else { return }
        guests[id] = count - 1
        if count <= 1 { remove(id) }
    }

    /// Holds the actor of a transient notification, for the last `most` such notifications.
    func retainRecent(_ id: ActorID, atMost most: Int) {
        guard retain(id) else { return }
        recent.append(id)
        if recent.count > most, let first = recent.popFirst() { release(first) }
    }

    /// Whether there are new actors that ``removeIdle()`` may remove.
    var hasIdle: Bool { !idle.isEmpty }

    /// Removes the new actors that nothing names.
    func removeIdle() {
        for id in idle where guests[id] == 0 { remove(id) }
        idle.removeAll(keepingCapacity: idle.count < 1_000)
    }

    /// Returns an actor's number; nil for an unknown name.
    func number(of name: String) -> ActorID? { numbers[name] }

    /// Forgets an actor for good: the number stays without a name, and a later user of the name gets another number.
    func erase(_ id: ActorID) {
        remove(id)
        erased.insert(id)
    }

    /// Whether a number in records has no name because its actor was erased; if not, the name was lost.
    func isErased(_ id: ActorID) -> Bool { erased.contains(id) }

    /// Returns the actor on whose behalf work was begun; nil once the actor is erased.
    func present(_ id: ActorID?) -> ActorID? { id.flatMap { names[$0] == nil ? nil : $0 } }

    /// How many known actors have the namespace of this name.
    func count(likeThatOf name: String) -> Int {
        Self.namespace(of: name).flatMap { people[$0] } ?? 0
    }

    /// Returns the name of a number; nil for an erased actor.
    func name(of id: ActorID) -> String? { names[id] }

    /// Returns what an entry that names this actor must carry.
    func unstored(_ id: ActorID) -> [Actor] {
        guard guests[id] != nil, let name = names[id] else { return [] }
        return [Actor(number: id.number, name: name)]
    }

    /// Records that an entry that carried the actor was committed.
    func stored(_ id: ActorID) {
        if !guests.isEmpty { guests[id] = nil }
    }

    private func number(ofNew name: String) -> ActorID {
        if let known = numbers[name] { return known }
        // Random, so that numbers don't collide if the records of two stores are ever merged.
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

    private func remove(_ id: ActorID) {
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
    /// The actor of the daemon's own actions.
    static let nobody = ActorID(0)
}
