internal import Glibc

/// The processes below a worker at some time: its program, what that has started, and so on.
///
/// Where there are no cgroups, the kernel ends the program with its worker, but not the processes that the program has
/// started. One whose parent has ended is no longer below the worker, and is not found.
struct ProcessTree {
    private struct Member {
        let id: pid_t
        /// When it was started, which distinguishes it from a later process with the same id.
        let start: Substring
    }

    /// The maximum number of processes that are found.
    private static let most = 4_096

    private var members: [Member] = []

    /// A tree without processes.
    init() {}

    /// Finds the processes below one.
    init(below process: pid_t) {
        var parents = ["\(process)"][...]
        while let parent = parents.popFirst(), members.count < Self.most {
            for child in ProcessActivity(of: parent)?.children ?? [] {
                // Its id may be another process's by now.
                guard let id = pid_t(child), let status = KernelStatus(of: "/proc/\(child)"),
                    status.parent == parent
                else { continue }
                members.append(Member(id: id, start: status.start))
                parents.append(child)
            }
        }
    }

    /// Adds the processes of a tree that was found later.
    mutating func add(_ other: ProcessTree) {
        let known = Set(members.map(\.id))
        members += other.members.filter { !known.contains($0.id) }
    }

    /// Kills the processes that have not ended yet.
    func kill() {
        for member in members
        where KernelStatus(of: "/proc/\(member.id)")?.start == member.start {
            Glibc.kill(member.id, SIGKILL)
        }
    }
}
