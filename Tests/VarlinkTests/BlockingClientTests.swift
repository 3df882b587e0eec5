import Foundation
import Glibc
import JSONCodec
import Testing

@testable import Varlink

/// A connection whose other side says all that it will say when the first call arrives, or before that.
private struct Said {
    let client: VarlinkBlockingClient
    private let peer: Int32

    init(
        _ text: String, early: String = "", closes: Bool = false, frameBytes: Int = 1 << 20
    ) {
        var pair: [Int32] = [-1, -1]
        socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair)
        peer = pair[1]
        client = VarlinkBlockingClient(
            descriptor: pair[0], frameBytes: frameBytes, allowsUnknownMembers: false)
        _ = send(peer, early, early.utf8.count, 0)
        Thread.detachNewThread { [peer] in
            var byte: UInt8 = 0
            guard recv(peer, &byte, 1, Int32(MSG_PEEK)) == 1 else { return }
            _ = send(peer, text, text.utf8.count, Int32(MSG_NOSIGNAL))
            if closes { shutdown(peer, Int32(SHUT_WR)) }
        }
    }

    /// Calls, and gives what was sent for it.
    func call() throws -> String {
        try client.call(
            VarlinkService.GetInterfaceDescription.self, .init(interface: "a.b"),
            within: .seconds(5)
        ).description
    }

    func sent() -> String {
        var bytes = [UInt8](repeating: 0, count: 1_000)
        let count = recv(peer, &bytes, bytes.count, Int32(MSG_DONTWAIT))
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }

    func end() { close(peer) }
}

@Suite(.timeLimit(.minutes(1))) struct `A client that waits` {
    @Test func `calls, and gives the reply`() throws {
        let said = Said(#"{"parameters": {"description": "d"}}"# + "\0")
        defer { said.end() }
        #expect(try said.call() == "d")
        #expect(
            said.sent()
                == #"{"method":"org.varlink.service.GetInterfaceDescription","parameters":{"interface":"a.b"}}"#
                + "\0")
    }

    @Test func `gives an error that was replied with, and goes on`() throws {
        let said = Said(
            #"{"error": "a.b.No", "parameters": {"why": 1}}"# + "\0"
                + #"{"parameters": {"description": 5}}"# + "\0")
        defer { said.end() }
        // Both are there after the first call: the second reply belongs to none.
        let error = #expect(throws: VarlinkRemoteError.self) { try said.call() }
        #expect(error?.name == "a.b.No" && error?.parameters.isEmpty == false)
        let violation = #expect(throws: VarlinkConnectionError.self) { try said.call() }
        #expect(violation?.kind == .protocolViolation)
        #expect(#expect(throws: VarlinkConnectionError.self) { try said.call() } == violation)
    }

    @Test func `takes no reply that was there before the call`() throws {
        let said = Said("", early: #"{"parameters": {"description": "d"}}"# + "\0")
        defer { said.end() }
        let error = #expect(throws: VarlinkConnectionError.self) { try said.call() }
        #expect(error?.kind == .protocolViolation)
        #expect(error?.description.contains("a reply that belongs to no call") == true)
        #expect(said.sent() == "", "the call was made all the same")
    }

    @Test(arguments: [
        #"{"parameters": {"description": 5}}"#, #"{"parameters": {}}"#, "{}",
        #"{"parameters": {"description": "d", "more": 1}}"#,
    ])
    func `refuses a reply that is not the method's`(text: String) throws {
        let said = Said(text + "\0")
        defer { said.end() }
        #expect(throws: (any Error).self) { try said.call() }
        // The connection is as good as before: this call waits for its reply.
        let error = #expect(throws: VarlinkConnectionError.self) {
            try said.client.call(VarlinkService.GetInfo.self, .init(), within: .milliseconds(20))
        }
        #expect(error?.kind == .timedOut)
    }

    @Test(arguments: [
        "no JSON\0", "[]\0", #"{"parameters": {}, "continues": true}"# + "\0",
        #"{"parameters": {"description": "much too long for this limit"}}"# + "\0",
        String(repeating: "x", count: 100),
    ])
    func `ends a connection that does not keep to the protocol`(text: String) throws {
        let said = Said(text, frameBytes: 50)
        defer { said.end() }
        let error = #expect(throws: VarlinkConnectionError.self) { try said.call() }
        #expect(error?.kind == .protocolViolation)
        #expect(error?.description.contains("limits.") == false, "names a setting of servers")
    }

    @Test func `waits no longer than its limit`() throws {
        let said = Said(#"{"parameters""#)
        defer { said.end() }
        let begin = ContinuousClock.now
        let error = #expect(throws: VarlinkConnectionError.self) {
            try said.client.call(VarlinkService.GetInfo.self, .init(), within: .milliseconds(50))
        }
        #expect(error?.kind == .timedOut)
        #expect(ContinuousClock.now - begin >= .milliseconds(50))
    }

    @Test func `throws that the other side is gone`() throws {
        for text in ["", #"{"parameters""#] {
            let said = Said(text, closes: true)
            let error = #expect(throws: VarlinkConnectionError.self) { try said.call() }
            #expect(error?.kind == .closed)
            said.end()
        }
    }
}
