import AtriumKit
import Index
import Testing

@testable import Host

/// Ballots that a start reads from their records' bytes.
struct BallotRecordTests {
    private func ballot(_ key: String, _ record: String) -> Ballot? {
        Array(key.utf8).withUnsafeBytes { key in
            Array(record.utf8).withUnsafeBytes { Ballot(key: key, record: $0) }
        }
    }

    private func ballotOfValue(_ key: String, _ record: String) -> Ballot? {
        (try? Value(jsonBytes: Array(record.utf8))).flatMap { Ballot(key: key, value: $0) }
    }

    @Test(arguments: [
        Ballot(
            subject: .item("alien-1979"), actor: ActorID(7), value: 4,
            cast: Timestamp(milliseconds: 1_700_000_000_000)),
        Ballot(
            subject: .container, actor: ActorID(.max), value: 4.5,
            cast: Timestamp(milliseconds: 0)),
        Ballot(
            subject: .item("é\"東京"), actor: ActorID(0), value: -1e300,
            cast: Timestamp(milliseconds: 253_402_300_799_999)),
    ])
    func `what a ballot's record holds is read at once`(ballot: Ballot) throws {
        let (key, value) = (ballot.record.key, try #require(ballot.record.value))
        #expect(self.ballot(key, String(decoding: value.jsonBytes, as: UTF8.self)) == ballot)
        #expect(self.ballot(key, #" { "value" : 4 , "cast" : 5 } "#)?.value == 4)
    }

    @Test(arguments: [
        (Subject.item("alien-1979"), 7, "alien-1979\n7"), (.container, 0, "\n0"),
        (.item("é\"東京"), Int64.max, "é\"東京\n9223372036854775807"),
        (.item("a"), .min, "a\n-9223372036854775808"), (.item("a"), -10, "a\n-10"),
        (.item("a"), 999_999_999_999_999_999, "a\n999999999999999999"),
        (.item("a"), 1_000_000_000_000_000_000, "a\n1000000000000000000"),
    ])
    func `a ballot's key says whose it is, and on what`(
        subject: Subject, number: Int64, key: String
    ) {
        #expect(Ballot.key(actor: ActorID(number), subject: subject) == key)
        let parsed = Ballot.parse(key: key)
        #expect(parsed?.subject == subject)
        #expect(parsed?.actor == ActorID(number))
    }

    @Test(arguments: ["", "a", "a\n", "a\nb", "a\n1x", "a\n 1", "a\n9223372036854775808", "a\n-"])
    func `another key is no ballot's`(key: String) {
        #expect(Ballot.parse(key: key) == nil)
    }

    @Test(arguments: [
        ("a\n1", #"{"cast":1}"#), ("a\n1", #"{"value":1}"#), ("a\n1", #"{"cast":1,"value":"1"}"#),
        ("a\n1", #"{"cast":1,"value":1,"note":2}"#), ("a\n1", #"{"cast":1,"cast":1,"value":1}"#),
        ("a\n1", #"{"cast":1.0,"value":1}"#), ("a\n1", #"{"cast":1,"value":1}x"#), ("a\n1", ""),
        ("a\n1", "[1]"), ("a\n1", "null"), ("a\n1", #"{"cast":1e400,"value":1}"#),
        ("a", #"{"cast":1,"value":1}"#), ("a\n", #"{"cast":1,"value":1}"#),
        ("a\nb", #"{"cast":1,"value":1}"#), ("a\n-1", #"{"cast":1,"value":1}"#),
        ("a\n9223372036854775808", #"{"cast":1,"value":1}"#),
        ("a\n99999999999999999999", #"{"cast":1,"value":1}"#),
    ])
    func `any other record is left to who reads values`(key: String, record: String) {
        #expect(ballot(key, record) == nil)
    }

    @Test(arguments: [
        ("a\nb\n1", #"{"cast":1,"value":1}"#), ("\n1", #"{"cast":1,"value":0.1}"#),
        ("a\n007", #"{"cast":-1,"value":18446744073709551617}"#),
    ])
    func `what is read at once is what the value says`(key: String, record: String) throws {
        let found = try #require(ballot(key, record))
        #expect(found == ballotOfValue(key, record))
    }
}
