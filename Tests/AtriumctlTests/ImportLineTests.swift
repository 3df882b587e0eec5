import Interfaces
import JSONCodec
import Testing
import Varlink

@testable import atriumctl

@Suite struct `Lines of an import` {
    private func line(_ text: String) throws -> ImportLine { try ImportLine(Array(text.utf8)) }

    @Test func `an item, with or without a parent`() throws {
        #expect(
            try line(#"{"id":"a","fields":{"title":"A"}}"#)
                == .item(.init(id: "a", fields: ["title": "A"])))
        #expect(
            try line(#"{"fields":{},"id":"b","parent":"a"}"#)
                == .item(.init(id: "b", fields: .empty, parent: "a")))
    }

    @Test func `an item whose fields stand beside its id`() throws {
        #expect(
            try line(#"{"id":1,"component":"gear","title":null}"#)
                == .flat([
                    .init("id", .int(1)), .init("component", "gear"), .init("title", .null),
                ]))
    }

    @Test func `a record of an export`() throws {
        let record = Record(
            component: "stars", kind: "votes", key: "a", actor: "unix:0", value: ["value": 4])
        let text = String(decoding: JSON.encode(record), as: UTF8.self)
        #expect(try line(text) == .record(record))
    }

    @Test(arguments: ["", "  ", "\r", #"{"atrium":1,"container":"films","sequence":3}"#])
    func `what holds nothing`(text: String) throws {
        #expect(try line(text) == .nothing)
    }

    @Test(arguments: [
        (#"{"id":"a","fields":{}"#, "column 22"), ("nonsense", "column 1"), ("[1]", "object"),
        ("{\"id\":\"ä\",\n  \"title\": \"ß\" 3}", "line 8, column 16"),
        (#"{"id":1,"fields":{}}"#, "id: expected a string"),
        (#"{"id":"a","fields":{},"titel":1}"#, "titel"),
        (#"{"id":"a","fields":{},"ifRevision":1}"#, "ifRevision"),
        (#"{"id":"a","id":"b","fields":{}}"#, "id"), (#"{"atrium":2}"#, "another format"),
    ])
    func `what is bad says why`(text: String, part: String) throws {
        let error = try #require(
            #expect(throws: ImportLineError.self) {
                try ImportLine(Array(text.utf8), line: 7)
            })
        #expect(error.reason.contains(part), "\(error.reason)")
    }
}

@Suite struct `Batches of an import` {
    private func entry(_ line: Int, bytes: Int = 100) -> ImportBatch.Entry {
        .init(line: line, content: .item(.init(id: "i\(line)", fields: .empty)), bytes: bytes)
    }

    private var record: ImportBatch.Entry {
        let record = Record(component: "stars", kind: "votes", key: "i1", value: .empty)
        return .init(line: 9, content: .record(record), bytes: 100)
    }

    @Test func `hold a thousand entries at most`() {
        var batch = ImportBatch()
        for line in 1...1000 {
            #expect(batch.takes(entry(line)))
            batch.append(entry(line))
        }
        #expect(!batch.takes(entry(1001)))
    }

    @Test func `hold 768 KiB at most, and a longer line goes alone`() {
        var batch = ImportBatch()
        #expect(batch.takes(entry(1, bytes: 2 << 20)))
        batch.append(entry(1, bytes: 600_000))
        #expect(batch.takes(entry(2, bytes: 100_000)))
        #expect(!batch.takes(entry(2, bytes: 200_000)))
    }

    @Test func `never mix items and records`() {
        var batch = ImportBatch()
        batch.append(entry(1))
        #expect(!batch.takes(record))
    }

    @Test func `a refusal names the entry, or the field, or nothing`() {
        let batch = ImportBatch([
            entry(1),
            .init(line: 2, content: .item(.init(id: "x", fields: ["titel": 1])), bytes: 1),
        ])
        let refusal = { (error: InterfaceError) in
            ImportRefusal(error.reply(of: Contents.self), of: batch)
        }
        #expect(
            refusal(.fieldInvalid(item: "x", field: "year", expected: "a", found: "b"))
                == .entry(1))
        #expect(refusal(.itemInvalid(item: "i1", reason: "no")) == .entry(0))
        #expect(refusal(.fieldUnknown(field: "titel", known: [])) == .entries([1]))
        #expect(refusal(.refused(reason: "no", retryAfter: nil)) == .halves)
        let limit = { (retryAfter: Double?) in
            refusal(
                .limitExceeded(limit: "bytes", value: 1, retryAfter: retryAfter, setting: nil))
        }
        #expect(limit(nil) == .halves)
        #expect(limit(2.5) == .later(2.5))
        #expect(refusal(.storeUnavailable(reason: "full", retryAfter: 1)) == .later(1))
        #expect(refusal(.containerNotFound(container: "films")) == .everything)
        let unknown = VarlinkRemoteError(name: "org.atrium.Contents.New")
        #expect(ImportRefusal(unknown, of: batch) == .everything)
    }

    @Test func `a report names ten bad lines in order, and counts the others`() {
        var report = ImportReport()
        for line in [12, 3, 4, 5, 6, 7, 8, 9, 10, 11, 1, 2] {
            report.add(.init(line: line, reason: "bad\u{1B}"))
        }
        #expect(report.complaints.count == 11)
        #expect(report.complaints.first == #"line 1: bad\u{1b}"#)
        #expect(report.complaints.last == "and 2 more bad lines")
        #expect(report.badLines.map(\.line) == Array(1...10))
    }

    @Test func `a report names ids that stand twice`() {
        var report = ImportReport()
        for line in 2...13 { report.add(.init(id: "a", line: line, before: line - 1)) }
        #expect(report.complaints.count == 11)
        #expect(
            report.complaints.first
                == "line 2: the id 'a' stands in line 1 already; the later one counts")
        #expect(report.complaints.last == "and 2 more ids that stood before")
    }

    @Test func `an id that stands twice does not count where its later line was refused`() {
        var report = ImportReport()
        report.add(.init(id: "a", line: 2, before: 1))
        report.add(.init(id: "b", line: 4, before: 3))
        report.add(.init(line: 4, reason: "bad"))
        #expect(
            report.complaints == [
                "line 4: bad",
                "line 2: the id 'a' stands in line 1 already; the later one counts",
                "line 4: the id 'b' stands in line 3 already; this line was refused",
            ])
    }

    @Test func `a report ends with counts, time and rate`() {
        var report = ImportReport()
        report.add(inserted: 1500, updated: 2, unchanged: 498)
        #expect(
            report.summary(seconds: 2)
                == "1,500 inserted, 2 updated, 498 unchanged, 0 bad in 2 s (1,000 items/s)")
        #expect(report.summary(seconds: 0.08).contains(" in 0.08 s (25,000 items/s)"))
        #expect(report.summary(seconds: 0.0001).contains(" in 0.01 s "))
    }

    @Test(arguments: [20, 40, 80, 200])
    func `the progress bar keeps within the terminal`(width: Int) {
        for fraction in [0, 0.43, 1.0, 1.2] {
            let text = ProgressBar.text(done: 25800, fraction: fraction, seconds: 2, width: width)
            #expect(DisplayWidth.of(text) < width)
        }
        let text = ProgressBar.text(done: 25800, fraction: 0.43, seconds: 2, width: 80)
        #expect(text.hasSuffix("]   43%  25,800 items  12,900/s  3s left"))
        let early = ProgressBar.text(done: 1, fraction: 0.01, seconds: 0.5, width: 80)
        #expect(!early.contains("left"))
    }
}
