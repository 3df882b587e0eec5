import Host
import Instruments
import Varlink

/// All metrics of the daemon: recorded ones, and ones that are read on request.
struct DaemonMetrics: Sendable {
    let registry: Registry
    let daemon: any DaemonState
    let instruments: InstrumentPanel

    /// All metrics, in the catalogue's order.
    func families() -> [MetricFamily] {
        let readings = registry.readings()
        let facts = daemon.facts()
        return MetricFamily.families(
            of: instruments.read()
                + readings.map { MetricSample($0.name, $0.labels, Double($0.value)) }
                + connections(facts.statistics) + process(facts))
    }

    private func connections(_ seen: VarlinkStatistics) -> [MetricSample] {
        let numbers: [(String, Int)] = [
            ("atrium_connections", seen.connections),
            ("atrium_connections_accepted_total", seen.acceptedConnections),
            ("atrium_connections_refused_total", seen.refusedConnections),
            ("atrium_overflows_total", seen.overflows),
            ("atrium_timeouts_total", seen.timeouts),
            ("atrium_received_bytes_total", seen.bytesIn),
            ("atrium_sent_bytes_total", seen.bytesOut),
            ("atrium_calls_in_flight", seen.callsInFlight),
            ("atrium_reply_queue_bytes", seen.bytesQueued),
            ("atrium_charged_bytes", seen.bytesCharged),
        ]
        let violations = VarlinkViolation.allCases.filter { $0 != .unexpectedReply }
        return numbers.map { MetricSample($0, [:], Double($1)) }
            + violations.map {
                MetricSample(
                    "atrium_protocol_violations_total", ["reason": $0.rawValue],
                    Double(seen.violations[$0] ?? 0))
            }
    }

    private func process(_ facts: DaemonFacts) -> [MetricSample] {
        [
            MetricSample(
                "atrium_resident_memory_bytes", [:], Double(ProcessFigures.residentBytes)),
            MetricSample("atrium_cpu_seconds_total", [:], ProcessFigures.cpuSeconds),
            MetricSample("atrium_open_fds", [:], Double(ProcessFigures.openDescriptors)),
            MetricSample("atrium_max_fds", [:], ProcessFigures.descriptorLimit),
            MetricSample("atrium_start_time_seconds", [:], Double(facts.started) / 1_000),
            MetricSample("atrium_build_info", ["version": daemon.version], 1),
        ]
    }
}
