import AtriumKit
import Index
import Store
import Testing

@testable import Host

// What can be read of a host, compared with what should be there.
extension ModelRun {
    /// Compares all that can be read of all containers with what should be there.
    func checkAgainstModel(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        for name in names {
            let seen = try await host.observe(name)
            let expected = models[name]?.observation
            #expect(seen == expected, "container \(name)", sourceLocation: sourceLocation)
        }
    }

    /// One notification a commit, without holes.
    func checkNotifications() throws {
        let sequences = try host.store.notifications(after: 0, limit: 1_000_000).notifications.map(
            \.sequence)
        #expect(sequences == Array(1...host.store.lastSequence))
    }
}

extension TestRegistry {
    /// All that a reader can see of a container; the ways to see it must agree.
    fileprivate func observe(_ name: String) async throws -> Observation {
        let page = try await list(name, sort: ["-votes.count"], limit: 1_000)
        var seen = Observation()
        var counts: [Int] = []
        for item in page.items {
            let (ballots, comments) = try await voices(name, item.id)
            let title = try Value(jsonBytes: item.fields).object?["title"]?.text
            seen.items[item.id] = Observation.Item(
                title: title ?? "", ballots: ballots, comments: comments)
            #expect(item.votes?.tally == Self.tally(of: ballots))
            #expect(item.comments == comments.count)
            counts.append(ballots.count)
        }
        #expect(counts == counts.sorted(by: >))
        (seen.ballots, seen.comments) = try await voices(name, nil)
        let own = try await call { registry, reply in
            reply(Result { () throws(HostError) in try registry.describe(name, hasDetails: true) })
        }
        #expect(own.votes == Self.tally(of: seen.ballots))
        #expect(own.comments == seen.comments.count)
        return seen
    }

    private static func tally(of ballots: [String: Double]) -> Tally {
        let values = ballots.values.sorted()
        var tally = Tally(count: values.count)
        for value in values { tally.histogram["\(Int(value))", default: 0] += 1 }
        if !values.isEmpty { tally.score = values.reduce(0, +) / Double(values.count) }
        return tally
    }

    /// The ballots by actor, and the comments that are shown.
    private func voices(
        _ name: String, _ item: String?
    ) async throws -> ([String: Double], [String: String]) {
        let ballots = try await call {
            $0.ballots(
                SubjectAddress(container: name, item: item), limit: 1_000, cursor: nil, $1)
        }
        let thread = try await call {
            $0.thread(
                name, component: nil, ThreadQuery(subject: Subject(item: item), limit: 1_000), $1)
        }
        var comments: [String: String] = [:]
        for view in thread.comments where view.entry.comment.state == .shown {
            comments[view.entry.comment.id] = view.entry.comment.text ?? ""
        }
        return (
            Dictionary(uniqueKeysWithValues: ballots.ballots.map { ($0.actor, $0.value) }),
            comments
        )
    }
}
