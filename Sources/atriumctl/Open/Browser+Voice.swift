import Interfaces

/// Votes and comments.
extension Browser {
    // MARK: - Votes

    /// What a vote is on: the item under the cursor, or in the thread what that is about.
    private mutating func voted() -> (Request.Subject, VoteFacts?)? {
        guard let votes = screen.component("votes") else {
            status.say("nobody votes here")
            return nil
        }
        guard votes.votes?.closed != true else {
            status.say("the container is closed for votes")
            return nil
        }
        let subjects = votes.votes?.subjects ?? [.items]
        let item =
            pane == .list ? lists.item?.id : screen.model.focus.isEmpty ? nil : screen.model.focus
        if item == nil, pane == .list { return nil }
        guard subjects.contains(item == nil ? .container : .items) else {
            status.say(
                item == nil ? "votes are on items here" : "votes are on the whole here: press t")
            return nil
        }
        return (subject(votes.name, item), votes.votes)
    }

    func subject(_ component: String, _ item: String?) -> Request.Subject {
        .init(component: component, item: item, title: item.map(lists.name(of:)) ?? screen.title)
    }

    /// A digit votes at once where it can be nothing else, `v` asks for the value.
    mutating func vote(_ character: Character) -> [Effect] {
        guard let (subject, facts) = voted() else { return [] }
        if character == "v" {
            mode = .prompt(.vote(subject), TextInput())
            return []
        }
        let isSign = character == "+" || character == "-"
        guard let value = Double(isSign ? "\(character)1" : "\(character)") else { return [] }
        let isBeyondDigits = facts.map { max($0.max ?? 10, -($0.min ?? 0)) > 9 } ?? true
        if isBeyondDigits {
            mode = .prompt(.vote(subject), TextInput(character == "+" ? "" : "\(character)"))
            return []
        }
        return cast(value, on: subject)
    }

    /// Votes, if the value is on the scale.
    mutating func cast(_ value: Double, on subject: Request.Subject) -> [Effect] {
        if let facts = screen.model.components.first(where: { $0.name == subject.component })?
            .votes,
            !FactsText.takes(value, facts)
        {
            status.say("votes go here from \(FactsText.scale(facts))", isError: true)
            return []
        }
        return [.call(.vote(subject, value))]
    }

    /// Takes the person's vote back.
    mutating func unvote() -> [Effect] {
        voted().map { [.call(.unvote($0.0))] } ?? []
    }

    // MARK: - Comments

    /// Begins a comment on the item under the cursor, or in the thread on what that is about.
    mutating func comment() -> [Effect] {
        guard let talk = screen.component("comments") else {
            status.say("nobody comments here")
            return []
        }
        guard isOpenForComments() else { return [] }
        let subjects = talk.comments?.subjects ?? [.items]
        var item =
            pane == .list ? lists.item?.id : screen.model.focus.isEmpty ? nil : screen.model.focus
        if !subjects.contains(.items) { item = nil }
        guard item != nil || subjects.contains(.container) else {
            status.say("comments are on items here")
            return []
        }
        write(.comment(subject(talk.name, item)))
        let focus = item ?? ""
        return focus == screen.model.focus ? [] : [.call(.focus(item))]
    }

    /// Whether comments are taken; says that they are not.
    private mutating func isOpenForComments() -> Bool {
        guard screen.component("comments")?.comments?.closed == true else { return true }
        status.say("the container is closed for comments")
        return false
    }

    /// The comment that a key is about.
    private mutating func chosenComment() -> (component: String, comment: Comment)? {
        guard let talk = screen.component("comments"), pane == .thread, let comment = thread.comment
        else {
            status.say(
                screen.hasThread ? "choose a comment first: t goes to them" : "nobody comments here"
            )
            return nil
        }
        return (talk.name, comment)
    }

    /// Begins a reply to the chosen comment.
    mutating func reply() -> [Effect] {
        guard isOpenForComments(), let (component, comment) = chosenComment() else { return [] }
        write(
            .reply(
                subject(component, screen.model.focus.isEmpty ? nil : screen.model.focus),
                to: comment))
        return []
    }

    /// Begins another text for the chosen comment, if it is the person's own.
    mutating func edit() -> [Effect] {
        guard isOpenForComments(), let (component, comment) = chosenComment() else { return [] }
        guard comment.author == actor, let text = comment.text else {
            status.say("only who wrote a comment edits it")
            return []
        }
        write(.edit(component: component, comment), text)
        return []
    }

    /// Shows what may be done with the chosen comment.
    mutating func moderate() -> [Effect] {
        guard let (_, comment) = chosenComment() else { return [] }
        worksQueue = false
        open(.moderation(comment), none: "moderators decide on others' comments")
        return []
    }

    // MARK: - What became of it

    /// A request was done, which a revision shows; `text` is what to say.
    mutating func done(_ request: Request, revision: Int?, text: String?) {
        if let revision, screen.root.revision >= revision { startsAnew = false }
        if let text { status.say(text) }
    }

    /// A request was refused: what was typed is there again.
    mutating func failed(_ request: Request, _ failure: CommandFailure, isHere: Bool = true) {
        startsAnew = false
        lists.leave(nil)
        let hint = failure.status == .unreachable ? nil : failure.hint
        let words = [failure.sentence] + [hint].compactMap(\.self)
        status.say(words.joined(separator: "; ").replacing("\n", with: " "), isError: true)
        // What lies there is read from the start the next time: the place may be gone.
        if case .page(let query, _, _) = request { windows.dropPages(behind: query.component) }
        giveBack(request, isHere: isHere)
    }
}
