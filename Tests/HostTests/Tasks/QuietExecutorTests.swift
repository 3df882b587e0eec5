import Dispatch
import Synchronization
import Testing

@testable import Host

@Suite(.timeLimit(.minutes(1))) struct QuietExecutorTests {
    @Test func `tasks run beside each other, no more than it is wide`() async {
        let executor = QuietExecutor(width: 2)
        let meeting = Meeting()
        await withTaskExecutorPreference(executor) {
            await withTaskGroup(of: Void.self) { group in
                // Without the other of its pair none of them would end.
                for _ in 0..<20 {
                    group.addTask { meeting.attend() }
                }
            }
        }
        #expect(meeting.most == 2)
    }

    @Test func `jobs start in the order in which they became ready`() async {
        let executor = QuietExecutor(width: 1)
        let started = Started()
        let tasks = (0..<100).map { number in
            Task(executorPreference: executor, priority: number % 2 == 0 ? .low : .high) {
                started.numbers.withLock { $0.append(number) }
            }
        }
        for task in tasks { await task.value }
        #expect(started.numbers.withLock { $0 } == Array(0..<100))
    }

    @Test func `none of many jobs is left behind, whoever enqueues them`() async {
        let executor = QuietExecutor(width: 3)
        let started = Started()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for number in 0..<500 {
                        await Task(executorPreference: executor) {
                            await Task.yield()
                            started.numbers.withLock { $0.append(number) }
                        }.value
                    }
                }
            }
        }
        #expect(started.numbers.withLock { $0.count } == 4_000)
    }

    @Test func `children, and actors that work for a task, stay where it is`() async {
        let executor = QuietExecutor(width: 2)
        await withTaskExecutorPreference(executor) {
            async let child = isOn(executor)
            let isChildOn = await child
            let isActorOn = await Somebody().isOn(executor)
            #expect(isChildOn)
            #expect(isActorOn)
        }
        let isOutside = await isOn(executor)
        #expect(!isOutside)
    }
}

/// Which tasks have started.
private final class Started: Sendable {
    let numbers = Mutex<[Int]>([])
}

/// Lets nobody go on before another has come.
private final class Meeting: Sendable {
    private struct State {
        var waiting: DispatchSemaphore?
        var present = 0
        var most = 0
    }

    private let state = Mutex(State())

    /// How many were there at a time.
    var most: Int { state.withLock { $0.most } }

    func attend() {
        let mine = DispatchSemaphore(value: 0)
        let other = state.withLock { state in
            state.present += 1
            state.most = max(state.most, state.present)
            defer { state.waiting = state.waiting == nil ? mine : nil }
            return state.waiting
        }
        if let other { other.signal() } else { mine.wait() }
        state.withLock { $0.present -= 1 }
    }
}

private actor Somebody {
    func isOn(_ executor: QuietExecutor) -> Bool { runs(on: executor) }
}

private func isOn(_ executor: QuietExecutor) async -> Bool { runs(on: executor) }

/// Whether it is the executor that has this run.
private func runs(on executor: QuietExecutor) -> Bool {
    withUnsafeCurrentTask { $0?.unownedTaskExecutor } == executor.asUnownedTaskExecutor()
}
