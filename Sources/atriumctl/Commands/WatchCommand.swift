import ArgumentParser
import Interfaces
import JSONCodec

struct WatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch", abstract: "Print notifications, a line each, until Ctrl-C.",
        discussion: """
            A topic is dotted words; * stands for one word, > for the rest: 'films.>', \
            '*.votes.cast'. Quote them: the shell knows both signs too.

            When the connection is lost it is resumed by itself, behind what was shown last: nothing is \
            printed twice, and what can't be replayed any more is printed as missed.
            """,
        examples: "atriumctl watch 'films.>' --after 100")

    @Argument(help: "Topics to follow; by default all.")
    var topics: [String] = [">"]

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "First replay kept notifications after this sequence; 0: all.", valueName: "n"))
    var after: Int?

    @Option(
        help: ArgumentHelp(
            "With --after: the store of the sequence, as 'status' names it; from another store all is missed.",
            valueName: "id"))
    var store: String?

    @OptionGroup var connection: ConnectionOptions

    func validate() throws {
        guard store == nil || after != nil else {
            throw ValidationError("--store goes with --after, whose store it names.")
        }
        guard after ?? 0 >= 0 else { throw ValidationError("--after is a sequence from 0.") }
    }

    func run() async throws {
        var live = LiveNotifications(
            connection: connection,
            parameters: Notifications.Subscribe.Parameters(
                topics: topics, after: after, store: store))
        try await live.follow(try await connection.connect()) { event in
            switch event {
            case .batch(let reply, let object): show(reply, object)
            case .lost(let failure):
                let reason =
                    failure.status == .unreachable ? "lost the connection" : failure.sentence
                Output.note("atriumctl: \(PrintableText.line(reason)); trying again")
            case .found: Output.note("atriumctl: connected again")
            }
        }
    }

    private func show(_ reply: Notifications.Subscribe.Reply, _ object: JSONObject) {
        if connection.json { return Output.rawLine(object.bytes) }
        if let gap = reply.gap { Output.note(NotificationText.gap(gap, last: reply.sequence)) }
        for notification in reply.notifications {
            Output.line(
                NotificationText.line(
                    notification, width: Terminal.width, color: Terminal.hasColor))
        }
    }
}

/// Notifications as people read them.
enum NotificationText {
    /// Time, sequence, topic, who, and what, as far as there is room for it.
    static func line(
        _ notification: Notification, width: Int? = nil, color: Bool = false
    ) -> String {
        let sequence = notification.sequence.map { "#\($0)" } ?? "-"
        let who = PrintableText.line(notification.actor.map { ActorName.shown($0) } ?? "-")
        let time = PrintableText.line(notification.time)
        let topic = PrintableText.line(notification.topic)
        var payload = PrintableText.line(notification.payload.text)
        if let width {
            let used = DisplayWidth.of("\(time)  \(sequence)  \(topic)  \(who)  ")
            // Three lines show a vote or a remark in full, and keep an import from filling the screen.
            payload = DisplayWidth.cut(payload, to: max(3 * width - used, 20))
        }
        let (shownTime, shownTopic) = (
            Style.dim(time, enabled: color), Style.bold(topic, enabled: color)
        )
        return "\(shownTime)  \(sequence)  \(shownTopic)  \(who)  \(payload)"
    }

    /// What can't be replayed any more, or was never there: the number may be another store's.
    static func gap(_ gap: Notifications.Subscribe.Reply.Gap, last: Int) -> String {
        if gap.reason == .replaced {
            return
                "atriumctl: the store was replaced, so missed notifications are unknown; continuing after #\(last)"
        }
        if gap.from > last {
            return
                "atriumctl: there is no #\(gap.to): the last is #\(last); what comes next is shown"
        }
        let reason =
            switch gap.reason {
            case .damaged: "damaged in the store; 'atriumctl status' says more"
            case .transient: "transient, and came too fast to be delivered"
            case .trimmed, .replaced: "no longer kept"
            }
        return "atriumctl: missed #\(gap.from) to #\(gap.to): \(reason)"
    }
}

struct PublishCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "publish", abstract: "Publish a notification under CONTAINER.app.",
        examples: #"atriumctl publish films.app.doors '{"open":true}'"#)

    @Argument(help: "The topic, such as films.app.screening.")
    var topic: String

    @Argument(help: "The payload: a JSON object; - reads it from standard input.")
    var payload: String = "{}"

    @Flag(help: "Make it durable, with a sequence number.")
    var durable = false

    @Option(
        help: ArgumentHelp(
            "The person to act for, for front ends: NAMESPACE:NAME.", valueName: "actor"))
    var actor: String?

    @OptionGroup var connection: ConnectionOptions

    func run() async throws {
        let payload = try JSONArgument.object(payload, "the payload")
        let session = try await connection.connect()
        let parameters = Notifications.Publish.Parameters(
            topic: topic, payload: payload, durable: durable ? true : nil, actor: actor)
        try await session.report(Notifications.Publish.self, parameters) { reply in
            "published \(topic)" + (reply.sequence.map { " as #\($0)" } ?? "")
        }
    }
}

/// JSON on the command line.
enum JSONArgument {
    /// The object that an argument holds, by its name in errors; `-` reads it from standard input.
    static func object(_ argument: String, _ name: String) throws -> JSONObject {
        let text = argument == "-" ? try InputFile.text("-") : argument
        let problem: String
        do throws(JSONError) {
            if case .object = try JSON.decode(JSONValue.self, from: text) {
                // The text itself: of long numbers the tree has rounded ones.
                return try JSONObject(text)
            }
            problem = "JSON, but no object"
        } catch {
            // What is wrong with the first letter of a word is not what its author wants to know.
            let isMeant = text.first { !$0.isWhitespace } == "{"
            problem = "what is no JSON" + (isMeant ? ": \(error)" : "")
        }
        throw CommandFailure(
            "\(name): expected a JSON object, found \(problem)",
            hint: #"quote it for the shell: '{"name": "value"}'"#, status: .usage)
    }
}
