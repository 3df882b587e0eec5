import Foundation
import GRDB
import Store
import TestSupport
import Testing

/// Stores whose files are broken at random: each opens with what was written, or says what is wrong.
///
/// `OPENING_CASES` says how many there are (400), and `OPENING_SEED` the first one's seed (0). The files of one that breaks the promise are kept in the folder of temporary ones.
@Suite(.timeLimit(.minutes(60))) struct OpeningFuzzTests {
    private static let seeds: Range<Int> = {
        let first = FaultTests.number("OPENING_SEED") ?? 0
        return first..<first + (FaultTests.number("OPENING_CASES") ?? 400)
    }()

    /// What was written under each key at some time.
    private static let written = (0..<80).flatMap { entry($0).changes }.reduce(
        into: [String: Set<[UInt8]>]()
    ) { written, change in written[change.key, default: []].insert(change.value ?? []) }

    @Test func `a broken store opens with what was written or says what is wrong`() throws {
        let whole = try Self.files()
        var said = 0
        for seed in Self.seeds {
            var random = RepeatableRandom(UInt64(seed))
            var files = whole
            for _ in 0..<Int.random(in: 1...3, using: &random) { files.breakOne(using: &random) }
            do {
                if try isSaid(files) { said += 1 }
            } catch let broken as BrokenPromise {
                let folder = "\(FileManager.default.temporaryDirectory.path)/atrium-opening-\(seed)"
                try FileManager.default.createDirectory(
                    atPath: folder, withIntermediateDirectories: true)
                for (name, data) in [("", files.database), ("-wal", files.log)] {
                    try data.write(to: URL(filePath: "\(folder)/atrium.sqlite\(name)"))
                }
                Issue.record("case \(seed), kept in \(folder): \(broken.what)")
            }
        }
        // Not all that breaks is ever read.
        #expect(said > Self.seeds.count / 3)
    }

    /// A store with some pages in its log alone.
    private static func files() throws -> StoreFiles {
        let bench = try Bench(TemporaryDirectory(inMemory: true))
        // Without room, in which a broken byte would change nothing.
        bench.store.keepLog(limit: .max, step: 0)
        for number in 0..<40 { bench.write(entry(number)) }
        _ = try bench.records("films", "list")
        _ = try bench.store.pragma("wal_checkpoint(TRUNCATE)")
        for number in 40..<80 { bench.write(entry(number)) }
        return try StoreFiles(of: bench.scratch)
    }

    private static func entry(_ number: Int) -> Entry {
        let value = [UInt8]("\(number) ".utf8) + [UInt8](repeating: 0x78, count: number * 17)
        return Entry(
            container: "films", epoch: 0, time: Int64(number), actor: Int64(number % 3 + 1),
            changes: [
                RecordChange(
                    container: "films", component: "list", key: "\(number)", value: value),
                RecordChange(container: "films", component: "last", key: "last", value: value),
            ],
            notification: NotificationDraft(topic: "t", payload: value),
            actors: [Actor(number: Int64(number % 3 + 1), name: "unix:\(number % 3)")])
    }

    /// Opens it and reads all; false: all that was read is what was written.
    private func isSaid(_ files: StoreFiles) throws -> Bool {
        let scratch = try files.written()
        do {
            let bench = try Bench(scratch)
            defer { bench.store.close() }
            guard bench.store.damages.isEmpty else {
                _ = try read(bench)
                return true
            }
            return try read(bench)
        } catch is StoreError {
            return true
        }
    }

    private func read(_ bench: Bench) throws -> Bool {
        let store = bench.store
        var isSaid = !store.damages.isEmpty
        let count = Int(store.lastSequence)
        var found: [String: [UInt8]] = [:]
        for component in ["list", "last"] {
            let difference = try store.forEachRecord(container: "films", component: component) {
                key, value, _ in
                let key = String(decoding: key, as: UTF8.self)
                if let value { found[key] = [UInt8](value) }
                if let bytes = found[key], Self.written[key]?.contains(bytes) != true {
                    throw BrokenPromise(what: "record \(key) as sound")
                }
                if value == nil { isSaid = true }
            }
            if difference != nil { isSaid = true }
        }
        let told = try store.notifications(after: 0, limit: .max).notifications
        if told.contains(where: \.isDamaged) { isSaid = true }
        if try isFoundByRecount(store) { isSaid = true }
        for notification in told where !notification.isDamaged {
            let entry = Self.entry(Int(notification.sequence) - 1)
            guard notification.payload == entry.notification?.payload else {
                throw BrokenPromise(what: "notification \(notification.sequence) as sound")
            }
        }
        let actors = try store.actors()
        let names = try (
            store.containers(), store.components(of: "films"), store.position(of: "films")
        )
        if case .failure? = bench.write(put("new", "x", epoch: 1)) { isSaid = true }
        guard !isSaid else { return true }
        guard actors == (1...3).map({ Actor(number: $0, name: "unix:\($0 - 1)") }),
            names == (["films"], ["last", "list"], Int64(count))
        else { throw BrokenPromise(what: "names \(actors), \(names)") }
        let entries = (0..<count).map(Self.entry)
        guard told.map(\.sequence) == (0..<count).map({ Int64($0 + 1) }),
            told.map(\.payload) == entries.compactMap(\.notification?.payload)
        else { throw BrokenPromise(what: "notifications \(told.map(\.sequence))") }
        var expected: [String: [UInt8]] = [:]
        for change in entries.flatMap(\.changes) { expected[change.key] = change.value }
        guard found == expected else {
            let wrong = Set(found.keys).union(expected.keys).filter { found[$0] != expected[$0] }
            throw BrokenPromise(what: "records \(wrong.sorted())")
        }
        return false
    }
}

/// What was shown is not what was written, and nothing was said.
private struct BrokenPromise: Error {
    var what: String
}

/// Whether a recount finds something: that an entry of the past is not there shows in no read.
private func isFoundByRecount(_ store: Store) throws -> Bool {
    let recount = try Recount(of: store, container: nil)
    while let slice = try recount.next() {
        if !slice.damaged.isEmpty || slice.missing > 0 || slice.difference != nil { return true }
        if !slice.problems.isEmpty { return true }
    }
    return false
}

extension StoreFiles {
    /// Breaks one of the files.
    fileprivate mutating func breakOne(using random: inout some RandomNumberGenerator) {
        if log.isEmpty || Bool.random(using: &random) {
            database.breakSomewhere(using: &random)
        } else {
            log.breakSomewhere(using: &random)
        }
    }
}

extension Data {
    fileprivate mutating func breakSomewhere(using random: inout some RandomNumberGenerator) {
        guard !isEmpty else { return }
        let place = Int.random(in: 0..<count, using: &random)
        let page = place / 4_096 * 4_096
        switch Int.random(in: 0..<8, using: &random) {
        case 0: removeLast(count - place)
        case 1: resetBytes(in: page..<Swift.min(page + 4_096, count))
        case 2: resetBytes(in: place..<Swift.min(place + 100, count))
        case 3:
            let other = Int.random(in: 0..<count, using: &random) / 4_096 * 4_096
            guard Swift.max(page, other) + 4_096 <= count else { return }
            replaceSubrange(page..<page + 4_096, with: subdata(in: other..<other + 4_096))
        case 4:
            // Where a page says what it is.
            self[Swift.min(page + Int.random(in: 0..<16, using: &random), count - 1)] =
                UInt8.random(in: 0...255, using: &random)
        default:
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                self[Int.random(in: 0..<count, using: &random)] ^=
                    1 << UInt8.random(in: 0..<8, using: &random)
            }
        }
    }
}
