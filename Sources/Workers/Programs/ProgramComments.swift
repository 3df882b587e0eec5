internal import AtriumKit
internal import CommentThreads
internal import JSONCodec
internal import PluginInterfaces
internal import Varlink

/// A comments component whose texts a plugin's program judges; the worker hosts it.
///
/// The comments are kept here, with the rules of `org.atrium.threads`. The program is called for texts that these rules
/// allow.
final class ProgramComments: ThreadedComments, ProgramComponent {
    private let program: Program
    private let context: ComponentContext
    private var itemFields: ItemFields

    static func greet(_ program: Program) throws -> Program.Greeting {
        let reply = try program.ask(
            Comments.Hello.self, .init(protocols: [Program.version]), for: Self.self)
        return try .init(reply.protocol, reply.settings, reply.defaults)
    }

    static func invalidSetting(_ error: VarlinkRemoteError) -> SettingError? {
        error.as(Comments.SettingInvalid.self).map { SettingError($0.setting, $0.reason) }
    }

    override class var settings: [AtriumKit.Setting] { Program.current?.settings ?? [] }

    required init(context: ComponentContext) throws {
        let program = try Program.started()
        self.program = program
        self.context = context
        do {
            let reply = try program.ask(
                Comments.Start.self,
                .init(
                    container: context.container, component: context.component,
                    settings: JSONObject(context.settings)), for: Self.self)
            itemFields = try ItemFields(reply.itemFields, context)
            super.init(context: context, rules: try CommentRules(reply, to: "Start"))
        } catch let failure as ProgramFailure {
            throw program.launchFailure(failure)
        }
    }

    override func didDetach() { program.stop(Comments.Stop.self, .init()) }

    override func canTake(_ settings: Settings) -> Bool {
        program.canTake(settings, inPlaceOf: context.settings)
    }

    override func settingsDidChange(from before: Settings) {
        let reply = program.sure(
            Comments.ChangeSettings.self, .init(settings: JSONObject(context.settings)))
        do throws(ProgramFailure) {
            itemFields = try ItemFields(reply.itemFields, context)
            rules = try CommentRules(.init(reply), to: "ChangeSettings")
        } catch {
            program.end(error.reason)
        }
    }

    override func judge(
        _ comment: Comment, replacing previous: Comment?, _ command: CommandContext
    ) throws(Refusal) -> Bool {
        let draft = Draft(
            id: comment.id, item: comment.subject.item, parent: comment.parent,
            author: String(command.actor.number),
            moderator: command.isModerator, text: comment.text ?? "",
            created: Int(comment.created.milliseconds))
        if let text = previous?.text {
            let reply = try program.judge(
                Comments.Edit.self,
                .init(
                    draft: draft, previous: text,
                    fields: itemFields.values(of: comment.subject.item)), refusal: Self.refusal)
            if let reply { return reply.waits ?? false }
        }
        let reply = try program.judge(
            Comments.Post.self,
            .init(draft: draft, fields: itemFields.values(of: comment.subject.item)),
            refusal: Self.refusal)
        return reply?.waits ?? false
    }

    private static func refusal(_ error: VarlinkRemoteError) -> Refusal? {
        error.as(Comments.Refused.self).flatMap { Program.refusal($0.reason, $0.retryAfter) }
    }
}

extension CommentRules {
    /// The rules that a program returns from `Start` or `ChangeSettings`.
    fileprivate init(
        _ reply: Comments.Start.Reply, to method: String
    ) throws(ProgramFailure) {
        let length = reply.maxLength ?? 10_000
        guard (1...1_000_000).contains(length) else {
            throw ProgramFailure(
                "answered '\(method)' with a maxLength of \(length): 1 to 1000000 are right")
        }
        let subjects = reply.subjects.map { kinds in
            Set(kinds.map { $0 == .items ? SubjectKind.items : .container })
        }
        guard subjects?.isEmpty != true else {
            throw ProgramFailure(
                "answered '\(method)' without subjects: items, container or both are right")
        }
        self.init(
            subjects: subjects ?? Set(SubjectKind.allCases), maxLength: length,
            isModerated: reply.moderated ?? false)
    }
}

extension Comments.Start.Reply {
    /// The reply to other settings, which has the same members.
    fileprivate init(_ reply: Comments.ChangeSettings.Reply) {
        self.init(
            maxLength: reply.maxLength,
            subjects: reply.subjects?.map { $0 == .items ? .items : .container },
            moderated: reply.moderated, itemFields: reply.itemFields)
    }
}
