import AtriumKit
import Index
import Testing

@testable import Host

/// Comments that a start reads from their records' bytes.
struct CommentRecordTests {
    private typealias Comment = AtriumKit.Comment

    private func comment(_ key: String, _ record: String) -> Comment? {
        Array(key.utf8).withUnsafeBytes { key in
            Array(record.utf8).withUnsafeBytes { Comment(key: key, record: $0) }
        }
    }

    private func commentOfValue(_ key: String, _ record: String) -> Comment? {
        (try? Value(jsonBytes: Array(record.utf8))).flatMap { Comment(key: key, value: $0) }
    }

    private static let plain = Comment(
        id: "01arz3ndektsv4rrffq69g5fav", subject: .item("alien"), parent: nil,
        author: ActorID(.max), text: "In space no one can hear you scream.",
        created: Timestamp(milliseconds: 1_700_000_000_000), order: 2,
        fingerprint: "00c0ffee00c0ffee")

    private static var comments: [Comment] {
        var full = plain
        (full.id, full.subject, full.parent) = ("é\"東京", .container, "\u{1}👩‍🚀")
        (full.state, full.edited, full.order) = (.pending, Timestamp(milliseconds: -1), .min)
        (full.reason, full.moderator, full.text) = ("rude\n", ActorID(0), "")
        var tombstone = plain
        (tombstone.state, tombstone.text, tombstone.author) = (.removed, nil, nil)
        tombstone.fingerprint = ""
        return [plain, full, tombstone]
    }

    @Test(arguments: comments)
    func `what a comment's record holds is read at once`(comment: AtriumKit.Comment) throws {
        let (key, value) = (comment.record.key, try #require(comment.record.value))
        #expect(self.comment(key, String(decoding: value.jsonBytes, as: UTF8.self)) == comment)
    }

    @Test(arguments: [
        "", "[1]", "null", #"{"state":"shown"}"#, #"{"created":1}"#,
        #"{"created":1,"state":"gone"}"#, #"{"created":1,"state":"shown","text":null}"#,
        #"{"created":1,"state":"shown","text":"a","text":"b"}"#,
        #"{"created":1.0,"state":"shown"}"#, #"{"created":"1","state":"shown"}"#,
        #"{"created":1,"state":"shown","note":2}"#, #"{"created":1,"state":"shown"}x"#,
        #"{"created":9223372036854775808,"state":"shown"}"#,
        #"{"created":1,"state":"shown","author":"web:1"}"#,
    ])
    func `any other record is left to who reads values`(record: String) {
        #expect(comment("a", record) == nil)
    }

    @Test(arguments: [
        #"{"created":1,"state":"shown"}"#, #" { "state" : "removed" , "created" : -5 } "#,
        #"{"created":1,"state":"shown","moderator":7,"fingerprint":"x"}"#,
        #"{"created":1,"state":"removed","moderator":7,"reason":"r","text":"\u00e9\n"}"#,
        #"{"created":1,"state":"shown","fingerprint":"x","text":"","item":"","parent":"a"}"#,
    ])
    func `what is read at once is what the value says`(record: String) throws {
        let found = try #require(comment("a", record))
        #expect(found == commentOfValue("a", record))
    }
}
