import Interfaces

/// A screen as people see it: the whole of it, in lines.
struct ScreenView {
    var container: String
    var fields: [Field]
    /// The columns there are; nil: nothing is cut.
    var width: Int?
    var color = false
    /// What is known of the containers.
    var outlines: ContainerOutlines = [:]

    /// The lines of a whole screen: a head, the filters, the lists, and the comments.
    func lines(_ model: ScreenModel) -> [String] {
        [head(model)] + body(model) + parts(of: model, in: model, below: "")
    }

    /// The lines of a container below its head, without the containers within it and the sections `followed`.
    private func body(_ model: ScreenModel, without followed: Set<String> = []) -> [String] {
        var lines = [model.closed].compactMap(\.self)
        lines += model.components.compactMap { component in
            component.problem.map { cut(PrintableText.line("\(component.name): \($0)")) }
        }
        lines += model.sections.filter { !followed.contains($0.id) }
            .map { cut(Self.line(of: $0)) }
        for list in model.lists where !isTalk(list, model) { lines += table(list, of: model) }
        for list in model.lists where isTalk(list, model) { lines += talk(list, model.held) }
        return lines
    }

    /// The containers within one, in order, each with a head of its own.
    private func parts(
        of model: ScreenModel, in screen: ScreenModel, below path: String
    ) -> [String] {
        model.components.flatMap { component -> [String] in
            let name = path + component.name
            guard let part = screen.parts.first(where: { $0.path == name }) else { return [] }
            let title =
                part.problem ?? ([component.title] + part.model.path).joined(separator: " › ")
            let head = Style.bold(
                cut(PrintableText.line("\(name) · \(title)")), enabled: color)
            let view = ScreenView(
                container: part.container, fields: part.model.fields, width: width, color: color)
            let followed = screen.followed(in: name, of: container, outlines)
            return ["", head] + view.body(part.model, without: Set(followed.keys))
                + parts(of: part.model, in: screen, below: name + "/")
        }
    }

    /// The container, where in it, and which revision of which screen.
    private func head(_ model: ScreenModel) -> String {
        var parts = [([container] + model.path).joined(separator: " › ")]
        if let scope = model.scope { parts.append("scope \(scope)") }
        if !model.focus.isEmpty { parts.append("focus \(model.focus)") }
        if let tally = model.tally, tally.score != nil {
            parts.append("votes: \(TallyText.full(tally))")
        }
        parts.append("screen \(model.screen)")
        parts.append("revision \(model.revision)")
        return Style.bold(
            cut(PrintableText.line(parts.joined(separator: " · "))), enabled: color)
    }

    /// `Genre: [drama 74] · crime 41`, the selected ones in brackets; without numbers where nobody counts.
    static func line(of section: Section) -> String {
        var filters = section.filters.map { filter in
            let count = SectionTable.count(filter.count)
            let text = count.isEmpty ? filter.title : "\(filter.title) \(count)"
            return filter.selected ? "[\(text)]" : text
        }
        if section.more == true { filters.append(SectionTable.more(section)) }
        if filters.isEmpty { filters = [SectionTable.placeholder(section.input)] }
        return PrintableText.line("\(section.title): \(filters.joined(separator: " · "))")
    }

    private func table(_ list: ScreenModel.List, of model: ScreenModel) -> [String] {
        let isOne = model.lists.count { !isTalk($0, model) } == 1
        let count = Wording.count(list.items.count) + " of " + Wording.count(list.total)
        let component = model.components.first { $0.name == list.component }
        if list.total == 0, let empty = component?.empty { return [cut(PrintableText.line(empty))] }
        let present = component?.present
        var items = ItemTable(
            fields: fields, present: present, items: list.items, showsVotes: true)
        for item in list.items { items.add(item) }
        let note = items.table.note(width: width).map { PrintableText.line($0) }
        return items.table.lines(width: width, color: color) + [note].compactMap(\.self)
            + [cut(isOne ? count : "\(count) in \(PrintableText.line(list.component))")]
    }

    private func talk(_ list: ScreenModel.List, _ held: [Comment]) -> [String] {
        let head = cut(
            "\(Wording.count(list.total, "comment")) in \(PrintableText.line(list.component))")
        let tree = CommentTree(width: width, color: color)
        let (filled, own) = list.comments.filled(with: held)
        return [head] + tree.lines(filled) + tree.held(own)
    }

    /// Whether a list is one of comments; an empty one is known by its component's kind.
    private func isTalk(_ list: ScreenModel.List, _ model: ScreenModel) -> Bool {
        model.components.contains { $0.name == list.component && $0.kind == "comments" }
            || !list.comments.isEmpty
    }

    private func cut(_ line: String) -> String {
        width.map { DisplayWidth.cut(line, to: $0) } ?? line
    }
}
