import AtriumKit
import Glibc

/// A list that does what no plugin should, when an item of a certain name is put.
final class Breaker: ContentListing {
    private static let trapsAtStart = Setting.boolean(
        "trapsAtStart", "Whether to trap in init."
    ).defaulting(to: false)
    private static let hangsInWorker = Setting.boolean(
        "hangsInWorker", "Whether to hang in a worker's init."
    ).defaulting(to: false)
    private static let folder = Setting.path("folder", "What to read.")
    private static let key = Setting.secret("key", "What to keep.")

    static var settings: [Setting] {
        [trapsAtStart.setting, hangsInWorker.setting, folder.setting, key.setting]
    }

    weak var delegate: (any ContentListingDelegate)?
    private(set) var items: [Item] = []
    private let context: ComponentContext
    /// Microseconds that each change takes, as if there were many more of them.
    private let effort = getenv("BREAKER_PAUSE").flatMap { UInt32(String(cString: $0)) } ?? 0

    /// The file that is looked for at the start; in a worker, which has no such variable, beside the library's folder.
    private static var hangsWhile: String? {
        if let file = getenv("BREAKER_HANGS_WHILE") { return String(cString: file) }
        let words = CommandLine.arguments
        guard let place = words.firstIndex(of: "--library"), place + 1 < words.count,
            let end = words[place + 1].lastIndex(of: "/")
        else { return nil }
        return String(words[place + 1][..<end]) + "/../hang"
    }

    init(context: ComponentContext) throws {
        self.context = context
        if context.settings[Self.trapsAtStart] { fatalError("Told to trap at start.") }
        if context.settings[Self.hangsInWorker],
            CommandLine.arguments.contains("--library")
        {
            while true { pause() }
        }
        // As long as there is a file of this name.
        if let file = Self.hangsWhile {
            while access(file, F_OK) == 0 { usleep(10_000) }
        }
        context.observe("test.heard") { [weak self] notification in
            guard let self else { return }
            if let count = notification.payload["megabytes"]?.int {
                let text = Value.text(String(repeating: "a", count: 1 << 20))
                let items = (0..<count).map { Item(id: "item-\($0)", fields: ["text": text]) }
                return delegate?.contentListing(self, didChange: .insert(items)) ?? ()
            }
            context.logger.info("heard \(notification.payload["word"]?.text ?? "nothing")")
            delegate?.contentListing(self, didChange: .update([]))
        }
    }

    func put(_ items: [Item], _ context: CommandContext) throws(Refusal) -> ContentDecision {
        for item in items {
            switch item.id {
            case "trap": fatalError("Told to trap.")
            case "hang": while true { pause() }
            case "spin": while true { _ = getppid() }
            case "leave": exit(7)
            case let name where name.hasPrefix("look-up-"):
                let found = self.context.item(String(name.dropFirst(8)))
                throw Refusal(.refused, "found \(found.map { "\($0.fields)" } ?? "nothing")")
            case "burn", "burn-2", "burn-3", "burn-4": burn()
            case "burn-later":
                self.context.background {
                    0
                } then: { [weak self] _ in
                    self?.burn()
                }
            case "say":
                self.context.publish("said", ["id": .text(item.id), "mean": 4.0])
                self.context.logger.warning("a warning")
                print("on the standard output")
            case "babble":
                for _ in 0..<500 {
                    self.context.logger.info(String(repeating: "blah", count: 1_000))
                }
                self.context.publish(
                    "long", ["text": .text(String(repeating: "a", count: 300_000))])
            case "hurry":
                for number in 0..<1_200 {
                    self.context.publish("counted", ["number": .int(Int64(number))])
                }
            case "stranger": return ContentDecision(changes: [Item(id: "x", fields: [:]).record])
            case "unfit": return ContentDecision(changes: [Item.unfit(item.id).record])
            case "last-words":
                self.context.logger.info("about to trap")
                fatalError("Told to trap.")
            case "recurse": throw Refusal(.refused, "\(recurse(1)) deep")
            case "chatter-and-trap":
                for _ in 0..<500 { print("blah") }
                self.context.logger.info("about to trap")
                fatalError("Told to trap.")
            case "flood":
                for number in 0..<5_000 {
                    self.context.logger.info("line \(number)")
                    self.context.publish("counted", ["number": .int(Int64(number))])
                }
            case "gobble":
                var taken: [[UInt8]] = []
                for _ in 0..<64 { taken.append([UInt8](repeating: 1, count: 32 << 20)) }
                throw Refusal(.refused, "\(taken.count) blocks")
            case "chatter":
                for _ in 0..<500 { print(String(repeating: "blah", count: 1_000)) }
            case let name where name.hasPrefix("pour-"): pour(Int(name.dropFirst(5)) ?? 0)
            case "work":
                self.context.background {
                    "done"
                } then: { [weak self] result in
                    guard let self, case .success(let text) = result else { return }
                    self.context.logger.info("work is \(text)")
                }
            case let name where name.hasPrefix("try-"):
                let words = name.dropFirst(4).split(separator: "=", maxSplits: 1).map(String.init)
                if words.count == 2, let attempt = Intruder.attemptsOn[words[0]] {
                    throw Refusal(.refused, "\(name): \(attempt(words[1]))")
                }
                guard let attempt = Intruder.attempts[words[0]] else { continue }
                throw Refusal(.refused, "\(name): \(attempt())")
            default: continue
            }
        }
        let known = Set(self.items.map(\.id))
        let changed = items.filter { !self.items.contains($0) }
        return ContentDecision(
            changes: changed.map(\.record),
            inserted: changed.map(\.id).filter { !known.contains($0) },
            updated: changed.map(\.id).filter(known.contains),
            unchanged: items.count - changed.count)
    }

    /// Tells of so many items at once, a little later.
    private func pour(_ count: Int) {
        context.background {
            count
        } then: { [weak self] _ in
            guard let self else { return }
            let items = (0..<count).map { Item(id: "poured-\($0)", fields: ["title": "t"]) }
            delegate?.contentListing(self, didChange: .insert(items))
        }
    }

    /// Calls itself until there is no room for more.
    private func recurse(_ depth: Int) -> Int {
        depth == .max ? 0 : 1 + recurse(depth + 1) % 1_000
    }

    /// Uses three tenths of a second of the thread's processor time.
    private func burn() {
        func used() -> Double {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
        }
        let end = used() + 0.3
        while used() < end {}
    }

    func remove(_ ids: [String], _ context: CommandContext) throws(Refusal) -> [Change] {
        ids.filter { id in items.contains { $0.id == id } }.map { .removed(key: $0) }
    }

    func details(of id: String) -> [String: Value]? {
        id == "huge" ? ["text": .text(String(repeating: "a", count: 17_000_000))] : nil
    }

    func apply(_ change: Change) {
        usleep(effort)
        items.removeAll { $0.id == change.key }
        if let value = change.value, let item = Item(key: change.key, value: value) {
            items.append(item)
            delegate?.contentListing(self, didChange: .insert([item]))
        } else {
            delegate?.contentListing(self, didChange: .remove([change.key]))
        }
    }
}

extension Item {
    /// One whose field is not of its type.
    fileprivate static func unfit(_ id: String) -> Item { Item(id: id, fields: ["mean": "high"]) }
}

/// The plugin's entry.
@c(atrium_plugin_org_atrium_breaker)
public func entry() -> UnsafeMutableRawPointer { exportPlugin(Breaker.self) }
