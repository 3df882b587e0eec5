import AtriumKit
import Index
import JSONCodec
import Store

// The texts of comments, in the notifications about them.
extension Container {
    /// Whether a comment may be read now, as far as the items are known.
    func isReadable(_ comment: RecordKey, on item: String?) -> Bool {
        guard slot(comment.component) != nil else { return false }
        guard let item, slots.allSatisfy({ $0.kind != .contents || $0.isAttached || $0.isShown })
        else {
            return true
        }
        return absence(of: item) == nil
    }

    /// Updates the texts of comments in notifications that are not delivered yet.
    ///
    /// - Returns: the text of the comment that the entry's notification is about; nil: it is about none, or has none.
    func noteTexts(
        of decision: Decision, from slot: Slot, _ draft: EntryDraft, _ commit: Commit
    ) -> CommentText? {
        if slot.kind == .contents, case .removed = decision.answer {
            domain.bus.readabilityChanged()
        }
        var told: CommentText?
        if slot.kind == .comments {
            for change in decision.changes {
                let comment = change.value.flatMap { Comment(key: change.key, value: $0) }
                let text = noteText(of: change.key, in: slot.name, comment, commit)
                if change.key == draft.comment?.key { told = text }
            }
        }
        for change in draft.others where self.slot(change.component)?.kind == .comments {
            let value = change.value.flatMap { try? Value(jsonBytes: $0) }
            let comment = value.flatMap { Comment(key: change.key, value: $0) }
            noteText(of: change.key, in: change.component, comment, commit)
        }
        if !draft.purges.isEmpty { forgetTexts(of: draft.purges, at: commit) }
        return told
    }

    @discardableResult
    private func noteText(
        of key: String, in component: String, _ comment: Comment?, _ commit: Commit
    ) -> CommentText? {
        let text = comment.flatMap(CommentText.init)
        domain.bus.change(
            RecordKey(container: name, component: component, key: key), to: text,
            at: commit.sequence)
        // Its component reports no event about a held comment, but its author sees it.
        if let comment, comment.state != .shown { screens?.subjectChanged(comment.subject) }
        return text
    }

    /// Removes the texts of purged comments from notifications that are not delivered yet.
    func forgetTexts(of purges: [Purge], at commit: Commit) {
        // A purge covers a component, or an item. There may be many items, hence a set.
        var items: [String: Set<String>] = [:]
        var components: Set<String> = []
        for purge in purges {
            if let item = purge.item {
                items[purge.component, default: []].insert(item)
            } else if purge.prefix.isEmpty {
                components.insert(purge.component)
            }
        }
        domain.bus.forgetTexts(at: commit.sequence) { [name] comment, text in
            guard comment.container == name else { return false }
            return components.contains(comment.component)
                || text.item.map { items[comment.component]?.contains($0) ?? false } ?? false
        }
    }
}
