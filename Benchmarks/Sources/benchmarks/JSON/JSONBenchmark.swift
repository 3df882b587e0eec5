import Foundation
import JSONCodec

/// Reading and writing JSON, beside Foundation: the same bytes into the same types, and into trees.
///
/// `JSON.decode` and `JSON.encode` stand beside `JSONDecoder` and `JSONEncoder`, whose types are the very same
/// structures, and `JSONValue` beside `JSONSerialization`. Both sides take turns in short slices of the thread's
/// processor time, and the quickest slice of each counts: what other programs do to the caches only adds.
struct JSONBenchmark {
    private static let rounds = 25
    /// Seconds of each side in each round.
    private static let slice = 0.02

    /// A message of one size.
    private struct Subject<Message: JSONCodable & Codable & Equatable> {
        var size: String
        var message: Message
    }

    /// Measures small, middling and large messages, both ways.
    func run() throws -> [Row] {
        try rows(Subject(size: "130 B", message: CallMessage.example))
            + rows(Subject(size: "1 KB", message: PageMessage.example(2)))
            + rows(Subject(size: "1 MB", message: PageMessage.example(2_100)))
    }

    private func rows<Message>(_ subject: Subject<Message>) throws -> [Row] {
        let bytes = JSON.encode(subject.message)
        let data = Data(bytes)
        let tree = try JSON.decode(JSONValue.self, from: bytes)
        let object = try JSONSerialization.jsonObject(with: data)
        let decoder = JSONDecoder()
        let encoder = JSONEncoder()
        guard try decoder.decode(Message.self, from: data) == subject.message else {
            throw BenchmarkError("Foundation reads something else than JSONCodec wrote")
        }
        let size = subject.size
        return [
            try row("read \(size) as a type", beside: "JSONDecoder") {
                _ = try JSON.decode(Message.self, from: bytes)
            } _: {
                _ = try decoder.decode(Message.self, from: data)
            },
            try row("read \(size) as a tree", beside: "JSONSerialization") {
                _ = try JSON.decode(JSONValue.self, from: bytes)
            } _: {
                _ = try JSONSerialization.jsonObject(with: data)
            },
            try row("write \(size) of a type", beside: "JSONEncoder") {
                _ = JSON.encode(subject.message)
            } _: {
                _ = try encoder.encode(subject.message)
            },
            try row("write \(size) of a tree", beside: "JSONSerialization") {
                _ = JSON.encode(tree)
            } _: {
                _ = try JSONSerialization.data(withJSONObject: object)
            },
        ]
    }

    private func row(
        _ name: String, beside peer: String, _ ours: () throws -> Void, _ theirs: () throws -> Void
    ) throws -> Row {
        var our = Samples()
        var their = Samples()
        for _ in 0..<Self.rounds {
            our.append(try Self.microseconds(ours))
            their.append(try Self.microseconds(theirs))
        }
        return Row(
            benchmark: "json", name: name, unit: .microseconds, ours: our.percentile(0),
            peer: .init(name: peer, value: their.percentile(0)), aim: 10)
    }

    /// What one run takes of the processor, of as many as fit the slice.
    private static func microseconds(_ body: () throws -> Void) rethrows -> Double {
        var count = 0
        var batch = 1
        let start = Timing.processorSeconds
        var elapsed = 0.0
        repeat {
            for _ in 0..<batch { try body() }
            count += batch
            elapsed = Timing.processorSeconds - start
            // Looking at the clock takes as long as a small message.
            if elapsed < slice / 8 { batch *= 2 }
        } while elapsed < slice
        return 1e6 * elapsed / Double(count)
    }
}
