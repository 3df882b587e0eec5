public import AtriumKit

/// Comments with replies to any depth.
///
/// A deleted comment stays as a tombstone, which people see only where it has replies that they
/// see; so does one that waits for a moderator.
///
/// A subclass may have rules of its own, in ``judge(_:replacing:_:)``.
open class ThreadedComments: CommentRestoring {
    /// The delegate, which is notified of new, changed and removed comments.
    public weak var delegate: (any CommentingDelegate)?

    let context: ComponentContext
    /// The rules for what is written from now on.
    package var rules: CommentRules
    /// Whether the rules are those of the settings.
    private var hasRulesOfSettings = false
    let tree = ThreadTree()

    /// The settings of the component: `subjects`, `maxLength`, `moderated`.
    open class var settings: [Setting] { CommentRules.settings }

    /// Makes a component without comments; throws for unknown subjects.
    public required convenience init(context: ComponentContext) throws {
        self.init(context: context, rules: try CommentRules(context.settings))
        hasRulesOfSettings = true
    }

    /// Makes a component without comments, with rules that its settings don't change.
    public init(context: ComponentContext, rules: CommentRules) {
        self.context = context
        self.rules = rules
    }

    /// Whether the settings differ only in `subjects`, `maxLength` and `moderated`, which affect only later comments.
    open func canTake(_ settings: Settings) -> Bool {
        let own = Set(CommentRules.settings.map(\.name))
        func others(_ settings: Settings) -> [String: Value] {
            settings.values.filter { !own.contains($0.key) }
        }
        return hasRulesOfSettings && others(settings) == others(context.settings)
            && (try? CommentRules(settings)) != nil
    }

    /// Applies the new rules from now on; comments that wait for a moderator continue to wait.
    open func settingsDidChange(from before: Settings) {
        if let rules = try? CommentRules(context.settings) { self.rules = rules }
    }

    /// Decides on a text that is new, or replaces another.
    ///
    /// It is called after all other checks, and changes nothing. This implementation makes a text wait for a moderator
    /// if the rules require that, unless a moderator wrote it.
    ///
    /// - Parameters:
    ///   - comment: the comment with the text.
    ///   - previous: the comment before the change; nil: it is new.
    ///   - command: its author and time.
    /// - Returns: whether the text waits for a moderator.
    /// - Throws: a ``Refusal``.
    open func judge(
        _ comment: Comment, replacing previous: Comment?, _ command: CommandContext
    ) throws(Refusal) -> Bool {
        rules.isModerated && !command.isModerator
    }

    /// Does nothing; a subclass may override it.
    open func didDetach() {}

    /// The maximum length of a comment, whether it waits for a moderator, and the kinds of its subjects.
    public var facts: CommentFacts {
        CommentFacts(
            maxLength: rules.maxLength, moderated: rules.isModerated, subjects: rules.subjects)
    }

    /// Every subject with comments that people see, with how many.
    public var counts: some Sequence<(subject: Subject, count: Int)> { tree.counts }

    /// Puts the record's comment in its place, or removes it.
    public func apply(_ change: Change) {
        let comment = comment(of: change)
        let before = tree.replace(change.key, with: comment)
        // While records are restored, nobody is notified.
        guard let delegate else { return }
        report(before, comment, to: delegate)
        // Where another number of comments is seen now.
        let wasShown = before?.state == .shown
        let isShown = comment?.state == .shown
        let isSame = wasShown && isShown && before?.subject == comment?.subject
        if isSame { return }
        if wasShown, let subject = before?.subject {
            delegate.commenting(self, didChange: tree.count(of: subject), of: subject)
        }
        if isShown, let subject = comment?.subject {
            delegate.commenting(self, didChange: tree.count(of: subject), of: subject)
        }
    }

    /// Makes room for about this many comments.
    public func reserve(_ count: Int) { tree.reserve(count) }

    /// Puts each comment in its place.
    public func restore(_ comments: [Comment]) {
        for comment in comments {
            if comment.parent == comment.id {
                apply(comment.record)
            } else {
                tree.replace(comment.id, with: comment)
            }
        }
    }

    /// The comment that a record is now; nil: it is gone, or holds none.
    private func comment(of change: Change) -> Comment? {
        guard let value = change.value else { return nil }
        if let comment = Comment(key: change.key, value: value), comment.parent != change.key {
            return comment
        }
        context.logger.warning(
            "The record '\(change.key)' is no comment (an object with 'state' and "
                + "'created', not its own parent, is); it is skipped.")
        return nil
    }

    private func report(
        _ before: CommentNode?, _ after: Comment?, to delegate: any CommentingDelegate
    ) {
        if let after, after.state == .shown, before?.state != .shown {
            delegate.commenting(self, didPost: after)
        } else if let before, before.state != .removed {
            let before = before.comment
            if let after, after.state != .removed {
                if after != before { delegate.commenting(self, didEdit: after) }
            } else {
                delegate.commenting(self, didRemove: (after ?? before).asTombstone)
            }
        }
    }
}
