import Foundation
import JSONCodec
import TestSupport
import Testing

extension Stories {
    /// A person who wants to be forgotten, by the real daemon.
    @Suite struct Erasures {
        private static let names = ["web:margarete-4711", "web:konrad-4712"]
        private static let film: JSONValue = ["container": "films", "item": "alien-1979"]

        /// Votes, writes, is answered, edits and deletes, for each of two persons of a front end.
        private func takePart(_ daemon: DaemonUnderTest) async throws {
            let peer = try daemon.peer()
            func call(_ method: String, _ name: String, _ parameters: JSONValue) async throws {
                let own = Roles.with(parameters, ["actor": .string(name)])
                let reply = try await peer.call("org.atrium.\(method)", own)
                #expect(reply["error"] == nil, "\(reply)")
            }
            for (index, name) in Self.names.enumerated() {
                let text = "Said-by-\(name)"
                let film = Self.film
                try await call(
                    "Votes.Cast", name, Roles.with(film, ["value": .int(Int64(index) + 2)]))
                for id in ["answered", "alone", "deleted", "edited"] {
                    try await call(
                        "Comments.Post", name,
                        Roles.with(
                            film,
                            ["id": .string("\(id)\(index)"), "text": .string("\(text)-\(id)")]))
                }
                try await call(
                    "Comments.Post", Self.names[1 - index],
                    Roles.with(
                        film,
                        [
                            "id": .string("answer\(index)"), "parent": .string("answered\(index)"),
                            "text": "An answer",
                        ]))
                try await call(
                    "Comments.Delete", name,
                    ["container": "films", "comment": .string("deleted\(index)")])
                try await call(
                    "Comments.Edit", name,
                    [
                        "container": "films", "comment": .string("edited\(index)"),
                        "text": .string("\(text)-new"),
                    ])
            }
        }

        /// The files of the state directory that hold a text.
        private func files(holding text: String, _ daemon: DaemonUnderTest) throws -> [String] {
            let folder = daemon.home.path + "/state"
            return try FileManager.default.contentsOfDirectory(atPath: folder).filter { name in
                let data = try Data(contentsOf: URL(filePath: "\(folder)/\(name)"))
                return data.range(of: Data(text.utf8)) != nil
            }
        }

        private func check(_ daemon: DaemonUnderTest) async throws {
            #expect(try files(holding: Self.names[0], daemon) == [])
            #expect(try files(holding: Self.names[1], daemon) != [])
            let peer = try daemon.peer()
            let tally = try await peer.call("org.atrium.Votes.Tally", Self.film)
            #expect(tally["parameters"]?["tally"]?["count"]?.int == 1)
            #expect(tally["parameters"]?["tally"]?["score"]?.double == 3)
            let thread = try await peer.call("org.atrium.Comments.Thread", Self.film)
            let comments = thread["parameters"]?["comments"]?.array ?? []
            #expect(
                Set(comments.compactMap { $0["id"]?.string })
                    == ["answered0", "answer0", "answered1", "alone1", "edited1"])
            #expect(!"\(thread)".contains(Self.names[0]))
            let past = try await daemon.type(
                "timeout 2 atriumctl watch 'films.>' --after 0 --json")
            #expect(past.output.contains(Self.names[1]))
            #expect(!past.output.contains(Self.names[0]))
        }

        @Test(arguments: ["daemon", "process"])
        func `an erased person is in no reply, nor in any file, and others are as before`(
            isolation: String
        ) async throws {
            try await withFilms { daemon in
                let isolated = try await daemon.type(
                    "sed -E 's/(plugin: org.atrium.(stars|threads))/\\1, isolation: \(isolation)/' "
                        + "$EXAMPLES/films.yaml >own.yaml && atriumctl apply -f own.yaml")
                #expect(isolated.status == 0, "\(isolated)")
                try await takePart(daemon)
                #expect(try files(holding: Self.names[0], daemon) != [])
                let unasked = try await daemon.type("atriumctl erase \(Self.names[0]) </dev/null")
                #expect(unasked.status == 2)
                #expect(unasked.errors.contains("--yes"), "\(unasked)")
                let done = try await daemon.type("atriumctl erase --yes \(Self.names[0]) --json")
                #expect(done.status == 0, "\(done)")
                #expect(try done.json["ballots"]?.int == 1)
                #expect(try done.json["comments"]?.int == 5)
                #expect(try done.json["copies"]?.array?.isEmpty == true)
                try await check(daemon)
                try await daemon.stop()
                try await daemon.start()
                try await check(daemon)
                let again = try await daemon.type("atriumctl erase --yes \(Self.names[0])")
                #expect(again.status == 1)
                #expect(again.errors.contains("nobody called"), "\(again)")
            }
        }

        @Test(arguments: [0, 5, 20, 50, 100, 200, 400])
        func `a kill in the middle of an erasure leaves it to the next start`(
            calls: Int
        ) async throws {
            try await withFilms { daemon in
                try await takePart(daemon)
                let peer = try daemon.peer()
                try await peer.send(
                    Peer.frame(
                        "org.atrium.People.Erase", ["actor": .string(Self.names[0])]))
                // However far it is by then: any point of it will do.
                let other = try daemon.peer()
                for _ in 0..<calls {
                    _ = try await other.call("org.varlink.service.GetInfo", [:])
                }
                try await daemon.kill()
                try await daemon.start()
                let done = try await daemon.type("atriumctl erase --yes \(Self.names[0])")
                // The start may not be through with it yet.
                let others = ["nobody called", "an erasure that was begun before the last start"]
                #expect(done.status == 0 || others.contains(where: done.errors.contains), "\(done)")
                try await daemon.restWithoutErasures()
                try await check(daemon)
            }
        }
    }
}

extension DaemonUnderTest {
    /// Waits until no erasure is under way: another one is made after all before.
    fileprivate func restWithoutErasures() async throws {
        let peer = try peer()
        let vote = try await peer.call(
            "org.atrium.Votes.Cast",
            ["container": "films", "item": "heat-1995", "value": 1, "actor": "web:nobody"])
        #expect(vote["error"] == nil, "\(vote)")
        let reply = try await peer.call("org.atrium.People.Erase", ["actor": "web:nobody"])
        #expect(reply["error"] == nil, "\(reply)")
    }
}
