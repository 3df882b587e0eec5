import AtriumKit

/// A source that is asked, and does what it is searched for.
///
/// It waits for the notification `notes.app.go` where that says `wait`, traps or hangs, says too much, or finds the
/// letters of the text; without one it finds `a` and `b`.
final class Asker: Querying {
    weak var delegate: (any ContentListingDelegate)?
    private let context: ComponentContext
    private var waiting: [(Result<ContentAnswer, Refusal>) -> Void] = []

    init(context: ComponentContext) throws {
        self.context = context
        context.observe("notes.app.go") { [weak self] _ in
            guard let self else { return }
            let due = waiting
            waiting = []
            for reply in due { reply(.success(ContentAnswer(items: [Self.item("late")]))) }
        }
    }

    func ask(
        _ question: ContentQuestion,
        _ reply: @escaping (Result<ContentAnswer, Refusal>) -> Void
    ) {
        context.publish(
            "asked", ["search": .text(question.search), "limit": .int(Int64(question.limit))])
        switch question.search {
        case "wait": waiting.append(reply)
        case "trap": fatalError("Told to trap.")
        case "hang": while true {}
        case "refuse": reply(.failure(Refusal("The source is shut.")))
        case "flood":
            let text = Value.text(String(repeating: "x", count: 1 << 20))
            let items = (0..<40).map { Item(id: "\($0)", fields: ["title": text]) }
            reply(.success(ContentAnswer(items: items)))
        case let text:
            let letters = (text.isEmpty ? "ab" : text).prefix(question.limit)
            let answer = ContentAnswer(items: letters.map { Self.item("\($0)") })
            context.background {
                answer
            } then: { result in
                reply(result.mapError { Refusal("\($0)") })
            }
        }
    }

    private static func item(_ id: String) -> Item { Item(id: id, fields: ["title": .text(id)]) }
}

/// The plugin's entry.
@c(atrium_plugin_org_atrium_asker)
public func askerEntry() -> UnsafeMutableRawPointer { exportPlugin(Asker.self) }
