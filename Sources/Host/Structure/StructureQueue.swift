import DequeModule

/// Queues changes of structure, each of which is planned on the result of those before it.
///
/// Changes of one container run one at a time; changes of different containers run in parallel.
final class StructureQueue {
    typealias Job = (_ finished: @escaping () -> Void) -> Void

    private struct Waiting {
        var containers: Set<String>
        var job: Job
    }

    private var waiting: [UInt64: Waiting] = [:]
    /// The jobs of each container, in order; a job runs once it is the first in all of its queues.
    private var queues: [String: Deque<UInt64>] = [:]
    private var running = 0
    private var last: UInt64 = 0

    /// Whether no job is running or waiting.
    var isIdle: Bool { running == 0 && waiting.isEmpty }

    /// Runs a job once all earlier ones of its containers are finished; the job has to call `finished` at its end.
    func add(_ containers: Set<String>, _ job: @escaping Job) {
        last += 1
        waiting[last] = Waiting(containers: containers, job: job)
        for container in containers { queues[container, default: []].append(last) }
        begin(last)
    }

    private func begin(_ number: UInt64) {
        guard let next = waiting[number],
            next.containers.allSatisfy({ queues[$0]?.first == number })
        else { return }
        waiting[number] = nil
        running += 1
        next.job { [self] in
            running -= 1
            finish(next.containers)
        }
    }

    private func finish(_ containers: Set<String>) {
        for container in containers {
            queues[container]?.removeFirst()
            if queues[container]?.isEmpty == true { queues[container] = nil }
        }
        for container in containers {
            if let next = queues[container]?.first { begin(next) }
        }
    }
}
