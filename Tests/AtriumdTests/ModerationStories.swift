import Foundation
import JSONCodec
import TestSupport
import Testing

extension Stories {
    /// A moderator at work, with the client.
    @Suite struct Moderation {
        private static let film = "films/alien-1979"

        @Test func `a root that waits is printed once, and a reply that waits is one`() async throws
        {
            try await withFilms { daemon in
                let thread = "atriumctl thread \(Self.film) --actor web:bob --root c1"
                let alone = try await daemon.type(
                    "sed '/threads/s/subjects: .items, container./moderated: true/' "
                        + "$EXAMPLES/films.yaml >own.yaml && atriumctl apply -f own.yaml && "
                        + "atriumctl comment --actor web:bob --id c1 \(Self.film) 'Too loud.' && \(thread)"
                )
                #expect(alone.output.components(separatedBy: "Too loud.").count == 2, "\(alone)")
                #expect(alone.errors.hasSuffix("no replies to c1\n"), "\(alone)")
                let replied = try await daemon.type(
                    "atriumctl moderate films c1 shown && "
                        + "atriumctl reply films c1 --actor web:bob 'Still.' && \(thread)")
                #expect(replied.output.contains("Still."), "\(replied)")
                #expect(!replied.errors.contains("no replies"), "\(replied)")
                let other = try await daemon.type(
                    "atriumctl thread \(Self.film) --actor web:eve --root c1")
                #expect(!other.output.contains("Still."), "\(other)")
            }
        }

        @Test func `what waits is the author's to see and in the queue, and a reason comes back`()
            async throws
        {
            try await withFilms { daemon in
                let moderated = try await daemon.type(
                    "sed '/threads/s/subjects: .items, container./moderated: true/' "
                        + "$EXAMPLES/films.yaml >own.yaml && atriumctl apply -f own.yaml")
                #expect(moderated.status == 0, "\(moderated)")
                let said = try await daemon.type(
                    "atriumctl comment --actor web:bob --id c1 \(Self.film) 'Too loud.'")
                #expect(said.output.contains("it waits for a moderator"), "\(said)")
                let own = try await daemon.type("atriumctl thread \(Self.film) --actor web:bob")
                #expect(own.output.contains("Yours, not shown to others"), "\(own)")
                #expect(own.output.contains("Too loud."))
                #expect(own.output.contains("waits for a moderator"))
                let others = try await daemon.type("atriumctl thread \(Self.film) --actor web:eve")
                #expect(!others.output.contains("Too loud."), "\(others)")
                let queue = try await daemon.type("atriumctl pending films")
                #expect(queue.output.contains("1 comment waits for a moderator in films"))
                #expect(queue.output.contains("on \(Self.film)"), "\(queue)")
                #expect(queue.output.contains("Too loud."))
                let removed = try await daemon.type(
                    "atriumctl moderate films c1 removed --reason 'It was not.' --yes")
                #expect(removed.status == 0, "\(removed)")
                let back = try await daemon.type("atriumctl moderate films c1 shown")
                #expect(back.status == 1)
                #expect(
                    back.errors.contains("'c1' was removed by a moderator and its text is gone"),
                    "\(back)")
                let again = try await daemon.type("atriumctl delete-comment films c1")
                #expect(again.output == "c1 was removed already\n", "\(again)")
                let after = try await daemon.type("atriumctl thread \(Self.film) --actor web:bob")
                #expect(after.output.contains("reason: It was not."), "\(after)")
                #expect(!after.output.contains("Too loud."))
                let empty = try await daemon.type("atriumctl pending films")
                #expect(empty.output.contains("0 comments wait"), "\(empty)")
            }
        }

        @Test func `a moderator's queue goes on where its first page shows nothing`() async throws {
            try await withFilms { daemon in
                let moderated = try await daemon.type(
                    "sed '/threads/s/subjects: .items, container./moderated: true/' "
                        + "$EXAMPLES/films.yaml >own.yaml && atriumctl apply -f own.yaml")
                #expect(moderated.status == 0, "\(moderated)")
                let peer = try daemon.peer()
                for number in 0..<110 {
                    let posted = try await peer.call(
                        "org.atrium.Comments.Post",
                        [
                            "container": "films", "item": "alien-1979", "actor": "web:bob",
                            "text": .string("Held \(number)"),
                        ])
                    try #require(posted["error"] == nil, "\(posted)")
                }
                let last = try await daemon.type(
                    "atriumctl remove films/alien-1979 && "
                        + "atriumctl comment films/aliens-1986 --actor web:bob 'Look here.'")
                #expect(last.status == 0, "\(last)")
                try await Tmux.run("atriumctl open films", on: daemon) { one in
                    try await one.shows("1 of 124")
                    try await one.type("m")
                    try await one.shows("111 comments wait")
                    try await one.shows("web:bob: Look here.")
                }
            }
        }

