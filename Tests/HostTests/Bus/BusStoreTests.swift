import AtriumKit
import Foundation
import Logging
import NIOCore
import NIOPosix
import Store
import TestSupport
import Testing

@testable import Host

/// The past as a real store keeps it.
@Suite(.timeLimit(.minutes(3))) struct BusStoreTests {
    private let store: Store
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
        store = try Store(
            at: directory.path, logger: Logger(label: "bus") { _ in SwiftLogNoOpLogHandler() }
        ) { _ in }
    }

    private func append(_ topics: [String?]) {
        for topic in topics {
            store.append(
                Entry(
                    container: "a", epoch: 0, time: 5, actor: 1,
                    notification: topic.map {
                        NotificationDraft(topic: $0, payload: Array("{}".utf8))
                    }),
                ticket: 0)
        }
    }

    private func read(
        after: Int64, through: Int64, _ pattern: String, limit: Int = 500, maxBytes: Int = 1 << 20
    ) async throws -> Backlog {
        let request = BacklogRequest(
            after: after, through: through, patterns: [try TopicPattern(pattern)], limit: limit,
            maxBytes: maxBytes)
        try await settled()
        return try await answer { Backlog.reader(of: store)(request, $0) }
    }

    @Test func `the past is read by pattern, limit and bytes, and says how far`() async throws {
        append((1...1_300).map { $0 % 10 == 0 ? nil : $0 % 2 == 0 ? "a.even" : "a.odd" })
        let part = try await read(after: 0, through: 1_300, "a.odd", limit: 400)
        #expect(part.notifications.count == 400)
        #expect(part.notifications.first?.sequence == 1)
        #expect(part.notifications.first?.actor == ActorID(1))
        #expect(part.through >= part.notifications.last?.sequence ?? .max)
        let rest = try await read(after: part.through, through: 1_300, "a.odd")
        #expect(
            (part.notifications + rest.notifications).compactMap(\.sequence)
                == (1...1_300).filter { $0 % 2 == 1 }.map(Int64.init))
        #expect(rest.through == 1_300)
        #expect(try await read(after: 0, through: 1_300, "b.>").through == 1_300)
        #expect(try await read(after: 0, through: 3, "a.>").notifications.count == 3)
        #expect(try await read(after: 0, through: 9, "a.>", maxBytes: 1).notifications.count == 1)
        store.close()
    }

    @Test func `what the store trimmed is delivered as a gap`() async throws {
        append((1...50).map { _ in "a.x" })
        try await settled()
        store.setRetention(Retention(count: 10))
        store.waitForTrimming()
        let part = try await read(after: 0, through: 50, ">")
        #expect(part.trimmedThrough == 40)
        #expect(part.notifications.compactMap(\.sequence) == Array(41...50))
        store.close()
    }

    @Test func `a closed store fails the read and crashes nothing`() async throws {
        append(["a.x"])
        store.close()
        await #expect(throws: HostError.self) {
            try await read(after: 0, through: 1, ">")
        }
        store.close()
    }

    private func settled() async throws {
        try await callback { done in store.enqueueRead { _ in done() } }
    }
}
