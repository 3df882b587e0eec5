import JSONCodec

/// The import of a catalogue into an empty daemon, beside the same rows into plain SQLite.
struct ImportBenchmark {
    /// As many batches on their way at once as `atriumctl import` has.
    private static let window = 4
    /// A round is one import of each; further ones start only this soon after the first.
    private static let rounds = 3
    private static let budget = 40.0

    let bench: Workbench

    /// Imports a few times, and leaves the last daemon to the benchmarks that come after.
    func run() throws -> [Row] {
        let catalogue = try bench.catalogue()
        bench.say("import: \(catalogue.origin)")
        var ours = Samples()
        var plain = Samples()
        let clock = ContinuousClock()
        let start = clock.now
        for round in 1...Self.rounds {
            try plain.append(importPlainly(catalogue))
            let seconds = try bench.renewDaemon { try Self.fill($0, with: catalogue) }
            ours.append(seconds)
            bench.say("import: round \(round): \((seconds * 100).rounded() / 100) s")
            if (clock.now - start).seconds > Self.budget { break }
        }
        let count = Double(catalogue.items.count)
        let peer = "SQLite, a sync a batch"
        return [
            Row(
                benchmark: "import", name: "\(catalogue.items.count) packages", unit: .seconds,
                ours: ours.median, peer: .init(name: peer, value: plain.median)),
            Row(
                benchmark: "import", name: "items", unit: .perSecond, ours: count / ours.median,
                peer: .init(name: peer, value: count / plain.median)),
        ]
    }

    private func importPlainly(_ catalogue: Catalogue) throws -> Double {
        let table = try PlainTable(directory: bench.newDirectory())
        let batches = catalogue.batches
        return try Timing.seconds {
            for batch in batches { try table.put(batch) }
        }
    }

    /// Puts a catalogue into the container `debian`.
    ///
    /// - Returns: Seconds from the first byte sent to the last batch acknowledged. The calls are made
    ///   before: the client's share is not ours to measure.
    static func fill(_ daemon: DaemonProcess, with catalogue: Catalogue) throws -> Double {
        let calls = catalogue.batches.map(call)
        let connection = try daemon.connect()
        let seconds = try Timing.seconds {
            for (place, call) in calls.enumerated() {
                if place >= window { try Frame.check(connection.receive()) }
                try connection.send(call)
            }
            for _ in 0..<min(window, calls.count) { try Frame.check(connection.receive()) }
        }
        let total = try connection.call(
            "org.atrium.Contents.List",
            ["container": .string(Workbench.container), "limit": .int(1)])["total"]?.int
        guard total == catalogue.items.count else {
            throw BenchmarkError(
                "\(catalogue.items.count) items were acknowledged, \(total ?? 0) are there")
        }
        return seconds
    }

    private static func call(_ items: ArraySlice<Catalogue.Item>) -> [UInt8] {
        var frame = Array(
            #"{"method":"org.atrium.Contents.Put","parameters":{"container":"debian","items":["#
                .utf8)
        for item in items {
            if item.id != items.first?.id { frame.append(UInt8(ascii: ",")) }
            frame += item.json
        }
        return frame + Array("]}}\0".utf8)
    }
}
