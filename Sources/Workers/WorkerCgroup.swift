internal import Glibc
internal import NIOCore

/// The cgroup of one worker and of all processes that it starts.
///
/// Use it on the event loop only.
final class WorkerCgroup {
    let folder: CgroupFolder
    /// Whether the kernel enforces the memory limit.
    let limitsMemory: Bool
    private let memoryLimit: Int?

    init(_ folder: CgroupFolder, memoryLimit: Int?, limitsMemory: Bool) {
        self.folder = folder
        self.memoryLimit = memoryLimit
        self.limitsMemory = limitsMemory
    }

    /// Moves a process into the cgroup; processes that it starts later are in it too.
    func add(_ process: pid_t) throws(CgroupFolder.Problem) {
        try folder.write("\(process)", to: "cgroup.procs")
    }

    /// Kills all processes in the cgroup.
    func kill() {
        do {
            try folder.write("1", to: "cgroup.kill")
        } catch {
            // Kernels before 5.14 have no `cgroup.kill`. A process that is started meanwhile is killed at the next call.
            for process in folder.files.words(of: "cgroup.procs").compactMap({ pid_t($0) }) {
                Glibc.kill(process, SIGKILL)
            }
        }
    }

    /// Why the kernel killed a process in the cgroup for memory, as the rest of a sentence about the worker.
    ///
    /// Nil: it killed none.
    var memoryVerdict: String? {
        let words = folder.files.words(of: "memory.events")
        func count(_ name: Substring) -> Int {
            words.firstIndex(of: name).map { words.index(after: $0) }
                .flatMap { $0 < words.endIndex ? Int(words[$0]) : nil } ?? 0
        }
        guard count("oom_kill") > 0 else { return nil }
        guard let memoryLimit, count("oom") > 0 else {
            return "was killed because the machine, or the service, ran out of memory"
        }
        return "was killed because it took more memory than its limit of "
            + "\(memoryLimit >> 20) MiB (workerMemoryMax)"
    }

    /// Kills the processes that are left in the cgroup, and removes it as soon as they are gone.
    func end(on loop: any EventLoop) {
        kill()
        remove(after: .milliseconds(1), loop)
    }

    private func remove(after pause: TimeAmount, _ loop: any EventLoop) {
        // Gives up after about ten seconds: a process may be stuck in the kernel.
        guard !folder.remove(), pause < .seconds(5) else { return }
        let group = NIOLoopBound(self, eventLoop: loop)
        loop.scheduleTask(in: pause) {
            group.value.kill()
            group.value.remove(after: pause * 2, loop)
        }
    }
}
