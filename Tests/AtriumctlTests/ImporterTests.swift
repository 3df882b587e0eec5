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
        var records: [Record] = []
        var calls = 0
        var busyCalls = 0
    }

    let state = Mutex(State())

    /// The error for a batch; nil when it goes in.
    func put(_ batch: [Contents.Put.Parameters.Items]) -> (any VarlinkErrorReply)? {
        state.withLock { state -> (any VarlinkErrorReply)? in
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
                if item.id == "cursed" { return Contents.Refused(reason: "Not that one.") }
            }
            for item in batch { state.items[item.id] = item.fields }
            return nil
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
    private func run(_ lines: [String], _ shop: Shop = Shop()) async throws -> ImportReport {
        let folder = try TemporaryDirectory()
        let path = folder.path + "/socket"
        let file = try folder.write("lines", lines.joined(separator: "\n"))
        let server = try await shop.serve(at: path)
        do {
            var importer = Importer(
                try await Session(socket: path), container: "films", component: nil)
            var reader = try LineReader(file)
            try await importer.run(&reader)
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
