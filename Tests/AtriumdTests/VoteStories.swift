import Foundation
import JSONCodec
import TestSupport
import Testing

extension Stories {
    /// Three people of the machine vote.
    @Suite struct Votes {
        private static let film = "films/the-godfather-1972"
        /// The daemon's group is one that the voters are in; nobody needs an account for that.
        private static let group = DaemonUnderTest.Options(
            prefix: ["setpriv", "--regid=20000", "--clear-groups"])

        @Test(.enabled(if: geteuid() == 0, "acts for three users, as root alone can"))
        func
            `three users' votes give the score, a change moves the film, the container counts alone`()
            async throws
        {
            try await withFilms(Self.group) { daemon in
                for (user, value) in [(20_001, 5), (20_002, 4), (20_003, 2)] {
                    let vote = try await daemon.type(
                        "atriumctl vote \(Self.film) \(value)", as: UInt32(user))
                    #expect(vote.status == 0, "\(vote)")
                }
                // Five votes of 3 are counted with theirs: `score: bayesian`.
                #expect(try await Self.tally(daemon) == Tally(count: 3, score: 26.0 / 8))
                try await Self.vote(daemon, "films/alien-1979", 5, as: 20_001)
                #expect(try await Self.ranking(daemon) == ["alien-1979", "the-godfather-1972"])

                let changed = try await daemon.type(
                    "atriumctl vote \(Self.film) 5 --json", as: 20_003)
                #expect(try changed.json["previous"]?.double == 2)
                #expect(try await Self.tally(daemon) == Tally(count: 3, score: 29.0 / 8))
                #expect(try await Self.ranking(daemon) == ["the-godfather-1972", "alien-1979"])

                try await Self.vote(daemon, "films", 3, as: 20_002)
                #expect(try await Self.tally(daemon) == Tally(count: 3, score: 29.0 / 8))
                let club = try await daemon.type("atriumctl describe films --json")
                #expect(try club.json["votes"]?["count"]?.int == 1)
                #expect(try club.json["votes"]?["score"]?.double == 3)
            }
        }

        @Test func `describe shows the caller's own vote, or that of the actor that is named`()
            async throws
        {
            try await withFilms { daemon in
                try await Self.vote(daemon, Self.film, 4)
                let own = try await daemon.type("atriumctl describe \(Self.film)")
                #expect(own.output.contains("; yours: 4"), "\(own)")
                let json = try await daemon.type("atriumctl describe \(Self.film) --json").json
                #expect(json["item"]?["votes"]?["mine"]?.double == 4, "\(json)")
                let other = try await daemon.type("atriumctl describe \(Self.film) --actor web:1")
                #expect(!other.output.contains("yours"), "\(other)")
            }
        }

        @Test func `watch replays everything in order, and then follows`() async throws {
            try await withFilms { daemon in
                try await Self.vote(daemon, Self.film, 5)
                let said = try await daemon.type("atriumctl comment \(Self.film) 'An offer.'")
                #expect(said.status == 0)
                let now = try await daemon.type("atriumctl status --json").json["sequence"]?.int
                let last = try #require(now)
                try await daemon.follow("atriumctl watch 'films.>' --after 0 --json") { lines in
                    var seen: [JSONValue] = []
                    while seen.last?["sequence"]?.int != last {
                        let part = try JSON.decode(JSONValue.self, from: try await lines.next())
                        seen += part["notifications"]?.array ?? []
                    }
                    let sequences = seen.compactMap { $0["sequence"]?.int }
                    #expect(sequences == sequences.sorted())
                    #expect(Set(sequences).count == sequences.count)
                    let topics = seen.compactMap { $0["topic"]?.string }
                    #expect(topics.contains("films.items.put"))
                    #expect(topics.suffix(2) == ["films.votes.cast", "films.comments.posted"])

                    try await Self.vote(daemon, "films", 4)
                    let next = try await Self.nextNotification(&lines)
                    #expect(next["topic"]?.string == "films.votes.cast")
                    #expect(next["sequence"]?.int == last + 1)
                }
            }
        }

        @Test func `a vote outside the scale is refused in words, and taken back when asked`()
            async throws
        {
            try await withFilms { daemon in
                let refused = try await daemon.type("atriumctl vote \(Self.film) 6")
                #expect(refused.status == 1)
                #expect(refused.errors.contains("5"), "says what the scale is: \(refused.errors)")
                try await Self.vote(daemon, Self.film, 2)
                let back = try await daemon.type("atriumctl unvote \(Self.film)")
                #expect(back.status == 0, "\(back)")
                #expect(try await Self.tally(daemon) == Tally(count: 0, score: nil))
            }
        }

        private struct Tally: Equatable {
            let count: Int
            let score: Double?
        }

        private static func vote(
            _ daemon: DaemonUnderTest, _ subject: String, _ value: Int, as user: UInt32? = nil
        ) async throws {
            let vote = try await daemon.type("atriumctl vote \(subject) \(value)", as: user)
            #expect(vote.status == 0, "\(vote)")
        }

        private static func tally(_ daemon: DaemonUnderTest) async throws -> Tally {
            let reply = try await daemon.peer().call(
                "org.atrium.Votes.Tally", ["container": "films", "item": "the-godfather-1972"])
            let tally = reply["parameters"]?["tally"]
            return Tally(count: tally?["count"]?.int ?? -1, score: tally?["score"]?.double)
        }

        private static func ranking(_ daemon: DaemonUnderTest) async throws -> [String] {
            try await daemon.type("atriumctl list films --sort -votes.score --limit 2 --json")
                .json.ids
        }

        private static func nextNotification(_ lines: inout RunningCommand) async throws
            -> JSONValue
        {
            while true {
                let part = try JSON.decode(JSONValue.self, from: try await lines.next())
                if let notification = part["notifications"]?[0] { return notification }
            }
        }
    }
}
