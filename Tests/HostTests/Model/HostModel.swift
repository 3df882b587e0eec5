import AtriumKit

/// What a container should hold after the commands that are known to have happened: plain
/// dictionaries, no index, no component.
struct HostModel: Equatable {
    struct Post: Equatable {
        var item: String?
        var text: String
        var author: String
        var isShown = true
        var isDeleted = false
    }

    var items: [String: String] = [:]
    var ballots: [String?: [String: Double]] = [:]
    var posts: [String: Post] = [:]

    /// A command, with what it changes if it happens.
    enum Effect: Sendable, Hashable {
        case put([String], title: String)
        case remove([String], purge: Bool)
        case cast(String?, actor: String, Double)
        case retract(String?, actor: String)
        case post(String, on: String?, text: String, actor: String)
        case edit(String, text: String, actor: String)
        case delete(String)
        case moderate(String, shown: Bool)
        case nothing
    }

    mutating func apply(_ effect: Effect) {
        switch effect {
        case .put(let ids, let title): for id in ids { items[id] = title }
        case .remove(let ids, let purge):
            for id in ids {
                items[id] = nil
                guard purge else { continue }
                ballots[id] = nil
                posts = posts.filter { $0.value.item != id }
            }
        case .cast(let item, let actor, let value): ballots[item, default: [:]][actor] = value
        case .retract(let item, let actor): ballots[item]?[actor] = nil
        case .post(let id, let item, let text, let actor):
            posts[id] = posts[id] ?? Post(item: item, text: text, author: actor)
        case .edit(let id, let text, _): posts[id]?.text = text
        case .delete(let id): posts[id]?.isDeleted = true
        case .moderate(let id, let shown): posts[id]?.isShown = shown
        case .nothing: break
        }
    }

    /// What a reader should see of it.
    var observation: Observation {
        var seen = Observation()
        for (id, title) in items {
            seen.items[id] = Observation.Item(
                title: title, ballots: ballots[id] ?? [:], comments: shown(on: id))
        }
        seen.ballots = ballots[.none] ?? [:]
        seen.comments = shown(on: nil)
        return seen
    }

    private func shown(on item: String?) -> [String: String] {
        posts.filter { $0.value.item == item && $0.value.isShown && !$0.value.isDeleted }
            .mapValues(\.text)
    }
}

/// What a reader sees of a container.
struct Observation: Equatable, Sendable {
    struct Item: Equatable, Sendable {
        var title: String
        var ballots: [String: Double]
        var comments: [String: String]
    }

    var items: [String: Item] = [:]
    var ballots: [String: Double] = [:]
    var comments: [String: String] = [:]
}