        @Test func `a moderator approves at a terminal what waits, right after it was opened`()
            async throws
        {
            try await withFilms { daemon in
                let held = try await daemon.type(
                    "sed '/threads/s/subjects: .items, container./moderated: true/' "
                        + "$EXAMPLES/films.yaml >own.yaml && atriumctl apply -f own.yaml && "
                        + "atriumctl comment --actor web:bob \(Self.film) 'Too loud.'")
                #expect(held.status == 0, "\(held)")
                try await Tmux.run("atriumctl open films", on: daemon) { one in
                    try await one.shows("1 of 125")
                    try await one.type("m")
                    try await one.shows("web:bob: Too loud.")
                    try await one.press("Enter")
                    try await one.shows("Show it to everyone")
                    try await one.press("Enter")
                    try await one.shows("no comment waits for a moderator")
                }
                let others = try await daemon.type("atriumctl thread \(Self.film) --actor web:eve")
                #expect(others.output.contains("Too loud."), "\(others)")
            }
        }

        @Test func `a closed container says so to voters until it is opened again`() async throws {
            try await withFilms { daemon in
                let closed = try await daemon.type("atriumctl close films --votes")
                #expect(closed.output.contains("films is closed for votes"), "\(closed)")
                let vote = try await daemon.type("atriumctl vote \(Self.film) 4")
                #expect(vote.status == 1)
                #expect(vote.errors.contains("is closed for votes"), "\(vote)")
                let peer = try daemon.peer()
                let refused = try await peer.call(
                    "org.atrium.Votes.Cast", ["container": "films", "value": 4])
                #expect(refused["error"]?.string == "org.atrium.Votes.Closed")
                let listed = try await daemon.type("atriumctl list films --limit 1")
                #expect(listed.errors.contains("films is closed for votes"), "\(listed)")
                try await Tmux.run("atriumctl open films", on: daemon) { one in
                    try await one.shows("closed for votes")
                    try await one.type("4")
                    try await one.shows("the container is closed for votes")
                }
                let shut = try await daemon.type(
                    "atriumctl close films --comments && atriumctl thread \(Self.film)")
                #expect(shut.errors.contains("films is closed for comments"), "\(shut)")
                let described = try await daemon.type("atriumctl describe films")
                #expect(described.output.contains("closed now"), "\(described)")
                try await daemon.stop()
                try await daemon.start()
                let still = try await daemon.type("atriumctl vote \(Self.film) 4")
                #expect(still.status == 1)
                let opened = try await daemon.type("atriumctl reopen films")
                #expect(opened.output.contains("open for votes and comments"), "\(opened)")
                let after = try await daemon.type("atriumctl vote \(Self.film) 4")
                #expect(after.status == 0, "\(after)")
            }
        }

        @Test(.enabled(if: geteuid() == 0, "acts for other users, as root alone can"))
        func `who lacks a role gets the line that gives it`() async throws {
            try await People.withFilms { daemon, _ in
                let member = UInt32(try #require(People.uids["member"]))
                for (line, told) in [
                    ("pending films", "moderators: [\(member)]"),
                    ("vote \(Self.film) 5 --actor web:1", "frontends: [\(member)=web]"),
                ] {
                    let denied = try await daemon.type("atriumctl \(line)", as: member)
                    #expect(denied.status == 1, "\(denied)")
                    #expect(denied.errors.contains(told), "\(denied)")
                    #expect(denied.errors.contains("and runs 'atriumctl reload'."), "\(denied)")
                }
            }
        }

        @Test func `moderators see who voted what`() async throws {
            try await withFilms { daemon in
                for (name, value) in [("web:bob", 4), ("web:eve", 2)] {
                    let vote = try await daemon.type(
                        "atriumctl vote --actor \(name) \(Self.film) \(value)")
                    #expect(vote.status == 0, "\(vote)")
                }
                let ballots = try await daemon.type("atriumctl ballots \(Self.film)")
                #expect(ballots.status == 0, "\(ballots)")
                let lines = ballots.output.split(separator: "\n").dropFirst()
                #expect(lines.count == 2 && lines.contains { $0.hasPrefix("web:bob") })
                let none = try await daemon.type("atriumctl ballots films")
                #expect(none.errors.contains("nobody voted on films"), "\(none)")
            }
        }
    }
}
