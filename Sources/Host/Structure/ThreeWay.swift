import AtriumKit
import PluginLoader

/// The three-way comparison of a definition: what its file says now, what the file said when it was last applied, and
/// the container's present definition.
///
/// Only what changed in the file is changed. What was attached, moved, hidden or detached by hand stays as it is,
/// until the file changes it.
struct ThreeWay {
    /// The definition that the container gets.
    private(set) var result: ContainerDefinition
    /// The changes, a line each.
    private(set) var lines: [String] = []
    /// The components that were removed from the file.
    private(set) var dropped: [String] = []

    private let new: ContainerDefinition
    private let base: ContainerDefinition

    /// Compares what the file says now, what it said when it was last applied, if it was, and the present definition,
    /// if there is a container.
    init(new: ContainerDefinition, base: ContainerDefinition?, live: ContainerDefinition?) {
        self.new = new
        self.base = base ?? ContainerDefinition(name: new.name)
        result = live ?? ContainerDefinition(name: new.name)
        compareContainer()
        compareFields()
        for component in self.base.components where new.component(component.name) == nil {
            drop(component.name)
        }
        for component in new.components { compare(component) }
        compareOrder()
        compareLists()
        compareScopes()
        result.source = new.source
    }

    private mutating func compareContainer() {
        if !new.title.isSame(as: base.title), !new.title.isSame(as: result.title) {
            result.title = new.title
            lines.append("title: \(new.title.map { "'\($0)'" } ?? "none")")
        }
        if new.activate != base.activate, new.activate != result.activate {
            result.activate = new.activate
            lines.append("activate: \(new.activate ?? "none")")
        }
        if new.present != base.present, new.present != result.present {
            let change = result.present == nil ? "set" : "changed"
            result.present = new.present
            lines.append("present: \(new.present == nil ? "none" : change)")
        }
        if !new.delegate.isSame(as: base.delegate), !new.delegate.isSame(as: result.delegate) {
            lines.append(Self.line(of: new.delegate, after: result.delegate))
            result.delegate = new.delegate
        }
    }

    private static func line(
        of delegate: DelegateDefinition?, after old: DelegateDefinition?
    ) -> String {
        delegate?.plugin == old?.plugin
            ? "delegate: its settings changed" : "delegate: \(delegate?.plugin ?? "none")"
    }

    private mutating func compareFields() {
        guard !new.fields.isSame(as: base.fields), !new.fields.isSame(as: result.fields) else {
            return
        }
        let before = Dictionary(result.fields.map { ($0.name, $0) }) { first, _ in first }
        let names = Set(new.fields.map(\.name))
        let count = lines.count
        for field in new.fields {
            switch before[field.name] {
            case nil: lines.append("field \(field.name): added (\(field.type.rawValue))")
            case .some(let old) where [old].isSame(as: [field]): break
            case .some(let old) where old.type != field.type:
                lines.append(
                    "field \(field.name): type \(old.type.rawValue) -> \(field.type.rawValue)")
            case .some: lines.append("field \(field.name): changed")
            }
        }
        for field in result.fields where !names.contains(field.name) {
            lines.append("field \(field.name): removed")
        }
        if lines.count == count { lines.append("fields: in another order") }
        result.fields = new.fields
    }

    private mutating func compareLists() {
        guard new.lists != base.lists, new.lists != result.lists else { return }
        if let lists = new.lists {
            lines += lists.changes(since: result.lists).map { "shows \($0)" }
        } else if new.scopes.isEmpty {
            lines.append("shows all lists")
        }
        result.lists = new.lists
    }

    private mutating func compareScopes() {
        guard !new.scopes.isSame(as: base.scopes), !new.scopes.isSame(as: result.scopes) else {
            return
        }
        let count = lines.count
        for scope in new.scopes {
            let path = "scope \(scope.name):"
            guard let old = result.scope(scope.name) else {
                let shown = scope.lists.changes(since: nil).joined(separator: "; ")
                lines.append("\(path) added, shows \(shown)")
                continue
            }
            if !scope.title.isSame(as: old.title) {
                lines.append("\(path) title \(scope.title.map { "'\($0)'" } ?? "none")")
            }
            lines += scope.lists.changes(since: old.lists).map { "\(path) shows \($0)" }
            if scope.activate != old.activate {
                lines.append("\(path) activate \(scope.activate ?? "none")")
            }
            if !scope.delegate.isSame(as: old.delegate) {
                lines.append("\(path) \(Self.line(of: scope.delegate, after: old.delegate))")
            }
        }
        for scope in result.scopes where new.scope(scope.name) == nil {
            lines.append("scope \(scope.name): removed")
        }
        if lines.count == count {
            let names = new.scopes.map(\.name).joined(separator: ", ")
            lines.append("scopes: in the order \(names)")
        }
        result.scopes = new.scopes
    }

    private mutating func drop(_ name: String) {
        dropped.append(name)
        guard result.component(name) != nil else { return }
        result.components.removeAll { $0.name == name }
        lines.append("component \(name): detached")
    }

