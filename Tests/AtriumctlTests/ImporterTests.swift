import Glibc
import Interfaces
import JSONCodec
import Logging
import NIOPosix
import Synchronization
import TestSupport
import Testing
import Varlink

@testable import atriumctl

/// A daemon that keeps items and refuses some, on a socket of its own.
private final class Shop: Sendable {
    struct State {
        var items: [String: JSONObject] = [:]
        var parents: [String: String] = [:]
        var reads = 0
        var records: [Record] = []
        var calls = 0
        var busyCalls = 0
        var isReadOnly = false
    }

    let state = Mutex(State())
    private static let fields = [
        Field(name: "title", type: "text", required: false, search: false),
        Field(name: "rating", type: "number", required: false, search: false),
        Field(name: "length", type: "duration", required: false, search: false),
        Field(name: "genres", type: "keywords", required: false, search: false),
    ]

    /// The error for a batch; nil when it goes in.
    func put(_ batch: [Contents.Put.Parameters.Items]) -> (any VarlinkErrorReply)? {
        state.withLock { state -> (any VarlinkErrorReply)? in
            if state.isReadOnly {
                return Contents.ReadOnly(component: "list", reason: "It lists a file.")
            }
            if batch.isEmpty { return nil }
            state.calls += 1
            if state.busyCalls > 0 {
                state.busyCalls -= 1
                return Contents.StoreUnavailable(reason: "full", retryAfter: 0.05)
            }
            for item in batch {
                if item.fields.value["rating"]?.string != nil {
                    return Contents.FieldInvalid(
                        item: item.id, field: "rating", expected: "a number", found: "a text")
                }
                if item.fields.value["genre"] != nil {
                    return Contents.FieldInvalid(
                        item: item.id, field: "genre", expected: "a declared field (title, …)",
                        found: "an undeclared one")
                }
                if item.id == "cursed" { return Contents.Refused(reason: "Not that one.") }
            }
            for item in batch {
                state.items[item.id] = item.fields
                state.parents[item.id] = item.parent
            }
            return nil
        }
    }

    private func item(_ id: String) -> Item? {
        state.withLock { state in
            state.reads += 1
            return state.items[id].map {
                Item(id: id, parent: state.parents[id], fields: $0)
            }
        }
    }

    func serve(at path: String) async throws -> VarlinkServer {
        var router = VarlinkRouter(
            vendor: "Atrium", product: "Test", version: "1", url: "https://example.org")
        router.add(Contents.self)
        router.add(Containers.self)
        router.handle(Contents.Put.self) { parameters, call in
            if let error = self.put(parameters.items) { return call.fail(error) }
            call.reply(
                .init(inserted: parameters.items.count, updated: 0, unchanged: 0, sequence: 1))
        }
        router.handle(Contents.List.self) { _, call in
            call.reply(
                .init(items: [], total: self.state.withLock { $0.items.count }, sequence: 1))
        }
        router.handle(Contents.Get.self) { parameters, call in
            guard let item = self.item(parameters.item) else {
                return call.fail(
                    Contents.ItemNotFound(container: parameters.container, item: parameters.item))
            }
            call.reply(.init(item: item, sequence: 1))
        }
        router.handle(Containers.Describe.self) { parameters, call in
            let container = Container(
                name: parameters.container, title: "", state: .ready, items: 0, components: [])
            call.reply(.init(container: container, fields: Self.fields, sequence: 1))
        }
        router.handle(Containers.Restore.self) { parameters, call in
            self.state.withLock { $0.records += parameters.records }
            call.reply(.init(restored: parameters.records.count, unchanged: 0, sequence: 1))
        }
        return try await VarlinkServer.start(
            on: MultiThreadedEventLoopGroup.singleton.next(), at: .path(path), router: router,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }
}

@Suite(.timeLimit(.minutes(3))) struct `Importing` {
    /// Imports lines into a shop.
    private func run(
        _ lines: [String], _ shop: Shop = Shop(), wishes: ItemShape.Wishes = .init(),
        isInterrupted: @escaping () -> Bool = { false }
    ) async throws -> ImportReport {
        let folder = try TemporaryDirectory()
        let path = folder.path + "/socket"
        let file = try folder.write("lines", lines.joined(separator: "\n"))
        let server = try await shop.serve(at: path)
        do {
            var importer = Importer(
                try await Session(socket: path), container: "films", component: nil,
                wishes: wishes, isInterrupted: isInterrupted)
            var reader = try ImportReader(file)
            do {
                try await importer.run(&reader)
            } catch is ImportInterrupted {
            }
            await server.stop(within: .zero)
            return importer.report
        } catch {
            await server.stop(within: .zero)
            throw error
        }
    }

    private func item(_ id: String, _ rating: String = "8") -> String {
        #"{"id":"\#(id)","fields":{"rating":\#(rating)}}"#
    }

    @Test func `a list that takes no items says so, and nothing of the columns`() async throws {
        let shop = Shop()
        shop.state.withLock { $0.isReadOnly = true }
        let failure = await #expect(throws: CommandFailure.self) {
            try await run(["id,nonsense", "a,1"], shop)
        }
        #expect(failure?.sentence == "the component 'list' takes no items: It lists a file.")
    }

