import Interfaces

/// What the daemon does, as people see it: a few lines of figures, then its methods.
struct TopView {
    /// The columns there are; nil: nothing is cut.
    var width: Int?
    /// The rows there are; nil: all methods are shown.
    var height: Int?
    var color = false

    /// The lines, the busiest methods first.
    func lines(_ change: MetricChange, notice: String? = nil) -> [String] {
        let head =
            title(change) + (notice.map { [Style.yellow(cut($0), enabled: color)] } ?? [])
            + clients(change) + calls(change) + store(change) + events(change)
            + troubles(change) + [""]
        let table = methods(change).lines(width: width, color: color)
        guard let height else { return head + table }
        return Array((head + table).prefix(height))
    }

    private func title(_ change: MetricChange) -> [String] {
        let now = change.after
        let version = now.label("version", of: "atrium_build_info") ?? ""
        return flow([
            "atriumd \(version)",
            "CPU \(Self.percent(change.rate("atrium_cpu_seconds_total")))",
            "memory \(Self.bytes(now.sum("atrium_resident_memory_bytes")))",
            "store \(Self.bytes(now.sum("atrium_store_bytes")))",
            "sequence \(Self.whole(now.sum("atrium_sequence")))",
        ]).map { Style.bold($0, enabled: color) }
    }

    private func clients(_ change: MetricChange) -> [String] {
        let now = change.after
        return flow([
            "connections \(Self.whole(now.sum("atrium_connections")))",
            "subscriptions \(Self.whole(now.sum("atrium_subscriptions")))",
            "screens \(Self.whole(now.sum("atrium_screens")))",
            "containers \(Self.whole(now.sum("atrium_containers")))",
            "items \(Self.whole(now.sum("atrium_items")))",
            "workers \(Self.whole(now.sum("atrium_workers")))",
        ])
    }

    private func calls(_ change: MetricChange) -> [String] {
        let now = change.after
        let turns = change.histogram("atrium_loop_turn_seconds")
        return flow([
            "calls \(Self.rate(change.rate("atrium_calls_total")))",
            "errors \(Self.rate(change.rate("atrium_calls_total", where: Self.isError)))",
            "received \(Self.bytes(change.rate("atrium_received_bytes_total")))/s",
            "sent \(Self.bytes(change.rate("atrium_sent_bytes_total")))/s",
            "in flight \(Self.whole(now.sum("atrium_calls_in_flight")))",
            "unsent \(Self.bytes(now.sum("atrium_reply_queue_bytes")))",
            "turn p99 \(Self.time(turns.quantile(0.99)))",
        ])
    }

    private func store(_ change: MetricChange) -> [String] {
        let now = change.after
        let commits = change.histogram("atrium_commit_entries")
        let sync = change.histogram("atrium_sync_seconds")
        return flow([
            "commits \(Self.rate(commits.count / change.seconds))",
            "entries a commit \(commits.mean.map { Wording.rounded($0, decimals: 1) } ?? "-")",
            "sync p50 \(Self.time(sync.quantile(0.5))), p99 \(Self.time(sync.quantile(0.99)))",
            "in lanes \(Self.whole(now.sum("atrium_lane_entries")))",
            "for the writer \(Self.whole(now.sum("atrium_writer_queue_entries")))",
        ])
    }

    private func events(_ change: MetricChange) -> [String] {
        flow([
            "notifications \(Self.rate(change.rate("atrium_notifications_delivered_total")))",
            "screen revisions \(Self.rate(change.rate("atrium_screen_revisions_total")))",
            "gaps \(Self.whole(change.after.sum("atrium_gaps_total")))",
        ])
    }

    /// Counts that need attention, in colour where they are not zero.
    private func troubles(_ change: MetricChange) -> [String] {
        let now = change.after
        let counts = [
            ("problems", now.sum("atrium_problems")),
            ("worker restarts", now.sum("atrium_worker_restarts_total")),
            ("failed entries", now.sum("atrium_failed_entries_total")),
            ("violations", now.sum("atrium_protocol_violations_total")),
            ("overflows", now.sum("atrium_overflows_total")),
            ("refused connections", now.sum("atrium_connections_refused_total")),
        ]
        let isQuiet = counts.allSatisfy { $0.1 == 0 }
        return flow(counts.map { "\($0) \(Self.whole($1))" })
            .map { Style.yellow($0, enabled: color && !isQuiet) }
    }

