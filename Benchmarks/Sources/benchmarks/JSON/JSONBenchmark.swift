import Foundation
import JSONCodec

/// Reading and writing JSON, beside Foundation: as trees, and as types of one's own.
struct JSONBenchmark {
    private static let rounds = 5
    /// Seconds of each side in each round.
    private static let slice = 0.05

    /// A message of one size.
    private struct Subject<Message: JSONCodable & Codable & Equatable> {
        var size: String
        var message: Message
    }

    /// Measures small, middling and large messages, both ways.
    func run() throws -> [Row] {
        try rows(Subject(size: "130 B", message: CallMessage.example))
            + rows(Subject(size: "1 KB", message: PageMessage.example(6)))
            + rows(Subject(size: "1 MB", message: PageMessage.example(5_750)))
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
            benchmark: "json", name: name, unit: .microseconds, ours: our.median,
            peer: .init(name: peer, value: their.median))
    }

    /// What one run takes, of as many as fit the slice; a look at the clock every so often.
    private static func microseconds(_ body: () throws -> Void) rethrows -> Double {
        let once = try Timing.seconds(body)
        let batch = max(1, min(1_000, Int(slice / 50 / max(once, 1e-9))))
        let rate = try Timing.rate(for: slice) {
            for _ in 0..<batch { try body() }
        }
        return 1e6 / (rate * Double(batch))
    }
}
