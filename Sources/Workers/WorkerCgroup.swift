internal import Glibc
internal import NIOCore

/// The cgroup of one worker and of all that it starts.
///
/// Used on the event loop alone.
final class WorkerCgroup {
    let folder: CgroupFolder
    /// Whether the kernel holds it to its limit of memory.
    let limitsMemory: Bool
    private let memoryLimit: Int?

    init(_ folder: CgroupFolder, memoryLimit: Int?, limitsMemory: Bool) {
        self.folder = folder
        self.memoryLimit = memoryLimit
        self.limitsMemory = limitsMemory
    }

    /// Puts a process into it; what it starts from then on is in it too.
    func add(_ process: pid_t) throws(CgroupFolder.Problem) {
        try folder.write("\(process)", to: "cgroup.procs")
    }

    /// Kills all who are in it.
    func kill() {
        do {
            try folder.write("1", to: "cgroup.kill")
        } catch {
            // Kernels before 5.14; who starts more processes than we see is seen at the next look.
            for process in folder.words(of: "cgroup.procs").compactMap({ pid_t($0) }) {
                Glibc.kill(process, SIGKILL)
            }
        }
    }

    /// Why the kernel killed someone in it for memory, as the rest of a sentence about the worker; nil
    /// if it did not.
    var memoryVerdict: String? {
        let words = folder.words(of: "memory.events")
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

    /// Kills who is left in it, and removes it as soon as they are gone.
    func end(on loop: any EventLoop) {
        kill()
        remove(after: .milliseconds(1), loop)
    }

    private func remove(after pause: TimeAmount, _ loop: any EventLoop) {
        // Some ten seconds in all; a process that can't die is not ours to wait for.
        guard !folder.remove(), pause < .seconds(5) else { return }
        let group = NIOLoopBound(self, eventLoop: loop)
        loop.scheduleTask(in: pause) {
            group.value.kill()
            group.value.remove(after: pause * 2, loop)
        }
    }
}
