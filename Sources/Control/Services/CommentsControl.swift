import AtriumKit
import Host
import Interfaces
import Varlink

/// `org.atrium.Comments` over the registry.
struct CommentsControl: CommentsService {
    let context: ControlContext

    func thread(
        _ parameters: Comments.Thread.Parameters, call: VarlinkCall<Comments.Thread.Reply>
    ) {
        let query = ThreadQuery(
            subject: Subject(item: parameters.item), root: parameters.root,
            order: parameters.order == .newest ? .newest : .oldest, depth: parameters.depth,
            limit: parameters.limit ?? 100, cursor: parameters.cursor)
        context.read(call, as: parameters.actor) { registry, _ in
            registry.thread(
                parameters.container, component: parameters.component, query
            ) { result in
                call.settle(result, in: Comments.self) {
                    .init(
                        comments: $0.comments.map(Interfaces.Comment.init), total: $0.total,
                        next: $0.next, sequence: Int($0.sequence))
                }
            }
        }
    }

    func post(
        _ parameters: Comments.Post.Parameters, call: VarlinkCall<Comments.Post.Reply>
    ) {
        let address = SubjectAddress(
            container: parameters.container, component: parameters.component,
            item: parameters.item)
        context.write(call, in: Comments.self, as: parameters.actor) { registry, caller in
            registry.post(
                address, parent: parameters.parent, text: parameters.text, id: parameters.id,
                by: caller
            ) { result in
                call.settle(result, in: Comments.self) {
                    .init(comment: .init($0.comment), sequence: Int($0.sequence))
                }
            }
        }
    }

    func edit(
        _ parameters: Comments.Edit.Parameters, call: VarlinkCall<Comments.Edit.Reply>
    ) {
        context.write(call, in: Comments.self, as: parameters.actor) { registry, caller in
            registry.edit(
                parameters.container, component: parameters.component,
                comment: parameters.comment, text: parameters.text, by: caller
            ) { result in
                call.settle(result, in: Comments.self) {
                    .init(comment: .init($0.comment), sequence: Int($0.sequence))
                }
            }
        }
    }

    func delete(
        _ parameters: Comments.Delete.Parameters, call: VarlinkCall<Comments.Delete.Reply>
    ) {
        context.write(call, in: Comments.self, as: parameters.actor) { registry, caller in
            registry.delete(
                parameters.container, component: parameters.component,
                comment: parameters.comment, by: caller
            ) { result in
                call.settle(result, in: Comments.self) {
                    .init(sequence: Int($0.sequence))
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
        context.registry.moderate(
            parameters.container, component: parameters.component,
            comment: parameters.comment, state: state, reason: parameters.reason, by: caller
        ) { result in
            call.settle(result, in: Comments.self) {
                .init(comment: .init($0.comment), sequence: Int($0.sequence))
            }
        }
    }
}