    private mutating func compare(_ component: ComponentDefinition) {
        let base = base.component(component.name)
        guard base.map(component.isSame) != true else { return }
        guard let index = result.components.firstIndex(where: { $0.name == component.name })
        else {
            result.components.insert(component, at: index(of: component.name))
            lines.append("component \(component.name): attached (\(component.origin))")
            return
        }
        let old = result.components[index]
        var now = old
        if component.plugin != base?.plugin { now.plugin = component.plugin }
        if !component.title.isSame(as: base?.title) { now.title = component.title }
        if base.map(component.hasSameSettings) != true { now.settings = component.settings }
        if component.isolation != base?.isolation { now.isolation = component.isolation }
        if component.callSeconds != base?.callSeconds { now.callSeconds = component.callSeconds }
        if component.isHidden != base?.isHidden ?? now.isHidden {
            now.isHidden = component.isHidden
        }
        if component.hidesEmpty != base?.hidesEmpty ?? now.hidesEmpty {
            now.hidesEmpty = component.hidesEmpty
        }
        if !component.empty.isSame(as: base?.empty) { now.empty = component.empty }
        if component.present != base?.present { now.present = component.present }
        if component.sort != base?.sort ?? now.sort { now.sort = component.sort }
        if component.container != base?.container { now.container = component.container }
        if component.follow != base?.follow ?? now.follow { now.follow = component.follow }
        result.components[index] = now
        describe(now, old)
    }

    private mutating func describe(_ now: ComponentDefinition, _ old: ComponentDefinition) {
        let path = "component \(now.name):"
        if now.plugin != old.plugin || now.container != old.container {
            lines.append(
                now.isPart || old.isPart
                    ? "\(path) \(old.origin) -> \(now.origin)"
                    : "\(path) plugin \(old.plugin) -> \(now.plugin)")
        }
        if now.follow != old.follow { lines.append("\(path) follow changed") }
        if !now.title.isSame(as: old.title) {
            lines.append("\(path) title \(now.title.map { "'\($0)'" } ?? "none")")
        }
        let settings = Set(now.settings.keys).union(old.settings.keys).sorted()
        for setting in settings {
            let (new, old) = (now.settings[setting], old.settings[setting])
            if let new, let old, new == old, new.isSame(as: old) { continue }
            lines.append("\(path) setting \(setting) changed")
        }
        if now.isolation != old.isolation {
            lines.append("\(path) isolation \(now.isolation?.rawValue ?? "by its plugin")")
        }
        if now.callSeconds != old.callSeconds {
            lines.append(
                "\(path) callSeconds \(now.callSeconds.map(String.init) ?? "as for all")")
        }
        if now.isHidden != old.isHidden {
            lines.append("\(path) \(now.isHidden ? "hidden" : "shown")")
        }
        if now.hidesEmpty != old.hidesEmpty {
            lines.append("\(path) \(now.hidesEmpty ? "hidden" : "shown") while it is empty")
        }
        if !now.empty.isSame(as: old.empty) {
            lines.append("\(path) empty \(now.empty.map { "'\($0)'" } ?? "none")")
        }
        if now.present != old.present {
            lines.append("\(path) present \(now.present == nil ? "none" : "changed")")
        }
        if now.sort != old.sort {
            lines.append(
                "\(path) sort \(now.sort.isEmpty ? "by id" : now.sort.joined(separator: ", "))")
        }
    }

    /// The place of a new component: behind the nearest of its predecessors in the file that the container has.
    private func index(of name: String) -> Int {
        let before = new.components.prefix { $0.name != name }.map(\.name)
        for name in before.reversed() {
            if let index = result.components.firstIndex(where: { $0.name == name }) {
                return index + 1
            }
        }
        return 0
    }

    /// Takes over the file's order if it has changed; components that the file does not name stay where they are.
    private mutating func compareOrder() {
        let known = Set(base.components.map(\.name)).intersection(new.components.map(\.name))
        let before = base.components.map(\.name).filter(known.contains)
        let after = new.components.map(\.name).filter(known.contains)
        guard before != after else { return }
        let wanted = new.components.map(\.name).filter { result.component($0) != nil }
        var next = wanted.makeIterator()
        let names = Set(wanted)
        let ordered = result.components.compactMap { component in
            names.contains(component.name)
                ? next.next().flatMap { result.component($0) } : component
        }
        guard ordered.map(\.name) != result.components.map(\.name) else { return }
        result.components = ordered
        lines.append("components: in the order \(ordered.map(\.name).joined(separator: ", "))")
    }
}

extension ComponentDefinition {
    /// The plugin or container that it is made from, for a line.
    fileprivate var origin: String { container.map { "the container \($0)" } ?? plugin }
}

extension ContainerDefinition {
    func component(_ name: String) -> ComponentDefinition? {
        components.first { $0.name == name }
    }
}

extension ListModes {
    /// The differences from the earlier lists, a text each; nil counts as lists that show nothing.
    fileprivate func changes(since old: ListModes?) -> [String] {
        let before = (old ?? ListModes(contents: [])).byMode
        return zip(byMode, before).compactMap { now, before in
            guard now.lists != before.lists else { return nil }
            return (now.lists.isEmpty ? "the same" : now.lists.joined(separator: ", ")) + now.place
        }
    }

    private var byMode: [(place: String, lists: [String])] {
        [("", contents), (" inside an item", entered), (" while searching", searched)]
    }
}
