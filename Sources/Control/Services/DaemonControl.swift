import AtriumKit
import Glibc
import Host
import Instruments
import Interfaces
import Logging
import Varlink

/// `org.atrium.Daemon`: the registry's figures and the daemon's own.
struct DaemonControl: DaemonService {
    let context: ControlContext
    let daemon: any DaemonState
    let metrics: DaemonMetrics

    func status(
        _ parameters: Interfaces.Daemon.Status.Parameters,
        call: VarlinkCall<Interfaces.Daemon.Status.Reply>
    ) {
        let status = context.registry.status(hasDetails: context.seesDetails(call.peer))
        let facts = daemon.facts()
        let problems =
            facts.problems + status.problems + (status.workers > 0 ? facts.workerProblems : [])
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
                uptime: facts.uptime, memory: ProcessFigures.residentBytes, socket: facts.socket,
                stateDirectory: facts.stateDirectory, store: status.identity,
                sequence: Int(status.sequence), storeBytes: status.storeBytes,
                containers: status.containers, items: status.items, plugins: status.plugins,
                workers: status.workers, connections: facts.statistics.connections,
                subscribers: status.subscribers, screens: status.screens,
                notifications: status.past.map {
                    .init(
                        count: $0.count, bytes: $0.bytes, most: $0.most, mostBytes: $0.mostBytes,
                        mostDays: $0.mostDays)
                }))
    }

    func metrics(
        _ parameters: Interfaces.Daemon.Metrics.Parameters,
        call: VarlinkCall<Interfaces.Daemon.Metrics.Reply>
    ) {
        call.reply(.init(metrics: metrics.families().flatMap(Self.metrics(of:))))
    }

    private static func metrics(
        of family: MetricFamily
    ) -> [Interfaces.Daemon.Metrics.Reply.Metrics] {
        let described = family.description
        return family.samples.map { sample in
            switch sample.value {
            case .number(let number):
                .init(
                    name: sample.name, kind: described.kind == .counter ? .counter : .gauge,
                    help: described.help, labels: sample.labels, value: number)
            case .histogram(let reading):
                .init(
                    name: sample.name, kind: .histogram, help: described.help,
                    labels: sample.labels, value: Double(reading.count), sum: reading.sum,
                    buckets: reading.buckets.map { .init(upTo: $0.upTo, count: $0.count) })
            }
        }
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
