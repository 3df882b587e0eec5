import Dispatch
import Glibc
import NIOCore
import Synchronization
import TestSupport
import Testing

@testable import Varlink

/// Replies to clients whose calls came together are written together.
@Suite(.timeLimit(.minutes(3))) struct HeldReplyTests {
    /// A call whose handler looks whether another client has its reply.
    private enum Look: VarlinkMethod {
        typealias Parameters = Text
        typealias Reply = Text
        static let name = "org.example.test.Planned"
    }

    private static func call(_ method: String, _ text: String) -> String {
        #"{"method":"org.example.test.\#(method)","parameters":{"text":"\#(text)"}}"#
    }

    private static func hasBytes(_ descriptor: Int32) -> Bool {
        var byte: UInt8 = 0
        return recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) == 1
    }

    /// Has one call of each client come in the same turn of the loop, in this order, and takes the replies.
    ///
    /// - Returns: whether the first client had its reply when the last one's call was handled.
    private static func isAnswered(
        _ texts: [String], _ handle: @escaping @Sendable (String) -> Void = { _ in }
    ) async throws -> Bool {
        let first = Mutex<Int32>(-1)
        let isAnswered = Mutex(false)
        try await withService { router, _ in
            router.handle(Look.self) { parameters, call in
                handle(parameters.text)
                if parameters.text == "later" {
                    return DispatchQueue.global().async { call.reply(parameters) }
                }
                isAnswered.withLock { $0 = hasBytes(first.withLock { $0 }) }
                call.reply(parameters)
            }
        } _: { service in
            let clients = try texts.map { _ in try service.raw() }
            first.withLock { $0 = clients[0].descriptor }
            for client in clients {
                try client.send(Self.call("Echo", "hello"))
                #expect(try await client.receive() != nil)
            }
            let gate = DispatchSemaphore(value: 0)
            await withCheckedContinuation { isHeldUp in
                service.desk.loop.execute {
                    isHeldUp.resume()
                    gate.wait()
                }
            }
            for (client, text) in zip(clients, texts) { try client.send(call("Planned", text)) }
            gate.signal()
            // The last one first: what the first one reads is not there to be seen any more.
            for (client, text) in zip(clients, texts).reversed() {
                #expect(try await client.receive() == #"{"parameters":{"text":"\#(text)"}}"#)
            }
        }
        return isAnswered.withLock { $0 }
    }

    @Test func `replies to calls that came together are sent after the last was made`()
        async throws
    {
        let isAnswered = try await Self.isAnswered(["first", "last"])
        #expect(!isAnswered)
    }

    @Test func `a reply is not held for all of many calls that take long`() async throws {
        let isAnswered = try await Self.isAnswered(["first", "long", "longer", "last"]) { text in
            guard text.hasPrefix("long") else { return }
            let end = StartBudget.now() + 2 * ConnectionTurns.longestHold
            while StartBudget.now() < end {}
        }
        #expect(isAnswered)
    }

    @Test func `a reply is not held for calls that are answered later`() async throws {
        // The system reports the client that was read last before the others.
        let isAnswered = try await Self.isAnswered(["first", "later", "last", "earliest"]) { text in
            guard text == "later" else { return }
            let end = StartBudget.now() + 2 * ConnectionTurns.longestHold
            while StartBudget.now() < end {}
        }
        #expect(isAnswered)
    }

    @Test func `a subscriber is told before the reply to who publishes`() async throws {
        let stream = Mutex<VarlinkCall<Text>?>(nil)
        let publisher = Mutex<Int32>(-1)
        let isTold = Mutex<Bool?>(nil)
        try await withService { router, _ in
            router.handle(Look.self) { parameters, call in
                if call.wantsMore {
                    stream.withLock { $0 = call }
                    return call.replyContinues(parameters)
                }
                guard let stream = stream.withLock({ $0 }) else { return call.reply(parameters) }
                stream.onWritable {
                    isTold.withLock { $0 = Self.hasBytes(publisher.withLock { $0 }) }
                    stream.replyContinues(parameters)
                }
                call.reply(parameters)
            }
        } _: { service in
            let (subscriber, client) = (try service.raw(), try service.raw())
            publisher.withLock { $0 = client.descriptor }
            try subscriber.send(
                #"{"method":"org.example.test.Planned","more":true,"parameters":{"text":"a"}}"#)
            #expect(try await subscriber.receive() != nil)
            try client.send(Self.call("Planned", "b"))
            #expect(try await client.receive() == #"{"parameters":{"text":"b"}}"#)
            #expect(
                try await subscriber.receive() == #"{"parameters":{"text":"b"},"continues":true}"#)
            // The publisher's reply was not there yet when the subscriber was told.
            #expect(isTold.withLock { $0 } == false)
        }
    }
}
