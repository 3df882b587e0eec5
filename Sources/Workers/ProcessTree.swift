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

    var isEmpty: Bool { members.isEmpty }

    /// A tree without processes.
    init() {}

    /// Finds the processes below one.
    init(below process: pid_t) {
        var parents = ["\(process)"][...]
        while let parent = parents.popFirst(), members.count < Self.most {
            for child in ProcessActivity(of: parent)?.children ?? [] {
                guard let id = pid_t(child), let start = Self.start(of: id) else { continue }
                members.append(Member(id: id, start: start))
                parents.append(child)
            }
        }
    }

    /// Kills the processes that have not ended yet.
    func kill() {
        for member in members where Self.start(of: member.id) == member.start {
            Glibc.kill(member.id, SIGKILL)
        }
    }

    private static func start(of process: pid_t) -> Substring? {
        let words = CgroupFolder(path: "/proc/\(process)").words(of: "stat")
        // The name is in parentheses and may contain blanks.
        guard let name = words.lastIndex(where: { $0.hasSuffix(")") }), words.count > name + 20
        else { return nil }
        return words[name + 20]
    }
}
