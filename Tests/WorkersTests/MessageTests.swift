import AtriumKit
import Host
import JSONCodec
import Testing

@testable import Workers

@Suite struct `Messages come back over the socket as they were` {
    private func roundTrip<Message: WireCodable>(_ message: Message) throws -> Message {
        let text = WireText.encode(message.wire)
        // It is JSON by a reader that trusts nobody, and has no NUL, which ends a message.
        let checked = try JSONObject(text.bytes, depthLimit: WireText.nesting)
        #expect(!checked.bytes.contains(0))
        return try Message(wire: try WireText.decode(checked.bytes))
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

    @Test(arguments: 1...5)
    func `what a component says by itself`(seed: Int) throws {
        var random = RandomMessages(seed: seed)
        for _ in 0..<200 {
            let word = random.message()
            #expect(try roundTrip(word) == word)
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
        #expect(throws: WireError(expected: "a case of WorkerCall", found: "later")) {
            try WorkerCall(wire: ["case": "later"])
        }
        let command: Value = ["case": "editComment", "id": 4]
        let wrong: Value = ["case": "decide", "command": command]
        #expect(throws: WireError(expected: "command: id: text", found: "integer")) {
            try WorkerCall(wire: wrong)
        }
    }
}
