import JSONCodec

/// What a client waits for an answer about sixty thousand items, over the socket.
struct QueryBenchmark {
    private static let rounds = 300
    /// Seconds after which no further round starts.
    private static let budget = 20.0

    let bench: Workbench

    /// Asks the queries in turn, over and over.
    func run() throws -> [Row] {
        let connection = try bench.daemon().connect()
        let words = try distinctWords()
        let queries: [(name: String, ask: (Int) -> JSONValue)] = [
            ("section=games, search chess", { _ in Self.chess }),
            ("two sections, facets, by -size", { _ in Self.faceted }),
            ("search, another word each time", { Self.search(words[$0 % words.count]) }),
        ]
        var samples = Array(repeating: Samples(), count: queries.count)
        let clock = ContinuousClock()
        let start = clock.now
        for round in 0..<Self.rounds where (clock.now - start).seconds < Self.budget {
            for (place, query) in queries.enumerated() {
                let call = Frame.call("org.atrium.Contents.List", query.ask(round))
                let seconds = try Timing.seconds { _ = try connection.exchange(call) }
                samples[place].append(seconds * 1_000)
            }
        }
        return zip(queries, samples).flatMap { query, samples in
            [50.0, 99.0].map { percent in
                Row(
                    benchmark: "queries", name: "\(query.name): p\(Int(percent))",
                    unit: .milliseconds, ours: samples.percentile(percent), peer: nil)
            }
        }
    }

    private static let chess: JSONValue = [
        "container": .string(Workbench.container), "filters": ["section": ["games"]],
        "search": "chess", "limit": 50,
    ]

    private static let faceted: JSONValue = [
        "container": .string(Workbench.container),
        "filters": ["section": ["games", "science"], "interface": ["x11"]],
        "facets": true, "sort": ["-size"], "limit": 50,
    ]

    private static func search(_ word: String) -> JSONValue {
        ["container": .string(Workbench.container), "search": .string(word), "limit": 50]
    }

    /// Words that items have: none of them was searched before its turn.
    private func distinctWords() throws -> [String] {
        let items = try bench.catalogue().items
        let step = max(1, items.count / (Self.rounds * 2))
        var words: [String] = []
        var seen: Set<String> = []
        for place in stride(from: 0, to: items.count, by: step) {
            let word = items[place].id.split(separator: "-").last.map(String.init) ?? "a"
            if word.count > 2, seen.insert(word).inserted { words.append(word) }
        }
        return words.isEmpty ? ["chess"] : words
    }
}
