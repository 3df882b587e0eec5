import Interfaces
import JSONCodec

/// What a revision changed, a line for each change: for logs and pipes.
struct ScreenChangeText {
    var fields: [Field]
    /// The screen's container, and what is known of it and of those within it.
    var container = ""
    var outlines: ContainerOutlines = [:]

    /// The lines of a revision that leads on from another.
    func lines(
        _ reply: Screens.Open.Reply, changes: [ScreenChange], before: ScreenModel
    ) -> [String] {
        var lines = self.lines(
            of: reply, changes: changes.filter { $0.part.isEmpty }, before: before)
        for part in reply.parts ?? [] {
            lines += self.lines(of: part, changes: changes, before: before)
        }
        lines += Self.words(of: reply)
        let mark = "#\(reply.revision)  "
        if reply.commits > 1 { lines.append("\(reply.commits) commits in one") }
        return lines.map { mark + PrintableText.line($0) }
    }

    /// The lines of a part, each after where it is.
    private func lines(
        of part: ShownPart, changes: [ScreenChange], before: ScreenModel
    ) -> [String] {
        if part.gone == true { return ["\(part.part): not shown any more"] }
        if let problem = part.problem { return ["\(part.part): \(problem)"] }
        if part.new == true { return ["\(part.part): shows \(part.container)"] }
        guard let known = before.parts.first(where: { $0.path == part.part })?.model else {
            return []
        }
        return ScreenChangeText(fields: part.fields ?? known.fields).lines(
            of: part, changes: changes.filter { $0.part == part.part }, before: known,
            without: Set(before.followed(in: part.part, of: container, outlines).keys)
        ).map { "\(part.part)/\($0)" }
    }

    private func lines(
        of reply: some ScreenNews, changes: [ScreenChange], before: ScreenModel,
        without followed: Set<String> = []
    ) -> [String] {
        var lines = reply.scope.map { ["scope: \($0.isEmpty ? "none" : $0)"] } ?? []
        lines += changes.map { "\($0.component): \(text($0.edit))" }
        let sections = (try? before.changed(by: reply)) ?? []
        for section in sections where !followed.contains(section.id) {
            lines += Self.lines(
                of: section, before: before.sections.first { $0.id == section.id })
        }
        for list in reply.lists ?? [] {
            let total = before.lists.first { $0.component == list.component }?.total
            if total != list.total { lines.append("\(list.component): \(list.total) in all") }
        }
        if let tally = reply.tally { lines.append("votes: \(TallyText.full(tally))") }
        // More of them may come for the same item, once its source has found out.
        let known = reply.focus == nil ? before.details.value : .object([])
        for detail in reply.details?.value.object ?? []
        where known[detail.name] != detail.value {
            let type = fields.first { $0.name == detail.name }?.type ?? ""
            lines.append("\(detail.name): \(FieldText.shown(detail.value, type: type))")
        }
        if let focus = reply.focus { lines.append("focus: \(focus.isEmpty ? "/" : focus)") }
        if let path = reply.path { lines.append("path: /\(path.joined(separator: "/"))") }
        if let components = reply.components {
            lines += Self.lines(of: components, before: before.components)
        }
        return lines
    }

    /// What the delegate has to say with a revision.
    static func words(of reply: Screens.Open.Reply) -> [String] {
        var lines = reply.message.map { ["message: \($0)"] } ?? []
        if let lead = reply.lead {
            lines.append("leads to: \(lead.container)\(lead.item.map { "/\($0)" } ?? "")")
        }
        return lines
    }

    private func text(_ edit: ScreenChange.Edit) -> String {
        switch edit {
        case .inserted(.item(let item), let place):
            "\(item.id) came to place \(place + 1)"
        case .inserted(.comment(let comment), _):
            "\(author(comment)) wrote \(comment.id): \(comment.text ?? "")"
        case .removed(let entry): "\(entry.id) left"
        case .moved(let entry, let from, let to):
            "\(entry.id) moved from place \(from + 1) to \(to + 1)"
        case .updated(.item(let item), let before):
            "\(item.id) changed: \(difference(item, before.item))"
        case .updated(.comment(let comment), _):
            "\(comment.id) changed: "
                + (comment.text ?? (comment.state == .pending ? "(not shown yet)" : "(deleted)"))
        }
    }

    private func author(_ comment: Comment) -> String {
        comment.author.map { ActorName.shown($0) } ?? "(nobody)"
    }

    /// The fields, votes and comments that are not what they were.
    private func difference(_ item: Item, _ before: Item?) -> String {
        var parts: [String] = []
        let (old, new) = (before?.fields.value, item.fields.value)
        for field in fields where old?[field.name] != new[field.name] {
            let value = new[field.name].map { FieldText.shown($0, type: field.type) } ?? "none"
            parts.append("\(field.name) \(value)")
        }
        if let votes = item.votes, votes != before?.votes {
            parts.append("votes \(votes.score == nil ? "none" : TallyText.short(votes))")
        }
        if let comments = item.comments, comments != before?.comments {
            parts.append("comments \(comments)")
        }
        if item.children != before?.children { parts.append("items inside \(item.children ?? 0)") }
        return parts.isEmpty ? "nothing that is shown" : parts.joined(separator: ", ")
    }

    private static func lines(
        of components: [Screens.Open.Reply.Components],
        before: [Screens.Open.Reply.Components]
    ) -> [String] {
        let changed = components.filter { !before.contains($0) }.map { component in
            let state = component.problem ?? (component.hidden ? "hidden" : "shown")
            let closed = FactsText.closed(component.votes, component.comments)
            return
                "component \(component.name): \(([state] + [closed].compactMap(\.self)).joined(separator: ", "))"
        }
        let gone = before.filter { old in !components.contains { $0.name == old.name } }
        return changed + gone.map { "component \($0.name): gone" }
    }

    private static func lines(of section: Section, before: Section?) -> [String] {
        let old = Dictionary((before?.filters ?? []).map { ($0.id, $0) }) { first, _ in first }
        var lines = section.filters.compactMap { filter -> String? in
            guard old[filter.id] != filter else { return nil }
            let count = SectionTable.count(filter.count)
            let selected = filter.selected ? "selected" : count.isEmpty ? "not selected" : ""
            let words = [count, selected].filter { !$0.isEmpty }.joined(separator: ", ")
            return "\(section.id)=\(filter.id): \(words)"
        }
        let now = Set(section.filters.map(\.id))
        lines += (before?.filters ?? []).filter { !now.contains($0.id) }
            .map { "\(section.id)=\($0.id): gone" }
        return lines
    }
}
