import Interfaces

// Votes and comments.
extension RequestPerformer {
    func voice(_ next: Pending, _ session: Session) async throws -> String? {
        switch next.request {
        case .vote(let subject, let value):
            _ = try await session.call(
                Votes.Cast.self,
                .init(
                    container: next.container, item: subject.item, component: subject.component,
                    value: value, actor: actor))
            return "voted \(Wording.number(value)) on \(subject.title)"
        case .unvote(let subject):
            let reply = try await session.call(
                Votes.Retract.self,
                .init(
                    container: next.container, item: subject.item, component: subject.component,
                    actor: actor))
            return reply.previous == nil
                ? "there was no vote of yours on \(subject.title)"
                : "took your vote on \(subject.title) back"
        case .post(let subject, let parent, let text, let id):
            let reply = try await session.call(
                Comments.Post.self,
                .init(
                    container: next.container, item: subject.item, component: subject.component,
                    parent: parent, text: text, id: id, actor: actor))
            return reply.comment.state == .pending ? "posted; it waits for a moderator" : "posted"
        default: return try await moderation(next, session)
        }
    }

    private func moderation(_ next: Pending, _ session: Session) async throws -> String? {
        switch next.request {
        case .edit(let component, let comment, let text):
            _ = try await session.call(
                Comments.Edit.self,
                .init(
                    container: next.container, component: component, comment: comment, text: text,
                    actor: actor))
            return "edited"
        case .delete(let component, let comment):
            _ = try await session.call(
                Comments.Delete.self,
                .init(
                    container: next.container, component: component, comment: comment,
                    actor: actor))
            return "deleted"
        case .moderate(let component, let comment, let state, let reason, let seen):
            _ = try await session.call(
                Comments.Moderate.self,
                .init(
                    container: next.container, component: component, comment: comment,
                    state: state, reason: reason, seen: seen))
            return switch state {
            case .shown: "the comment is shown"
            case .pending: "the comment is held back"
            case .removed: "the comment is removed"
            }
        default: return nil
        }
    }
}
