import JSONCodec
import TestSupport
import Testing

@testable import Certification

/// That a pass proves something: each way to be broken is found, and named.
@Suite(
    .timeLimit(.minutes(3)),
    .enabled(if: Checkout.python != nil, "run 'make test-deps' for Python's varlink"))
struct MutantTests {
    /// What the reference answers to all scripts: asked once.
    private static let reference = Task {
        try await withService(.reference) { try await conversations(with: $0) }
    }

    private static func conversations(with path: String) async throws -> [Conversation] {
        var conversations: [Conversation] = []
        for script in Script.all {
            conversations.append(try await Conversation(script, with: path))
        }
        return conversations
    }

    private func compare(_ service: TestedService) async throws -> Comparison {
        let reference = try await Self.reference.value
        let ours = try await withService(service) { try await Self.conversations(with: $0) }
        var comparison = try Comparison()
        for (our, their) in zip(ours, reference) { comparison.compare(our, to: their) }
        return comparison
    }

    @Test func `our service answers as the reference does, field by field`() async throws {
        let comparison = try await compare(.ours())
        #expect(comparison.differences == [])
        // The reference's own: it adds the run's name to a reply that does not declare it.
        #expect(comparison.undeclaredByReference == ["Test09.client_id"])
    }

    @Test func `the reference answers the scripts as they are meant`() async throws {
        let reference = try await Self.reference.value
        let right = try #require(reference.first)
        #expect(right.replies.map(\.count) == [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 10, 0, 1])
        #expect(right.replies.last?.first?["parameters"]?["all_ok"] == true)
        #expect(reference.count == 10)
        for wrong in reference.dropFirst() {
            let last = try #require(wrong.replies.last?.first)
            #expect(last["error"] == "org.varlink.certification.CertificationError")
        }
    }

    /// How each mutant is found: the first difference.
    private static let evidence: [Mutant: String] = [
        .wrongBool: "Test01.bool is false instead of true",
        .wrongInt: "Test02.int is 2 instead of 1",
        .wrongFloat: "Test03.float is 1.5 instead of 1",
        .roundedFloat: "Test05.float is 3.14159265 instead of 3.141592653589793",
        .wrongString: #"Test04.string is "pong" instead of "ping""#,
        .wrongElement: #"Test07.map.bar is "Baz" instead of "Bar""#,
        .numberAsString: #"Test05.int is "2" instead of 2"#,
        .undeclaredField: "Test05.more is not declared",
        .missingField: "Test06.struct.string is missing instead of \"a lot of string\"",
        .badEnum: #"Test09.mytype.enum is "four" instead of "two""#,
        .oneReply: "Test10: 1 replies instead of 10",
        .threeReplies: "Test10: 3 replies instead of 10",
        .missingContinues: "Test10: 5 replies instead of 10",
        .continuesOnLast: "Test10: 11 replies instead of 10",
        .replyOutOfOrder:
            #"Test10#3.string is "Reply number 4" instead of "Reply number 3""#,
        .callsOutOfOrder: "Test01.int is not declared",
        .replyToOneway: "End.all_ok is missing instead of true",
        .notOK: "End.all_ok is false instead of true",
        .errorWithoutWants: "Test02.wants is missing instead of",
        .errorWithWrongGot: "Test02.got is",
        .errorAsReply: "Test02: error is",
    ]

    @Test(arguments: Mutant.allCases)
    func `a mutant is found, by what is wrong with it`(mutant: Mutant) async throws {
        let comparison = try await compare(.ours(mutant: mutant.rawValue))
        let evidence = try #require(Self.evidence[mutant], "\(mutant.rawValue) has no evidence")
        let first = try #require(comparison.differences.first)
        #expect(first.hasPrefix(evidence))
    }
}
