import AtriumKit
import Testing

@testable import Host

/// In what order comments stand.
@Suite(.timeLimit(.minutes(3))) struct CommentOrderTests {
    @Test func `comments of one millisecond stand in the order of posting`() async throws {
        // The clock stands still.
        let host = try await TestRegistry.start(secondsATick: 0)
        try await host.apply(.films)
        let posted = (0..<50).map { "comment \($0)" }
        let results = try await host.callAll(posted.count) {
            (registry, index, reply: @escaping Reply<CommentResult>) in
            registry.post(
                SubjectAddress(container: "films", item: nil), parent: nil, text: posted[index],
                id: nil, by: .ann, reply)
        }
        for result in results { _ = try result.get() }
        #expect(try await host.thread().comments.map(\.entry.comment.text) == posted)
        let after = try await host.restarted()
        #expect(try await after.thread().comments.map(\.entry.comment.text) == posted)
        let newest = try await after.call {
            $0.thread(
                "films", component: nil, ThreadQuery(subject: Subject(item: nil), order: .newest),
                $1)
        }
        #expect(newest.comments.map(\.entry.comment.text) == posted.reversed())
        try await after.end()
    }
}
