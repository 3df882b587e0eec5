import AtriumKit
import Host
import JSONCodec
import Testing

@testable import Workers

@Suite struct `Messages come back over the socket as they were` {
    private func roundTrip<Message: Codable>(_ message: Message) throws -> Message {
        let text = Wire.encode(message)
        // It is JSON by a reader that trusts nobody, and has no NUL, which ends a message.
        let checked = try JSONObject(text.bytes, depthLimit: Wire.nesting)
        #expect(!checked.bytes.contains(0))
        return try Wire.decode(Message.self, from: checked.bytes)
    }

    @Test(arguments: 1...20)
    func `calls of every kind`(seed: Int) throws {
        var random = RandomMessages(seed: seed)
        for _ in 0..<200 {
            let call = random.call()
            #expect(try roundTrip(call) == call)
        }
    }

    @Test(arguments: 1...20)
    func `answers of every kind`(seed: Int) throws {
        var random = RandomMessages(seed: seed)
        for _ in 0..<200 {
            let answer = random.workerAnswer()
            #expect(try roundTrip(answer) == answer)
        }
    }

    @Test(arguments: 1...20)
    func `a decision on a vote is read the same with and without Decodable`(
        seed: Int
    ) throws {
        var random = RandomMessages(seed: seed)
        for _ in 0..<500 {
            let answer = random.workerAnswer()
            let text = Wire.encode(answer).bytes
            let value = try JSON.decode(JSONValue.self, from: text)
            if let read = WorkerAnswer(decisionOnVote: value) { #expect(read == answer) }
            #expect(try Wire.answer(text) == answer)
        }
    }

    @Test func `a decision on a vote on an item is read without Decodable`() throws {
        let tally = Tally(count: 2, score: 4.0, histogram: ["4": 2])
        let put = Change.put(key: "film\n7", value: ["value": 4.0, "cast": 5])
        for previous in [nil, 3.0] {
            let answer = WorkerAnswer.decided(
                Decision(
                    changes: [put], answer: .ballot(tally: tally, previous: previous, current: 4),
                    events: [.tally(.item("film"), tally)]))
            let value = try JSON.decode(JSONValue.self, from: Wire.encode(answer).bytes)
            #expect(WorkerAnswer(decisionOnVote: value) == answer)
        }
    }

    @Test(arguments: 1...5)
    func `what a component says by itself`(seed: Int) throws {
        var random = RandomMessages(seed: seed)
        for _ in 0..<200 {
            let word = random.message()
            #expect(try roundTrip(WorkerMessage(word)).message == word)
        }
    }

    @Test func `a whole number and a fraction that is whole stay apart`() throws {
        let change = Change.put(key: "k", value: ["int": 4, "number": 4.0, "zero": -0.0])
        let back = try roundTrip(change)
        #expect(back == change)
        #expect(back.value?.object?["number"]?.typeName == "number")
        #expect(back.value?.object?["int"]?.typeName == "integer")
    }

    @Test func `a message of another version names what is not known`() {
        #expect(
            throws: WireError(expected: "a WorkerCall", found: "an object with 'later'")
        ) {
            try Wire.decode(WorkerCall.self, from: Array(#"{"later":{}}"#.utf8))
        }
        let wrong = #"{"decide":{"_0":{"editComment":{"id":4,"text":"x"}},"_1":{}}}"#
        #expect(throws: WireError(expected: "_0: id: text", found: "integer")) {
            try Wire.decode(WorkerCall.self, from: Array(wrong.utf8))
        }
    }
}
