import AtriumKit
import Index
import JSONCodec
import Store

// What comments say, in the notifications about them.
extension Container {
    /// Whether a comment can be read at present, as far as it is known which items there are.
    func isReadable(_ comment: RecordKey, on item: String?) -> Bool {
        guard slot(comment.component) != nil else { return false }
        guard let item, slots.allSatisfy({ $0.kind != .contents || $0.isAttached || $0.isShown })
        else {
            return true
        }
        return absence(of: item) == nil
    }

    /// Has what was not told yet tell what comments say from this commit on.
    func noteTexts(of decision: Decision, from slot: Slot, _ draft: EntryDraft, _ commit: Commit) {
        if slot.kind == .contents, case .removed = decision.answer {
            domain.bus.readabilityChanged()
        }
        if slot.kind == .comments {
            for change in decision.changes {
                let comment = change.value.flatMap { Comment(key: change.key, value: $0) }
                noteText(of: change.key, in: slot.name, comment, commit)
            }
        }
        for change in draft.others where self.slot(change.component)?.kind == .comments {
            let value = change.value.flatMap { try? Value(jsonBytes: $0) }
            let comment = value.flatMap { Comment(key: change.key, value: $0) }
            noteText(of: change.key, in: change.component, comment, commit)
        }
        if !draft.purges.isEmpty { forgetTexts(of: draft.purges, at: commit) }
    }

    private func noteText(
        of key: String, in component: String, _ comment: Comment?, _ commit: Commit
    ) {
        domain.bus.change(
            RecordKey(container: name, component: component, key: key),
            to: comment.flatMap(CommentText.init), at: commit.sequence)
        // Of what is held its component tells no event, and its author sees it.
        if let comment, comment.state != .shown { screens?.subjectChanged(comment.subject) }
    }

    /// Has what was not told yet tell nothing of comments that are purged.
    func forgetTexts(of purges: [Purge], at commit: Commit) {
        // A component's comments go all together, or with their items: of which there may be many.
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

extension Decision {
    /// What it has a comment say.
    func text(of comment: RecordKey) -> CommentText? {
        guard case .comment(let entry) = answer, entry.comment.id == comment.key else {
            return nil
        }
        return CommentText(entry.comment)
    }
}
