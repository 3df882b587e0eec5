/// A new plugin of the kind `comments`: a guest book.
enum CommentsTemplate {
    /// The component.
    static let source = ##"""
        public import AtriumKit

        /// A guest book: comments without replies, oldest first.
        public final class {{Name}}: Commenting {
            public weak var delegate: (any CommentingDelegate)?
            private var comments: [String: Comment] = [:]

            public init(context: ComponentContext) {}

            /// State changes here alone: when a command was accepted, and when the host restarts.
            public func apply(_ change: Change) {
                let before = comments[change.key]
                let after = change.value.flatMap { Comment(key: change.key, value: $0) }
                comments[change.key] = after
                if let after, after.state == .shown {
                    if before?.state == .shown {
                        delegate?.commenting(self, didEdit: after)
                    } else {
                        delegate?.commenting(self, didPost: after)
                    }
                } else if let before, before.state == .shown {
                    delegate?.commenting(self, didRemove: after ?? before)
                }
                for subject in Set([before, after].compactMap { $0?.subject }) {
                    delegate?.commenting(self, didChange: count(of: subject), of: subject)
                }
            }

            /// Says what would change, and changes nothing.
            public func post(
                _ draft: CommentDraft, _ context: CommandContext
            ) throws(Refusal) -> [Change] {
                guard draft.parent == nil else { throw Refusal("A guest book has no replies.") }
                guard comments[draft.id] == nil else {
                    throw Refusal(.conflict, "There is a comment '\(draft.id)' already.")
                }
                let comment = Comment(
                    id: draft.id, subject: draft.subject, parent: nil, author: context.actor,
                    text: draft.text, created: context.time, order: context.order,
                    fingerprint: draft.fingerprint)
                return [comment.record]
            }

            public func edit(
                _ id: String, text: String, _ context: CommandContext
            ) throws(Refusal) -> [Change] {
                var comment = try find(id, for: context)
                guard comment.author == context.actor else {
                    throw Refusal("It is another person's.")
                }
                guard comment.state != .removed else { throw Refusal("It was deleted.") }
                if comment.text == text { return [] }
                comment.text = text
                comment.edited = context.time
                return [comment.record]
            }

            public func delete(_ id: String, _ context: CommandContext) throws(Refusal) -> [Change] {
                var comment = try find(id, for: context)
                if comment.state == .removed { return [] }
                comment.state = .removed
                comment.text = nil
                return [comment.record]
            }

            public func moderate(
                _ id: String, state: Comment.State, _ context: CommandContext
            ) throws(Refusal) -> [Change] {
                guard context.isModerator else { throw Refusal("Only moderators do.") }
                var comment = try find(id, for: context)
                if comment.state == state { return [] }
                if state == .removed { return try delete(id, context) }
                guard comment.state != .removed else { throw Refusal("It was deleted.") }
                comment.state = state
                return [comment.record]
            }

            public func entry(_ id: String) -> ThreadPage.Entry? {
                guard var comment = comments[id] else { return nil }
                if comment.state == .removed { comment.author = nil }
                return ThreadPage.Entry(comment: comment, depth: 0, replies: 0)
            }

            /// A page; its cursor is the id of its last comment.
            public func thread(_ query: ThreadQuery) throws(Refusal) -> ThreadPage {
                var all = shown(query.subject)
                if query.order == .newest { all.reverse() }
                var start = 0
                if let cursor = query.cursor {
                    // Deleted since, it is not in the list, but still knows its place.
                    guard let last = comments[cursor], last.subject == query.subject else {
                        throw Refusal(.cursorInvalid, "The cursor is not of this guest book.")
                    }
                    start = all.firstIndex { last.precedes($0, in: query.order) } ?? all.count
                }
                let page = query.root == nil ? all[start...].prefix(query.limit) : []
                let isLast = page.endIndex == all.endIndex || page.isEmpty
                return ThreadPage(
                    entries: page.map { ThreadPage.Entry(comment: $0, depth: 0, replies: 0) },
                    total: all.count, next: isLast ? nil : page.last?.id)
            }

            public func count(of subject: Subject) -> Int { shown(subject).count }

            public var counts: [(subject: Subject, count: Int)] {
                Set(comments.values.map(\.subject)).map { ($0, count(of: $0)) }
            }

            public func recordKeys(about subject: Subject) -> [String] {
                comments.values.filter { $0.subject == subject }.map(\.id)
            }

            private func shown(_ subject: Subject) -> [Comment] {
                comments.values
                    .filter { $0.subject == subject && $0.parent == nil && $0.state == .shown }
                    .sorted { $0.precedes($1, in: .oldest) }
            }

            private func find(_ id: String, for context: CommandContext) throws(Refusal) -> Comment {
                guard let comment = comments[id] else {
                    throw Refusal(
                        .commentNotFound, "There is no comment '\(id)'.", evidence: ["comment": id])
                }
                guard comment.author == context.actor || context.isModerator else {
                    throw Refusal("It is another person's.")
                }
                return comment
            }
        }

        extension Comment {
            /// By time, then by id, so that the order is total.
            fileprivate func precedes(_ other: Comment, in order: ThreadQuery.Order) -> Bool {
                let (one, two) = order == .oldest ? (self, other) : (other, self)
                return (one.created, one.order, one.id) < (two.created, two.order, two.id)
            }
        }

        /// Exports the class; the host finds the function by its name.
        @c({{entry}})
        public func exported() -> UnsafeMutableRawPointer { exportPlugin({{Name}}.self) }
        """##

    static let test = ##"""
            @Test func `a guest writes, and strikes it out`() throws {
                let host = try MemoryHost({{Name}}.self)
                let draft = CommentDraft(id: "a", subject: .container, parent: nil, text: "Was here.")
                try host.run(.postComment(draft))
                #expect(host.events.last == .commentCount(.container, 1))
                try host.run(.deleteComment(id: "a"))
                #expect(host.events.last == .commentCount(.container, 0))
            }
        """##
}
