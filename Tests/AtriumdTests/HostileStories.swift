import Foundation
import JSONCodec
import TestSupport
import Testing

extension Stories {
    /// Whatever anybody sends: a typed error or a logged close, and everyone else is served.
    @Suite struct Hostile {
        @Test func `malformed JSON closes the connection, and the log says why`() async throws {
            try await withFilms { daemon in
                for text in ["{\"method\": oops}", "[]", "{\"method\":\"org.x.Y\"", "\u{1}"] {
                    let peer = try daemon.peer()
                    try await peer.send(text)
                    #expect(try await peer.receive() == nil, "\(text)")
                }
                #expect(daemon.log.contains("warning a connection was closed"))
                #expect(daemon.log.contains("reason=\"a message that is no call"))
                try await Self.expectService(daemon)
            }
        }

        @Test func `a frame of 100 MB is cut off long before it is read`() async throws {
            try await withFilms { daemon in
                let peer = try daemon.peer()
                let start = Array("{\"method\":\"org.atrium.Contents.List\",\"x\":\"".utf8)
                let frame = start + [UInt8](repeating: 0x61, count: 100 << 20)
                let taken = try await onThread { peer.trySending(frame) }
                #expect(taken < 40 << 20, "\(taken) bytes were taken")
                let told = try await peer.receive()
                #expect(told?["parameters"]?["limit"]?.string == "frameBytes", "\(told as Any)")
                #expect(try await peer.receive() == nil)
                #expect(daemon.log.contains("16777216"), "names the limit: \(daemon.log)")
                try await Self.expectService(daemon)
            }
        }

        @Test func `an unknown method, wrong types and what is missing get their errors`()
            async throws
        {
            try await withFilms { daemon in
                let peer = try daemon.peer()
                let cases: [(String, JSONValue, String)] = [
                    ("org.atrium.Contents.Burn", [:], "org.varlink.service.MethodNotFound"),
                    ("org.nowhere.Thing.Do", [:], "org.varlink.service.InterfaceNotFound"),
                    (
                        "org.atrium.Contents.List", ["container": 7],
                        "org.varlink.service.InvalidParameter"
                    ),
                    ("org.atrium.Contents.List", [:], "org.varlink.service.InvalidParameter"),
                    (
                        "org.atrium.Contents.List", ["container": "films", "limt": 5],
                        "org.varlink.service.InvalidParameter"
                    ),
                    (
                        "org.atrium.Contents.List", ["container": "songs"],
                        "org.atrium.Contents.ContainerNotFound"
                    ),
                    (
                        "org.atrium.Votes.Cast",
                        ["container": "films", "item": "nothing", "value": 3],
                        "org.atrium.Votes.ItemNotFound"
                    ),
                    (
                        "org.atrium.Notifications.Subscribe", ["topics": [">"]],
                        "org.varlink.service.ExpectedMore"
                    ),
                ]
                for (method, parameters, error) in cases {
                    let reply = try await peer.call(method, parameters)
                    #expect(reply["error"]?.string == error, "\(method) \(parameters): \(reply)")
                }
                let served = try await peer.call(
                    "org.atrium.Contents.List", ["container": "films", "limit": 1])
                #expect(served["error"] == nil, "the same connection goes on: \(served)")
            }
        }

        @Test func `a typo in a definition is named with its line and the nearest key`()
            async throws
        {
            try await withFilms { daemon in
                let refused = try await daemon.type(
                    "sed 's/plugin: org.atrium.facets/plugn: org.atrium.facets/' "
                        + "$EXAMPLES/films.yaml >typo.yaml; atriumctl apply -f typo.yaml")
                #expect(refused.status == 1, "\(refused)")
                #expect(refused.errors.contains("typo.yaml"), "\(refused)")
                #expect(refused.errors.contains("plugn"), "\(refused)")
                #expect(refused.errors.contains("'plugin'"), "\(refused)")
                try await Self.expectService(daemon)
            }
        }

        @Test func `a peer that dies while it is written to takes nobody along`() async throws {
            try await withFilms { daemon in
                let call = Peer.frame(
                    "org.atrium.Contents.List", ["container": "films", "facets": true])
                for _ in 0..<20 {
                    let peer = try daemon.peer()
                    try await peer.send(Array(repeating: call, count: 500).flatMap { $0 })
                    _ = try await peer.receive()
                    // Gone with hundreds of replies on their way.
                }
                let watcher = try daemon.peer()
                try await watcher.send(
                    Peer.frame(
                        "org.atrium.Notifications.Subscribe", ["topics": [">"], "after": 0],
                        more: true))
                _ = try await watcher.receive()
                try await Self.expectService(daemon)
            }
        }

        private static func expectService(_ daemon: DaemonUnderTest) async throws {
            let listed = try await daemon.type("atriumctl list films --limit 1 --json")
            #expect(listed.status == 0, "\(listed)")
            #expect(try listed.json.ids.count == 1)
        }
    }
}
