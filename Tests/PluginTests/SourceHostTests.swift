import AtriumKit
import AtriumKitTesting
import Foundation
import Testing

/// A list that says when it was woken, and by what.
private final class Alarm: ContentListing {
    weak var delegate: (any ContentListingDelegate)?
    private(set) var items: [Item] = []
    let isLoading = true
    private let context: ComponentContext
    private var hourly: Wakeup?

    init(context: ComponentContext) throws {
        self.context = context
        try context.watch("/srv/menu") { [weak self] in self?.add("folder") }
        try context.watch("/srv/menu/today") { [weak self] in self?.add("file") }
        hourly = try context.every(.seconds(3_600)) { [weak self] in self?.add("hour") }
        try context.after(.seconds(5_400)) { [weak self] in self?.add("once") }
    }

    private func add(_ what: String) {
        context.report(problem: what)
        delegate?.contentListing(self, didChange: .insert([Item(id: what, fields: [:])]))
    }

    func reload() {
        hourly?.cancel()
        add("reload")
    }
    func didChangeAudience(_ screens: Int) { add("\(screens)") }
    func apply(_ change: Change) {}
    func put(_ items: [Item], _ context: CommandContext) throws(Refusal) -> ContentDecision {
        ContentDecision()
    }
    func remove(_ ids: [String], _ context: CommandContext) throws(Refusal) -> [Change] { [] }
}

/// A component that sets as many timers and watches as it may, and one more.
private final class Greedy: Voting {
    weak var delegate: (any VotingDelegate)?

    init(context: ComponentContext) throws {
        for _ in 0..<ComponentContext.mostTimers { try context.after(.seconds(1)) {} }
        for _ in 0..<ComponentContext.mostWatches { try context.watch("/srv") {} }
        do {
            try context.after(.seconds(1)) {}
        } catch {
            context.logger.info(error.reason)
        }
        do {
            try context.watch("/srv") {}
        } catch {
            context.logger.info(error.reason)
        }
    }

    var tallies: [(subject: Subject, tally: Tally)] { [] }
    func apply(_ change: Change) {}
    func cast(_ ballot: Ballot, _ context: CommandContext) throws(Refusal) -> [Change] { [] }
    func retract(
        actor: ActorID, subject: Subject, _ context: CommandContext
    ) throws(Refusal) -> [Change] { [] }
    func tally(of subject: Subject) -> Tally { Tally() }
    func ballot(of actor: ActorID, on subject: Subject) -> Ballot? { nil }
    func ballots(on subject: Subject, after: ActorID?, limit: Int) -> [Ballot] { [] }
    func recordKeys(about subject: Subject) -> [String] { [] }
}

/// What a plugin's own tests do with a component whose items come from elsewhere.
@Suite struct SourceHostTests {
    private func told(_ host: MemoryHost) -> [String] {
        host.events.flatMap { event -> [String] in
            guard case .contents(.insert(let items)) = event else { return [] }
            return items.map(\.id)
        }
    }

    @Test func `time passes when a test lets it, and calls come in their order`() throws {
        let host = try MemoryHost(Alarm.self)
        host.advance(by: .seconds(3_599))
        #expect(told(host) == [])
        host.advance(by: .seconds(7_201))
        #expect(told(host) == ["hour", "once", "hour", "hour"])
        host.reload()
        host.advance(by: .seconds(36_000))
        #expect(told(host).last == "reload", "what was cancelled calls no more")
    }

    @Test func `a file that a test touches wakes who watches it or its folder`() throws {
        let host = try MemoryHost(Alarm.self)
        host.touch("/srv/menu/today")
        host.touch("/srv/menu/tomorrow")
        host.touch("/srv/other")
        #expect(told(host) == ["folder", "file", "folder"])
        host.changeAudience(3)
        #expect(told(host).last == "3")
        #expect(host.services.problem == "3")
        try host.restart()
        #expect(host.services.problem == nil)
    }

    @Test func `one timer or watch too many is refused with the limit`() throws {
        let host = try MemoryHost(Greedy.self)
        let said = host.services.messages.map(\.text)
        #expect(said.count == 2)
        #expect(said.first?.contains("has 64 timers, which is the most") == true)
        #expect(said.last?.contains("has 10000 watches, which is the most") == true)
    }
}

/// A source with a picture for each kind of question.
private final class Gallery: ImageProviding {
    weak var delegate: (any ContentListingDelegate)?
    var items: [Item] { [] }
    static let pictures: [String: [UInt8]] = [
        "png": [0x89] + Array("PNG\r\n\u{1A}\n".utf8), "jpeg": [0xFF, 0xD8, 0xFF, 0xE0],
        "gif": Array("GIF89a".utf8), "webp": Array("RIFF\u{1}\u{1}\u{1}\u{1}WEBPVP8 ".utf8),
        "avif": [0, 0, 0, 24] + Array("ftypmif1".utf8) + [0, 0, 0, 0] + Array("miafavif".utf8),
        "svg": Array("<svg xmlns='http://www.w3.org/2000/svg'/>".utf8), "empty": [],
        "heic": [0, 0, 0, 20] + Array("ftypheic".utf8) + [0, 0, 0, 0] + Array("heicavif".utf8),
    ]

    init(context: ComponentContext) {}

    func image(of id: String, field: String) throws(Refusal) -> ImageWork? {
        if id == "secret" { throw Refusal("Nobody sees it.") }
        return Self.pictures[id].map { bytes -> ImageWork in { bytes } }
    }
    func apply(_ change: Change) {}
    func put(_ items: [Item], _ context: CommandContext) throws(Refusal) -> ContentDecision {
        ContentDecision()
    }
    func remove(_ ids: [String], _ context: CommandContext) throws(Refusal) -> [Change] { [] }
}

@Suite struct ItemImageTests {
    @Test(arguments: ["png", "jpeg", "gif", "webp", "avif"])
    func `a picture is what its first bytes are`(_ type: String) async throws {
        let host = try MemoryHost(Gallery.self)
        let image = try await host.readImage(of: type, field: "cover")
        #expect(image.type == "image/\(type)")
        #expect(try ItemImage(base64: image.base64) == image)
        let bytes = try #require(Gallery.pictures[type])
        #expect(image.base64 == Data(bytes).base64EncodedString())
    }

    @Test(arguments: [
        ("svg", "PNG, JPEG"), ("empty", "PNG, JPEG"), ("heic", "PNG, JPEG"),
        ("secret", "Nobody"), ("none", "no such picture"),
    ])
    func `what is no picture is refused`(_ id: String, _ reason: String) async throws {
        let host = try MemoryHost(Gallery.self)
        let refusal = await #expect(throws: Refusal.self) {
            try await host.readImage(of: id, field: "cover")
        }
        #expect(refusal?.reason.contains(reason) == true, "\(String(describing: refusal))")
    }

    @Test func `text that is no base64 of a picture is refused`() {
        let long = String(repeating: "A", count: 2_796_204 + 4)
        for text in ["", "A", "iVBORw0KGgo", "R0lGODlh=AAA", "R0lGODlh!AAA", long] {
            #expect(throws: Refusal.self) { try ItemImage(base64: text) }
        }
    }
}
