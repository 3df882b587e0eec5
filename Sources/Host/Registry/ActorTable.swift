import AtriumKit
import Store

/// The people whom the host knows, by number and by name.
///
/// A new one is known here at once and in the store with the first entry that names them: until an
/// entry with them is committed, each carries them.
final class ActorTable {
    private var numbers: [String: ActorID] = [:]
    private var names: [ActorID: String] = [:]
    private var unstored: Set<ActorID> = []
    private var last: Int64 = 0

    /// Takes in what the store holds; an erased person keeps the number and has no name.
    func load(_ actors: [Actor]) {
        for actor in actors {
            let id = ActorID(actor.number)
            last = max(last, actor.number)
            guard !actor.name.isEmpty else { continue }
            numbers[actor.name] = id
            names[id] = actor.name
        }
    }

    /// The number of a person who acts; a new one when they never did.
    func admit(_ name: String) -> ActorID {
        if let known = numbers[name] { return known }
        last += 1
        let id = ActorID(last)
        numbers[name] = id
        names[id] = name
        unstored.insert(id)
        return id
    }

    /// The number of a person who may have acted before; nil when they never did.
    func number(of name: String) -> ActorID? { numbers[name] }

    /// The name under a number; nil for an erased person.
    func name(of id: ActorID) -> String? { names[id] }

    /// What an entry of this person must carry.
    func unstored(_ id: ActorID) -> [Actor] {
        guard unstored.contains(id), let name = names[id] else { return [] }
        return [Actor(number: id.number, name: name)]
    }

    /// An entry that carried the person was committed.
    func stored(_ id: ActorID) {
        if !unstored.isEmpty { unstored.remove(id) }
    }
}
