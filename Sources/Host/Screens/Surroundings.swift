import AtriumKit

/// A container that has another one as a part, at any level.
struct Surrounding {
    /// The surrounding container.
    let home: ContainerScreens
    /// The part, as the surrounding container's delegate knows it.
    let part: PartReference
    /// The number of levels from the surrounding container to the part; 1: directly.
    let level: Int
}

/// Which containers have which as parts.
final class Surroundings {
    private unowned let table: ScreenTable
    /// The screens of containers that have parts, by the containers' names.
    private(set) var parents: [String: ContainerScreens] = [:]
    /// The surrounding containers of each part, by the part's container; nil: to be computed again.
    private(set) var known: [String: [Surrounding]]?

    init(of table: ScreenTable) { self.table = table }

    /// Takes a container that got its first part or lost its last one.
    func update(_ home: ContainerScreens) {
        forget()
        let name = home.container.name
        let isThere = table.homes()[name] === home
        if isThere, !home.container.parts.isEmpty {
            parents[name] = home
        } else if parents[name] === home {
            parents[name] = nil
        }
    }

    /// Containers or their parts have changed.
    func forget() { known = nil }

    /// The containers that have a container as a part, each once, the nearest first.
    ///
    /// Computed for all containers at the first event in a part after containers or their parts changed.
    func around(_ container: String) -> [Surrounding] {
        let known = known ?? find()
        self.known = known
        return known[container] ?? []
    }

    private func find() -> [String: [Surrounding]] {
        let homes = table.homes()
        var found: [String: [Surrounding]] = [:]
        for home in parents.values {
            var known: Set<String> = []
            var outer = [(path: "", home: home)]
            for level in 1..<Nesting.mostLevels {
                var inner: [(path: String, home: ContainerScreens)] = []
                for (path, around) in outer {
                    for entry in around.container.parts {
                        guard let name = entry.container, let part = homes[name],
                            known.insert(name).inserted
                        else { continue }
                        let path = path.isEmpty ? entry.name : "\(path)/\(entry.name)"
                        inner.append((path, part))
                        found[name, default: []].append(
                            Surrounding(
                                home: home, part: PartReference(path: path, container: name),
                                level: level))
                    }
                }
                outer = inner
            }
        }
        return found.mapValues { around in
            around.sorted {
                ($0.level, $0.home.container.name) < ($1.level, $1.home.container.name)
            }
        }
    }
}

// Passes events of parts to the delegates of surrounding containers.
extension ContainerScreens {
    func notifyParents(of events: [ComponentEvent], from component: ComponentReference) {
        guard !table.surroundings.parents.isEmpty else { return }
        for around in table.surroundings.around(container.name) {
            let parent = around.home.container
            // The default delegate ignores them.
            guard !parent.delegates.isDefault else { continue }
            container.domain.notes.crash.during(parent.delegates.crashText(in: nil)) {
                for event in events {
                    parent.delegate.notify(event, from: component, of: around.part)
                }
            }
        }
    }
}

extension ContainerDelegate {
    /// Passes an event of a part's component to the delegate.
    fileprivate func notify(
        _ event: ComponentEvent, from component: ComponentReference, of part: PartReference
    ) {
        switch event {
        case .contents(let change): self.part(part, contents: component, didChange: change)
        case .tally(let subject, let tally):
            self.part(part, votes: component, didChange: tally, of: subject)
        case .didPost(let comment): self.part(part, comments: component, didPost: comment)
        case .didEdit(let comment): self.part(part, comments: component, didEdit: comment)
        case .didRemove(let comment): self.part(part, comments: component, didRemove: comment)
        case .commentCount(let subject, let count):
            self.part(part, comments: component, didChange: count, of: subject)
        case .didSelect, .didDeselect, .didClear:
            // The delegate is notified of choices on a part by `screen(_:part:didShow:)`.
            break
        @unknown default:
            // The part's own delegate has logged it.
            break
        }
    }
}