    private func methods(_ change: MetricChange) -> Table {
        let rows = Set(
            change.after.all("atrium_calls_total").filter { $0.value > 0 }
                .compactMap { $0.labels["method"] }
        ).map { MethodRow($0, change) }
        var table = Table([
            .identifier("method"), .number("calls/s"), .number("p50"), .number("p99"),
            .number("errors/s"), .number("calls"), .number("errors"),
        ])
        for row in rows.sorted() { table.add(row.cells) }
        return table
    }

    /// Parts in as many lines as they need.
    private func flow(_ parts: [String]) -> [String] {
        var lines: [String] = []
        for part in parts.map(PrintableText.line) {
            let longer = lines.last.map { "\($0) · \(part)" } ?? part
            if lines.isEmpty || DisplayWidth.of(longer) > width ?? .max {
                lines.append(cut(part))
            } else {
                lines[lines.count - 1] = longer
            }
        }
        return lines
    }

    private func cut(_ line: String) -> String {
        let line = PrintableText.line(line)
        return width.map { DisplayWidth.cut(line, to: $0) } ?? line
    }
}

/// One method in the table: those that are called most come first.
private struct MethodRow: Comparable {
    let name: String
    let rate: Double
    let errorRate: Double
    let calls: Double
    let errors: Double
    let times: HistogramFigures

    init(_ name: String, _ change: MetricChange) {
        let isMeant: (MetricFigures.Metric) -> Bool = { $0.labels["method"] == name }
        let isError: (MetricFigures.Metric) -> Bool = { isMeant($0) && TopView.isError($0) }
        self.name = name
        rate = change.rate("atrium_calls_total", where: isMeant)
        errorRate = change.rate("atrium_calls_total", where: isError)
        calls = change.after.sum("atrium_calls_total", where: isMeant)
        errors = change.after.sum("atrium_calls_total", where: isError)
        times = change.histogram("atrium_call_seconds", where: isMeant)
    }

    var cells: [String] {
        [
            name, Wording.rounded(rate, decimals: 1), TopView.time(times.quantile(0.5)),
            TopView.time(times.quantile(0.99)), Wording.rounded(errorRate, decimals: 1),
            TopView.whole(calls), TopView.whole(errors),
        ]
    }

    static func < (one: MethodRow, other: MethodRow) -> Bool {
        if one.rate != other.rate { return one.rate > other.rate }
        if one.calls != other.calls { return one.calls > other.calls }
        return one.name < other.name
    }
}

extension TopView {
    fileprivate static func isError(_ metric: MetricFigures.Metric) -> Bool {
        metric.labels["outcome"] != "ok"
    }

    /// A time in the unit that fits it: `35 µs`, `1.2 ms`, `2.5 s`; `-` for none.
    static func time(_ seconds: Double?) -> String {
        guard let seconds else { return "-" }
        if seconds < 0.001 { return Wording.rounded(seconds * 1e6, decimals: 1) + " µs" }
        if seconds < 1 { return Wording.rounded(seconds * 1e3, decimals: 1) + " ms" }
        return Wording.rounded(seconds, decimals: 1) + " s"
    }

    fileprivate static func rate(_ rate: Double) -> String {
        (rate >= 100 ? whole(rate) : Wording.rounded(rate, decimals: 1)) + "/s"
    }

    fileprivate static func percent(_ part: Double) -> String {
        Wording.rounded(part * 100, decimals: 1) + " %"
    }

    fileprivate static func whole(_ number: Double) -> String {
        Int(exactly: number.rounded()).map(Wording.count) ?? Wording.number(number)
    }

    fileprivate static func bytes(_ number: Double) -> String {
        Int(exactly: number.rounded()).map(Wording.bytes) ?? Wording.number(number)
    }
}
