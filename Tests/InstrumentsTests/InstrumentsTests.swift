import CoreMetrics
import Testing

@testable import Instruments

/// What is recorded through swift-metrics, and read.
struct InstrumentsTests {
    private let instruments = InstrumentPanel()

    private func number(_ name: String, _ labels: [String: String] = [:]) -> Double? {
        for sample in instruments.read() where sample.name == name && sample.labels == labels {
            if case .number(let number) = sample.value { return number }
        }
        return nil
    }

    private func histogram(_ name: String) -> HistogramReading? {
        for sample in instruments.read() where sample.name == name {
            if case .histogram(let reading) = sample.value { return reading }
        }
        return nil
    }

    @Test func `counters of one name and the same labels count together`() {
        let films = Counter(label: "c", dimensions: [("of", "films")], factory: instruments)
        let again = Counter(label: "c", dimensions: [("of", "films")], factory: instruments)
        let games = Counter(label: "c", dimensions: [("of", "games")], factory: instruments)
        films.increment(by: 2)
        again.increment()
        #expect(number("c", ["of": "films"]) == 3)
        #expect(number("c", ["of": "games"]) == 0, "told before it counts")
        games.increment()
        #expect(number("c", ["of": "games"]) == 1)
    }

    @Test func `an instrument is forgotten when the last who has it destroys it`() {
        let first = Counter(label: "c", factory: instruments)
        let second = Counter(label: "c", factory: instruments)
        first.destroy()
        second.increment()
        #expect(number("c") == 1)
        second.destroy()
        #expect(number("c") == nil)
    }

    @Test func `a timer is a histogram in seconds, whose buckets count those before them`() throws {
        let timer = Timer(label: "atrium_sync_seconds", factory: instruments)
        #expect(histogram("atrium_sync_seconds") == nil, "nothing was recorded")
        // On a bound, above it, and above all of them.
        for nanoseconds in [5_000, 5_001, 250_000, 60_000_000_000] {
            timer.recordNanoseconds(nanoseconds)
        }
        let reading = try #require(histogram("atrium_sync_seconds"))
        #expect(reading.count == 4)
        #expect(abs(reading.sum - 60.000260001) < 1e-9)
        #expect(reading.buckets.first == .init(upTo: 5e-06, count: 1))
        #expect(reading.buckets.first { $0.upTo == 1e-05 }?.count == 2)
        #expect(reading.buckets.first { $0.upTo == 0.00025 }?.count == 3)
        #expect(reading.buckets.last == .init(upTo: 10, count: 3))
    }

    @Test func `a recorder is a histogram, or a gauge where it does not aggregate`() throws {
        let entries = Recorder(label: "atrium_commit_entries", factory: instruments)
        for count in [1, 3, 1_000] { entries.record(count) }
        let reading = try #require(histogram("atrium_commit_entries"))
        #expect(reading.sum == 1_004)
        #expect(reading.buckets.map(\.count) == [1, 1, 2, 2, 2, 2, 2, 2, 2, 3])
        Gauge(label: "g", factory: instruments).record(2.5)
        #expect(number("g") == 2.5)
        let meter = Meter(label: "m", factory: instruments)
        meter.set(4)
        meter.decrement(by: 1.5)
        #expect(number("m") == 2.5)
    }

    @Test func `nothing is lost when many threads record at once`() async throws {
        let counter = Counter(label: "c", factory: instruments)
        let timer = Timer(label: "t", factory: instruments)
        let meter = Meter(label: "m", factory: instruments)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for step in 0..<10_000 {
                        counter.increment()
                        timer.recordNanoseconds(step)
                        meter.increment(by: 1)
                    }
                }
            }
        }
        #expect(number("c") == 80_000)
        #expect(number("m") == 80_000)
        #expect(histogram("t")?.count == 80_000)
    }

    @Test func `a name taken by another kind, and what is beyond the limit, counts nowhere`() {
        Counter(label: "taken", factory: instruments).increment()
        Timer(label: "taken", factory: instruments).recordNanoseconds(1)
        #expect(number("taken") == 1)
        for place in 0..<(InstrumentPanel.limit + 10) {
            Counter(label: "many", dimensions: [("n", "\(place)")], factory: instruments)
                .increment()
        }
        #expect(instruments.read().count == InstrumentPanel.limit)
    }

    @Test func `the catalogue keeps to the conventions`() {
        #expect(Set(MetricCatalog.all.map(\.name)).count == MetricCatalog.all.count)
        for metric in MetricCatalog.all {
            #expect(metric.name.wholeMatch(of: #/atrium(_[a-z0-9]+)+/#) != nil, "\(metric.name)")
            #expect(metric.name.hasSuffix("_total") == (metric.kind == .counter), "\(metric.name)")
            #expect(metric.help.hasSuffix("."), "\(metric.name)")
            #expect((metric.buckets == nil) == (metric.kind != .histogram), "\(metric.name)")
            for bucket in [Buckets.seconds, .counts] {
                #expect(bucket.bounds == bucket.bounds.sorted())
                #expect(bucket.bounds.count <= Buckets.most)
            }
        }
    }

    @Test func `families stand in the catalogue's order, their samples by label`() {
        let families = MetricFamily.families(of: [
            MetricSample("zebra_total", [:], 1), MetricSample("atrium_screens", [:], 2),
            MetricSample("atrium_items", ["container": "b"], 3),
            MetricSample("atrium_items", ["container": "a"], 4),
        ])
        #expect(
            families.map(\.description.name) == ["atrium_items", "atrium_screens", "zebra_total"])
        #expect(families.first?.samples.map { $0.labels["container"] } == ["a", "b"])
        #expect(families.last?.description.kind == .counter)
    }
}
