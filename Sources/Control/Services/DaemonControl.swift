import AtriumKit
import Glibc
import Host
import Interfaces
import Logging
import Varlink

/// `org.atrium.Daemon`: the registry's figures and the daemon's own.
struct DaemonControl: DaemonService {
    let context: ControlContext
    let daemon: any DaemonState

    func status(
        _ parameters: Interfaces.Daemon.Status.Parameters,
        call: VarlinkCall<Interfaces.Daemon.Status.Reply>
    ) {
        let status = context.registry.assumeIsolated { $0.status() }
        let facts = daemon.facts()
        let problems = facts.problems + status.problems
        let state: Interfaces.Daemon.Status.Reply.State =
            switch facts.phase {
            case .starting: .starting
            case .ready: problems.isEmpty ? .ready : .degraded
            case .stopping: .stopping
            }
        call.reply(
            .init(
                version: daemon.version, state: state, problems: problems, pid: Int(getpid()),
                uid: Int(getuid()), started: Timestamp(milliseconds: facts.started).text,
                uptime: facts.uptime, memory: ProcessMemory.resident, socket: facts.socket,
                stateDirectory: facts.stateDirectory, store: status.identity,
                sequence: Int(status.sequence), storeBytes: status.storeBytes,
                containers: status.containers, items: status.items, plugins: status.plugins,
                workers: status.workers, connections: facts.statistics.connections,
                subscribers: status.subscribers, screens: status.screens))
    }

    func metrics(
        _ parameters: Interfaces.Daemon.Metrics.Parameters,
        call: VarlinkCall<Interfaces.Daemon.Metrics.Reply>
    ) {
        let registry = context.registry.assumeIsolated { $0.metrics() }
        let all = registry + DaemonMetrics.metrics(of: daemon.facts())
        call.reply(
            .init(
                metrics: all.map {
                    .init(
                        name: $0.name, kind: $0.kind == .counter ? .counter : .gauge,
                        help: $0.help, labels: $0.labels, value: $0.value)
                }))
    }

    func reload(
        _ parameters: Interfaces.Daemon.Reload.Parameters,
        call: VarlinkCall<Interfaces.Daemon.Reload.Reply>
    ) {
        daemon.reload { result in
            switch result {
            case .success(let changed): call.reply(.init(changed: changed))
            case .failure(let problem):
                call.fail(Interfaces.Daemon.ReloadFailed(reason: problem.reason))
            }
        }
    }

    func setLogLevel(
        _ parameters: Interfaces.Daemon.SetLogLevel.Parameters,
        call: VarlinkCall<Interfaces.Daemon.SetLogLevel.Reply>
    ) {
        guard let previous = daemon.setLogLevel(parameters.level) else {
            return call.fail(
                Interfaces.Daemon.LogLevelUnknown(
                    level: parameters.level, known: Logger.Level.allCases.map(\.rawValue)))
        }
        call.reply(.init(previous: previous))
    }
}

/// What the server and the process say in numbers.
private enum DaemonMetrics {
    static func metrics(of facts: DaemonFacts) -> [Metric] {
        let seen = facts.statistics
        let totals = [
            gauge("atrium_uptime_seconds", "Seconds since the start.", facts.uptime),
            gauge(
                "atrium_resident_bytes", "Resident memory.", Double(ProcessMemory.resident)),
            gauge("atrium_connections", "Connections open.", Double(seen.connections)),
            counter(
                "atrium_connections_accepted_total", "Connections accepted.",
                seen.acceptedConnections),
            counter(
                "atrium_connections_refused_total", "Connections over the limit.",
                seen.refusedConnections),
            counter("atrium_calls_total", "Calls received.", seen.calls),
            counter("atrium_call_errors_total", "Calls answered with an error.", seen.errors),
            counter(
                "atrium_protocol_violations_total",
                "Connections closed for what they sent.", seen.protocolViolations),
            counter(
                "atrium_overflows_total",
                "Connections closed because they did not read, or kept too much in memory.",
                seen.overflows),
            counter(
                "atrium_timeouts_total",
                "Connections closed because they took too long for a call.", seen.timeouts),
            counter("atrium_received_bytes_total", "Bytes received.", seen.bytesIn),
            counter("atrium_sent_bytes_total", "Bytes sent.", seen.bytesOut),
        ]
        return totals + VarlinkViolation.allCases.map { violations($0, seen) }
    }

    private static func violations(
        _ kind: VarlinkViolation, _ seen: VarlinkStatistics
    ) -> Metric {
        Metric(
            name: "atrium_protocol_violations_by_reason_total", kind: .counter,
            help: "Connections closed for what they sent, by what was wrong.",
            labels: ["reason": kind.rawValue], value: Double(seen.violations[kind] ?? 0))
    }

    private static func gauge(_ name: String, _ help: String, _ value: Double) -> Metric {
        Metric(name: name, kind: .gauge, help: help, value: value)
    }

    private static func counter(_ name: String, _ help: String, _ value: Int) -> Metric {
        Metric(name: name, kind: .counter, help: help, value: Double(value))
    }
}

/// How much memory the process has.
enum ProcessMemory {
    /// Resident bytes, as the kernel counts them; 0 where it does not tell.
    static var resident: Int {
        guard let file = fopen("/proc/self/statm", "r") else { return 0 }
        defer { fclose(file) }
        var buffer = [CChar](repeating: 0, count: 128)
        guard fgets(&buffer, Int32(buffer.count), file) != nil else { return 0 }
        let fields = String(decoding: buffer.map(UInt8.init(bitPattern:)), as: UTF8.self)
            .split(separator: " ")
        guard fields.count > 1, let pages = Int(fields[1]) else { return 0 }
        return pages * Int(getpagesize())
    }
}
