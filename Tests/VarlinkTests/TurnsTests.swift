import Dispatch
import Glibc
import NIOCore
import Synchronization
import TestSupport
import Testing

@testable import Varlink

/// However many calls have arrived at once, others are served between them.
@Suite(.timeLimit(.minutes(3))) struct TurnsTests {
    /// Answers at once, and keeps in mind what came when.
    private enum Note: VarlinkMethod {
        typealias Parameters = Text
        typealias Reply = Text
        static let name = "org.example.test.Planned"
    }

    /// Each connection's budget is used up by the first look at the clock.
    private static var limits: VarlinkLimits {
        var limits = VarlinkLimits()
        limits.startTime = .zero
        return limits
    }

    private static func calls(_ texts: [String], oneway: Bool = false) -> [UInt8] {
        let flag = oneway ? #","oneway":true"# : ""
        return texts.flatMap {
            Array(
                #"{"method":"org.example.test.Planned","parameters":{"text":"\#($0)"}\#(flag)}"#
                    .utf8)
                + [0]
        }
    }

    /// Clients, each of which has been answered, while the loop is held up until the body has returned.
    private static func whileHeldUp(
        _ service: Service, _ clients: [RawClient], _ body: () throws -> Void
    ) async throws {
        for client in clients {
            try client.send(#"{"method":"org.example.test.Echo","parameters":{"text":"a"}}"#)
            #expect(try await client.receive() != nil)
        }
        let gate = DispatchSemaphore(value: 0)
        service.desk.loop.execute { gate.wait() }
        defer { gate.signal() }
        try body()
    }

    @Test func `a client is answered between the calls that another has sent at once`()
        async throws
    {
        let other = Mutex<Int32>(-1)
        let isAnswered = Mutex(false)
        try await withService(limits: Self.limits) { router, _ in
            router.handle(Note.self) { parameters, call in
                call.reply(parameters)
                guard parameters.text == "last" else { return }
                var byte: UInt8 = 0
                let flags = Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)
                let count = recv(other.withLock { $0 }, &byte, 1, flags)
                isAnswered.withLock { $0 = count == 1 }
            }
        } _: { service in
            let clients = [try service.raw(), try service.raw()]
            other.withLock { $0 = clients[1].descriptor }
            let texts = (0..<200).map { "\($0)" } + ["last"]
            try await Self.whileHeldUp(service, clients) {
                try clients[0].send(bytes: Self.calls(texts))
                try clients[1].send(bytes: Self.calls(["other"]))
            }
            for text in texts {
                #expect(try await clients[0].receive() == #"{"parameters":{"text":"\#(text)"}}"#)
            }
            #expect(isAnswered.withLock { $0 })
        }
    }

    @Test func `a client is answered between the turns of many that have something to say at once`()
        async throws
    {
        let isAnswered = Mutex(false)
        let calls = Mutex<[VarlinkCall<Text>]>([])
        try await withService(limits: Self.limits) { router, desk in
            router.handle(Note.self) { parameters, call in
                calls.withLock { $0.append(call) }
                desk.note(started: parameters.text)
            }
        } _: { service in
            let other = try service.raw()
            let count = 50
            let many = try (0..<count).map { _ in try service.raw() }
            for client in many { try client.send(bytes: Self.calls(["one of many"])) }
            try await service.desk.wait { $0.started.count == count }
            try await Self.whileHeldUp(service, [other]) {
                try other.send(bytes: Self.calls(["other"]))
                service.desk.loop.execute {
                    for (number, call) in calls.withLock({ $0 }).enumerated() {
                        call.onWritable {
                            if number == count - 1 {
                                isAnswered.withLock { $0 = service.desk.started.last == "other" }
                            }
                            call.reply(Text("\(number)"))
                        }
                    }
                }
            }
            for client in many { #expect(try await client.receive() != nil) }
            #expect(isAnswered.withLock { $0 })
        }
    }

    @Test func `clients that have sent many calls at once take turns`() async throws {
        try await withService(limits: Self.limits) { router, desk in
            router.handle(Note.self) { parameters, call in
                desk.note(started: parameters.text)
                call.reply(parameters)
            }
        } _: { service in
            let clients = try (0..<3).map { _ in try service.raw() }
            try await Self.whileHeldUp(service, clients) {
                for (place, client) in clients.enumerated() {
                    try client.send(bytes: Self.calls((0..<100).map { "\(place).\($0)" }))
                }
            }
            for (place, client) in clients.enumerated() {
                for number in 0..<100 {
                    let reply = try await client.receive()
                    #expect(reply == #"{"parameters":{"text":"\#(place).\#(number)"}}"#)
                }
            }
            let started = try await service.desk.onLoop { service.desk.started }
            let firstEnd = try #require(started.firstIndex { $0.hasSuffix(".99") })
            for place in clients.indices {
                // Nobody is done before all have come far.
                let begun = started[..<firstEnd].count { $0.hasPrefix("\(place).") }
                #expect(begun > 40, "\(started)")
            }
        }
    }

    @Test func `calls that had to let others go first are answered to who sends no more`()
        async throws
    {
        try await withService(limits: Self.limits) { service in
            let client = try service.raw()
            let calls = [String](
                repeating: #"{"method":"org.example.test.Echo","parameters":{"text":"a"}}"#,
                count: 300)
            try client.send(bytes: calls.flatMap { Array($0.utf8) + [0] })
            client.sendNoMore()
            for _ in calls {
                #expect(try await client.receive() == #"{"parameters":{"text":"a"}}"#)
            }
            #expect(try await client.receive() == nil)
        }
    }

    @Test
    func
        `of calls that had to let others go first, those without a reply are started though their client is gone`()
        async throws
    {
        try await withService(limits: Self.limits) { router, desk in
            router.handle(Note.self) { parameters, call in
                desk.note(started: parameters.text)
                call.reply(parameters)
            }
        } _: { service in
            let client = try service.raw()
            let texts = (0..<200).map { "\($0)" }
            try await Self.whileHeldUp(service, [client]) {
                try client.send(bytes: Self.calls(["nobody waits for"]))
                try client.send(bytes: Self.calls(texts, oneway: true))
                try client.send(bytes: Self.calls(["nor for this"]))
                try client.send(bytes: Self.calls(["last"], oneway: true))
                client.close()
            }
            try await service.desk.wait { $0.started.last == "last" }
            let started = try await service.desk.onLoop { service.desk.started }
            #expect(started == texts + ["last"], "\(started)")
            try await until { await service.server.currentStatistics().connections == 0 }
        }
    }

    @Test func `users take turns, however many connections one of them has`() {
        var line = UserTurns<String>()
        for number in 1...3 { line.append("a\(number)", of: 1) }
        line.append("b1", of: 2)
        line.append("c1", of: 3)
        line.append("b2", of: 2)
        #expect(line.popFirst() == "a1")
        line.append("a4", of: 1)
        var order: [String] = []
        while let next = line.popFirst() { order.append(next) }
        #expect(order == ["b1", "c1", "a2", "b2", "a3", "a4"])
        #expect(line.isEmpty && line.popFirst() == nil)
    }

    @Test func `what is left of the time is everybody's until the loop has polled`() {
        var budget = StartBudget(.zero)
        #expect(budget.isLeft)
        budget.begin()
        var taken = 0
        // The first call is started without a look at the clock.
        while budget.takeCall() { taken += 1 }
        #expect(taken == 1)
        let time = budget.end()
        #expect(time > 0 && !budget.isLeft)
        let mayGoOn = budget.takeCall()
        #expect(!mayGoOn)
        budget.renew()
        #expect(budget.isLeft)
    }
}