    @Test func `a field that is not declared is named, without those that are`() async throws {
        let report = try await run([#"{"id":"a","fields":{"genre":"drama"}}"#])
        #expect(report.badLines.map(\.reason) == ["item 'a': 'genre' is no field of 'films'"])
    }

    @Test func `all lines go in, in batches of a thousand`() async throws {
        let shop = Shop()
        let report = try await run((1...3500).map { item("i\($0)") }, shop)
        #expect(report.inserted == 3500)
        #expect(report.bad == 0)
        shop.state.withLock {
            #expect($0.items.count == 3500)
            #expect($0.calls == 4)
        }
    }

    @Test func `a bad item is named by its line, and the rest of its batch goes in`() async throws {
        let shop = Shop()
        var lines = (1...2500).map { item("i\($0)") }
        for line in [1, 700, 701, 2500] { lines[line - 1] = item("i\(line)", #""high""#) }
        lines[9] = "{nonsense"
        let report = try await run(lines, shop)
        #expect(report.badLines.map(\.line) == [1, 10, 700, 701, 2500])
        #expect(report.badLines[2].reason.contains("expected a number, found a text"))
        #expect(report.inserted == 2495)
        shop.state.withLock { #expect($0.items.count == 2495) }
    }

    @Test func `a file full of bad items is not sent over and over`() async throws {
        let shop = Shop()
        let report = try await run((1...2000).map { item("i\($0)", #""x""#) }, shop)
        #expect(report.bad == 2000)
        #expect(report.badLines.count == 10)
        shop.state.withLock { #expect($0.calls == 2000) }
    }

    @Test func `a refusal that names nothing is found by halves`() async throws {
        let shop = Shop()
        var lines = (1...300).map { item("i\($0)") }
        lines[123] = item("cursed")
        let report = try await run(lines, shop)
        #expect(report.badLines == [.init(line: 124, reason: "Not that one.")])
        #expect(report.inserted == 299)
        shop.state.withLock { #expect($0.calls < 30) }
    }

    @Test func `while the store takes no writes the import waits, and then goes on`() async throws {
        let shop = Shop()
        shop.state.withLock { $0.busyCalls = 6 }
        let report = try await run((1...2500).map { item("i\($0)") }, shop)
        #expect(report.inserted == 2500)
        #expect(report.bad == 0)
    }

    @Test func `the later of two lines for one item wins, though the first batch was mended`()
        async throws
    {
        let shop = Shop()
        var lines = (1...2000).map { item("i\($0)") }
        lines[0] = item("bad", #""x""#)
        lines[500] = item("twice", "1")
        lines[1500] = item("twice", "2")
        _ = try await run(lines, shop)
        shop.state.withLock { #expect($0.items["twice"]?.text == #"{"rating":2}"#) }
    }

    @Test func `fields without a column stay, and so does the parent, unless items are replaced`()
        async throws
    {
        let shop = Shop()
        _ = try await run(
            [
                #"{"id":"a","fields":{"title":"A","rating":1,"genres":["x"]},"parent":"p"}"#,
                #"{"id":"p","fields":{"title":"P"}}"#,
            ], shop)
        let lines = (1...2_100).map { "i\($0),New," }
        let report = try await run(["id,title,rating", "a,B,"] + lines, shop)
        #expect(report.inserted == 2_101 && report.bad == 0, "\(report)")
        shop.state.withLock {
            #expect($0.items["a"]?.text == #"{"genres":["x"],"title":"B"}"#)
            #expect($0.parents["a"] == "p")
            #expect($0.items["i2100"]?.text == #"{"title":"New"}"#)
        }
        _ = try await run([#"{"id":"a","rating":2,"parent":null}"#], shop)
        shop.state.withLock {
            #expect($0.items["a"]?.text == #"{"genres":["x"],"title":"B","rating":2}"#)
            #expect($0.parents["a"] == nil)
        }
        _ = try await run(["id,title", "a,C"], shop, wishes: .init(replacesItems: true))
        shop.state.withLock { #expect($0.items["a"]?.text == #"{"title":"C"}"#) }
    }

    @Test func `of an empty list no items are read but those that a file has twice`() async throws {
        let shop = Shop()
        let lines = (1...50).map { "i\($0),x" }
        _ = try await run(["id,title"] + lines + [#""i7",y"#], shop)
        shop.state.withLock {
            #expect($0.reads == 1)
            #expect($0.items["i7"]?.text == #"{"title":"y"}"#)
        }
    }

    @Test func `an id that stands twice is reported, also within a batch`() async throws {
        let shop = Shop()
        let report = try await run(
            [item("a", "1"), item("b"), item("a", "2"), item("a", "3")], shop)
        #expect(
            report.duplicates
                == [.init(id: "a", line: 3, before: 1), .init(id: "a", line: 4, before: 3)])
        #expect((report.inserted, report.bad) == (4, 0))
        shop.state.withLock { #expect($0.items["a"]?.text == #"{"rating":3}"#) }
    }

    @Test(arguments: [
        (["1", "2", "3"], "3"), (["1", "2", #""bad""#], "2"), (["1", #""bad""#, #""bad""#], "1"),
        (["1", #""bad""#, "3"], "3"), ([#""bad""#, "2", #""bad""#], "2"),
    ])
    func `of an id that stands in several batches the latest good line counts`(
        ratings: [String], kept: String
    ) async throws {
        let shop = Shop()
        var lines: [String] = []
        for (batch, rating) in ratings.enumerated() {
            // Each batch is refused for its last line, and sent again, while those behind it are under way.
            lines += [item("x", rating)] + (1...998).map { item("i\(batch)-\($0)") }
            lines.append(item("bad\(batch)", #""bad""#))
        }
        let report = try await run(lines, shop)
        #expect(report.bad == 3 + ratings.count { $0.contains("bad") })
        shop.state.withLock {
            #expect($0.items["x"]?.text == #"{"rating":\#(kept)}"#)
            #expect($0.items.count == 3 * 998 + 1)
        }
    }

    @Test(arguments: [
        ["id,title,parent", "cafe\u{301},A,e\u{301}"],
        [#"{"id":"cafe\u0301","title":"A","parent":"e\u0301"}"#],
        [#"{"id":"cafe\u0301","fields":{"title":"A"},"parent":"e\u0301"}"#],
    ])
    func `ids and parents are in NFC, whatever the file has`(lines: [String]) async throws {
        let shop = Shop()
        let report = try await run(lines, shop)
        #expect((report.inserted, report.bad) == (1, 0))
        shop.state.withLock {
            let ids = Array($0.items.keys) + Array($0.parents.values)
            #expect(ids.map { Array($0.utf8) } == [Array("caf\u{E9}".utf8), Array("\u{E9}".utf8)])
        }
    }

    @Test func `an id that stands twice in two Unicode forms is one`() async throws {
        let report = try await run(["id,title", "caf\u{E9},one", "cafe\u{301},two"])
        #expect(report.duplicates == [.init(id: "caf\u{E9}", line: 3, before: 2)])
        #expect(report.complaints.first?.hasSuffix("the later one counts") == true)
    }

    @Test func `a whole number that 64 bits don't hold keeps its digits, or is refused`()
        async throws
    {
        let shop = Shop()
        let report = try await run(
            [
                #"{"id":"a","rating":12345678901234567890}"#,
                #"{"id":12345678901234567890,"title":12345678901234567891,"parent":98765432109876543210}"#,
                #"{"id":"c","length":-9223372036854775809}"#, #"{"id":"d","rating":1e20}"#,
            ], shop)
        #expect(report.badLines.map(\.line) == [1, 3])
        #expect(
            report.badLines.first?.reason
                == "rating: expected a number that a 64-bit float holds exactly "
                + "(a field of the type text keeps every digit), found '12345678901234567890'")
        shop.state.withLock {
            #expect($0.items.keys.sorted() == ["12345678901234567890", "d"])
            #expect(
                $0.items["12345678901234567890"]?.text == #"{"title":"12345678901234567891"}"#)
            #expect($0.parents == ["12345678901234567890": "98765432109876543210"])
        }
    }

    @Test func `an id is made of a number's digits, however many`() async throws {
        let shop = Shop()
        let report = try await run(
            [#"{"title":"A","code":12345678901234567890}"#], shop,
            wishes: .init(id: ["title", "code"]))
        #expect(report.bad == 0)
        shop.state.withLock { #expect(Array($0.items.keys) == ["a-12345678901234567890"]) }
    }

    @Test func `an import that is interrupted counts what is in`() async throws {
        let shop = Shop()
        let asked = Mutex(0)
        let report = try await run((1...5000).map { item("i\($0)") }, shop) {
            asked.withLock { count in
                // Each line is asked about before and after it is read.
                count += 1
                return count > 5000
            }
        }
        #expect(report.inserted == 2000)
        shop.state.withLock { #expect($0.items.count == 2000) }
    }

    @Test func `a table's cells become what the container's fields are`() async throws {
        let shop = Shop()
        let report = try await run(
            [
                "ID;Title;Rating;Length;Genres;", #"a;"A ""B"";"#, #"C";8,5;1h57m;x, y|z;"#,
                "b;;7,5;;;", "c;C;high;;;", "d;D", ";;;;;",
            ], shop)
        #expect((report.inserted, report.bad) == (2, 2))
        #expect(report.badLines.map(\.line) == [5, 6])
        #expect(report.badLines[0].reason == "column 3: rating: expected a number, found 'high'")
        shop.state.withLock {
            #expect(
                $0.items["a"]?.text
                    == #"{"title":"A \"B\";\nC","rating":8.5,"length":7020,"genres":["x, y","z"]}"#)
            #expect($0.items["b"]?.text == #"{"rating":7.5}"#)
        }
    }

    @Test func `an array of flat objects, in another object or not, becomes items`() async throws {
        for (head, tail) in [("[", "]"), (#"{"count": 2, "films": ["#, "], \"next\": null}")] {
            let shop = Shop()
            let report = try await run(
                [
                    head + #"{"Id": 7, "title": 1984, "length": "1h", "genres": ["a"]}, "#,
                    #" {"id": "b", "rating": null, "titel": "B"}, 3"# + tail,
                ], shop)
            #expect(report.inserted == 1)
            #expect(report.badLines.map(\.line) == [2, 2])
            #expect(report.badLines[0].reason.contains("did you mean 'title'?"))
            shop.state.withLock {
                #expect(
                    $0.items["7"]?.text == #"{"title":"1984","length":3600,"genres":["a"]}"#)
            }
        }
    }

    @Test func `true, false and whole numbers are words in texts and keywords`() async throws {
        let shop = Shop()
        let report = try await run(
            [
                #"{"id": "a", "title": true, "genres": false}"#,
                #"{"id": "b", "title": 7, "genres": 1984}"#,
                #"{"id": "c", "title": "n/a", "genres": "x|y"}"#,
            ], shop)
        #expect(report.inserted == 3)
        shop.state.withLock {
            #expect($0.items["a"]?.text == #"{"title":"true","genres":["false"]}"#)
            #expect($0.items["b"]?.text == #"{"title":"7","genres":["1984"]}"#)
        }
    }

    @Test func `ids are made of columns, and others are left out`() async throws {
        let shop = Shop()
        let wishes = ItemShape.Wishes(id: ["Title", "rating"], ignored: ["Note"])
        _ = try await run(["title,Rating,note", "Amélie's  Œuvre!,8,x"], shop, wishes: wishes)
        _ = try await run([#"{"title":"Ünder","rating":9,"note":3}"#], shop, wishes: wishes)
        shop.state.withLock {
            #expect(
                $0.items["amelies-oeuvre-8"]?.text == #"{"title":"Amélie's  Œuvre!","rating":8}"#)
            #expect($0.items["under-9"]?.text == #"{"title":"Ünder","rating":9}"#)
        }
    }

    @Test(arguments: [
        ("id,titel", "line 1, column 2: 'titel' is no field of 'films'", "did you mean 'title'?"),
        ("title,rating", "line 1 names no column 'id'", "--id title,year"),
        ("id,title,TITLE", "the columns 'title' and 'TITLE' mean the same", "--ignore"),
        ("id,\"title", "line 1, column 4: a quote is opened here and never closed", nil),
    ])
    func `a table whose first row does not fit is refused as a whole`(
        header: String, sentence: String, hint: String?
    ) async throws {
        let failure = try await #require(
            #expect(throws: CommandFailure.self) { try await run([header, "a,b"]) })
        #expect(failure.sentence.contains(sentence), "\(failure)")
        #expect(hint.map { failure.hint?.contains($0) == true } ?? true, "\(failure)")
    }

    @Test func `what an export with votes and comments wrote is taken back`() async throws {
        let shop = Shop()
        let header = ExportHeader(container: "films", version: "1", all: true).line(sequence: 7)
        let record = Record(
            component: "stars", kind: "votes", key: "a", actor: "unix:0", value: ["value": 4])
        let lines = [
            String(decoding: JSON.encode(header), as: UTF8.self), item("a"),
            String(decoding: JSON.encode(record), as: UTF8.self),
        ]
        let report = try await run(lines, shop)
        #expect((report.inserted, report.restored, report.bad) == (1, 1, 0))
        shop.state.withLock { #expect($0.records == [record]) }
    }
}
