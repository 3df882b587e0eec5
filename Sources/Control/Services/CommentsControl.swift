import AtriumKit
import Host
import Interfaces
import Varlink

/// `org.atrium.Comments` over containers.
struct CommentsControl: CommentsService {
    let context: ControlContext

    func thread(
        _ parameters: Comments.Thread.Parameters, call: VarlinkCall<Comments.Thread.Reply>
    ) {
        let query = ThreadQuery(
            subject: Subject(item: parameters.item), root: parameters.root,
            order: parameters.order == .newest ? .newest : .oldest, depth: parameters.depth,
            limit: parameters.limit ?? 100, cursor: parameters.cursor)
        var reader = context.own(call.peer)
        if let actor = parameters.actor, actor != reader.actor {
            reader = Caller(actor: actor, pace: .frontend(reader.actor))
        }
        context.read(
            call, of: parameters.container, in: Comments.self, as: parameters.actor
        ) { [reader] container in
            container.comments.thread(
                query, in: parameters.component, by: reader, while: { call.isAwaited }
            ) { result in
                call.answer(result, in: Comments.self) {
                    .init(
                        comments: $0.comments.map(Interfaces.Comment.init), total: $0.total,
                        next: $0.next, sequence: Int($0.sequence),
                        held: $0.held.isEmpty ? nil : $0.held.map(Interfaces.Comment.init))
                }
            }
        }
    }

    func post(
        _ parameters: Comments.Post.Parameters, call: VarlinkCall<Comments.Post.Reply>
    ) {
        guard let caller = context.admit(call, in: Comments.self, as: parameters.actor) else {
            return
        }
        context.find(parameters.container, for: call, in: Comments.self) { container in
            let post = Post(
                item: parameters.item, parent: parameters.parent, text: parameters.text,
                id: parameters.id)
            container.comments.post(post, in: parameters.component, by: caller) { result in
                call.answer(result, in: Comments.self) {
                    .init(comment: .init($0.comment), sequence: Int($0.sequence))
                }
            }
        }
    }

    func edit(
        _ parameters: Comments.Edit.Parameters, call: VarlinkCall<Comments.Edit.Reply>
    ) {
        guard let caller = context.admit(call, in: Comments.self, as: parameters.actor) else {
            return
        }
        context.find(parameters.container, for: call, in: Comments.self) { container in
            container.comments.edit(
                parameters.comment, text: parameters.text, in: parameters.component, by: caller
            ) { result in
                call.answer(result, in: Comments.self) {
                    .init(comment: .init($0.comment), sequence: Int($0.sequence))
                }
            }
        }
    }

    func delete(
        _ parameters: Comments.Delete.Parameters, call: VarlinkCall<Comments.Delete.Reply>
    ) {
        guard let caller = context.admit(call, in: Comments.self, as: parameters.actor) else {
            return
        }
        context.find(parameters.container, for: call, in: Comments.self) { container in
            container.comments.delete(
                parameters.comment, in: parameters.component, by: caller
            ) { result in
                call.answer(result, in: Comments.self) {
                    .init(sequence: Int($0.sequence), unchanged: $0.isUnchanged ? true : nil)
                }
            }
        }
    }

    func moderate(
        _ parameters: Comments.Moderate.Parameters, call: VarlinkCall<Comments.Moderate.Reply>
    ) {
        let state: AtriumKit.Comment.State =
            switch parameters.state {
            case .shown: .shown
            case .pending: .pending
            case .removed: .removed
            }
        let caller = context.own(call.peer)
        context.find(parameters.container, for: call, in: Comments.self) { container in
            container.comments.moderate(
                parameters.comment, state: state, reason: parameters.reason,
                seen: parameters.seen, in: parameters.component, by: caller
            ) { result in
                call.answer(result, in: Comments.self, hasDetails: true) {
                    .init(comment: .init($0.comment), sequence: Int($0.sequence))
                }
            }
        }
    }

    func pending(
        _ parameters: Comments.Pending.Parameters, call: VarlinkCall<Comments.Pending.Reply>
    ) {
        context.find(parameters.container, for: call, in: Comments.self) { container in
            container.comments.pending(
                in: parameters.component, limit: parameters.limit ?? 100,
                cursor: parameters.cursor, by: context.user(call.peer),
                while: { call.isAwaited }
            ) { result in
                call.answer(result, in: Comments.self, hasDetails: true) { page in
                    .init(
                        comments: page.comments.map {
                            .init(
                                item: $0.entry.comment.subject.item, comment: Interfaces.Comment($0)
                            )
                        }, total: page.total, next: page.next, sequence: Int(page.sequence))
                }
            }
        }
        context.reviewRead(call) {
            context.denial(of: Comments.Pending.name, wanting: .moderator, to: call.peer)
        }
    }
}
