import Foundation
import Interfaces
import TestSupport
import Testing

@testable import atriumctl

private typealias Metric = Daemon.Metrics.Reply.Metrics

@Suite(.timeLimit(.minutes(3))) struct `Metrics as text` {
    private let metrics = [
        Metric(
            name: "a_total", kind: .counter, help: "A \\ B\nC.",
            labels: ["z": "plain", "b": "q\" \\ \n e"], value: 3),
        Metric(name: "a_total", kind: .counter, help: "A \\ B\nC.", labels: [:], value: 1e18),
        Metric(name: "g", kind: .gauge, help: "G.", labels: [:], value: 0.25),
        Metric(
            name: "h_seconds", kind: .histogram, help: "H.", labels: ["m": "x"], value: 4, sum: 2.5,
            buckets: [.init(upTo: 5e-06, count: 1), .init(upTo: 1, count: 3)]),
    ]

    @Test func `the text is Prometheus' own`() {
        #expect(
            PrometheusText.text(metrics) == #"""
                # HELP a_total A \\ B\nC.
                # TYPE a_total counter
                a_total{b="q\" \\ \n e",z="plain"} 3
                a_total 1000000000000000000
                # HELP g G.
                # TYPE g gauge
                g 0.25
                # HELP h_seconds H.
                # TYPE h_seconds histogram
                h_seconds_bucket{m="x",le="5e-06"} 1
                h_seconds_bucket{m="x",le="1"} 3
                h_seconds_bucket{m="x",le="+Inf"} 4
                h_seconds_sum{m="x"} 2.5
                h_seconds_count{m="x"} 4

                """#)
        #expect(PrometheusText.number(.nan) == "NaN")
        #expect(PrometheusText.number(-.infinity) == "-Inf")
    }

    @Test(
        .enabled(
            if: Checkout.python != nil, "run 'make test-deps' for a parser"))
    func `Prometheus' own parser reads the labels and the help as they were`() async throws {
        let program = """
            import sys
            from prometheus_client.parser import text_string_to_metric_families as parse
            for family in parse(sys.stdin.read()):
                print(ascii((family.name, family.type, family.documentation)))
                for s in family.samples:
                    print(ascii((s.name, sorted(s.labels.items()), float(s.value))))
            """
        let read = try await run(
            [#require(Checkout.python), "-c", program], input: PrometheusText.text(metrics))
        #expect(
            read.output == #"""
                ('a', 'counter', 'A \\ B\nC.')
                ('a_total', [('b', 'q" \\ \n e'), ('z', 'plain')], 3.0)
                ('a_total', [], 1e+18)
                ('g', 'gauge', 'G.')
                ('g', [], 0.25)
                ('h_seconds', 'histogram', 'H.')
                ('h_seconds_bucket', [('le', '5e-06'), ('m', 'x')], 1.0)
                ('h_seconds_bucket', [('le', '1'), ('m', 'x')], 3.0)
                ('h_seconds_bucket', [('le', '+Inf'), ('m', 'x')], 4.0)
                ('h_seconds_sum', [('m', 'x')], 2.5)
                ('h_seconds_count', [('m', 'x')], 4.0)

                """#)
    }
}

@Suite struct `What the daemon does, in figures` {
    private static func times(_ counts: [Int], _ all: Int, _ method: String) -> Metric {
        Metric(
            name: "atrium_call_seconds", kind: .histogram, help: "", labels: ["method": method],
            value: Double(all), sum: 1,
            buckets: zip([0.001, 0.01, 0.1], counts).map { .init(upTo: $0, count: $1) })
    }

    private static func calls(_ method: String, _ outcome: String, _ count: Double) -> Metric {
        Metric(
            name: "atrium_calls_total", kind: .counter, help: "",
            labels: ["method": method, "outcome": outcome], value: count)
    }

    private func change(
        _ before: [Metric], _ after: [Metric], seconds: Int = 2
    ) -> MetricChange {
        let now = ContinuousClock.now
        return MetricChange(
            before: MetricFigures(before, at: now),
            after: MetricFigures(after, at: now + .seconds(seconds)))
    }

    @Test func `a quantile lies within its bucket, and above all at the last bound`() {
        let figures = HistogramFigures(Self.times([10, 20, 20], 20, "m"))
        #expect(figures.quantile(0.5) == 0.001)
        #expect(figures.quantile(0.25) == 0.0005)
        #expect(figures.quantile(0.75).map { Wording.rounded($0, decimals: 6) } == "0.0055")
        #expect(HistogramFigures(Self.times([0, 0, 0], 3, "m")).quantile(0.5) == 0.1)
        #expect(HistogramFigures().quantile(0.5) == nil)
        #expect(HistogramFigures().mean == nil)
    }

    @Test func `figures are of the time between two looks`() {
        let change = change(
            [Self.calls("m", "ok", 100), Self.times([100, 100, 100], 100, "m")],
            [Self.calls("m", "ok", 110), Self.times([100, 110, 110], 110, "m")])
        #expect(change.rate("atrium_calls_total") == 5)
        let times = change.histogram("atrium_call_seconds")
        #expect(times.count == 10)
        #expect(
            times.quantile(0.5).map { Wording.rounded($0, decimals: 6) } == "0.0055",
            "the hundred of before do not count")
    }

    @Test func `methods stand by calls a second, and fit the terminal`() {
        let after = (0..<40).flatMap { number in
            [
                Self.calls("org.example.Method\(number)", "ok", Double(number)),
                Self.calls("org.example.Method\(number)", "org.example.Bad", 1),
            ]
        }
        let view = TopView(width: 60, height: 20)
        let lines = view.lines(change([], after), notice: "trying again")
        #expect(lines.count == 20)
        #expect(lines.allSatisfy { DisplayWidth.of($0) <= 60 }, "\(lines)")
        #expect(lines.contains("trying again"))
        let first = lines.firstIndex { $0.hasPrefix("METHOD") }.map { lines[$0 + 1] }
        #expect(first?.hasPrefix("org.example.Method39") == true, "\(lines)")
        #expect(lines.contains { $0.contains("calls 410/s · errors 20/s · ") }, "\(lines)")
        #expect(TopView().lines(change([], after)).count > 40, "a pipe gets all of it")
    }

    @Test(arguments: [(3.5e-05, "35 µs"), (0.00125, "1.3 ms"), (2.5, "2.5 s")])
    func `a time has the unit that fits`(seconds: Double, text: String) {
        #expect(TopView.time(seconds) == text)
    }
}
