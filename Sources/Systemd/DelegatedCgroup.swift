import CSystemd
import Glibc

/// The cgroup that the service manager gave to this process, to be divided further.
public enum DelegatedCgroup {
    /// Why there is none, as a sentence.
    public struct Missing: Error, CustomStringConvertible {
        /// The sentence.
        public let description: String
    }

    /// Its folder in the file system, below where version 2 of cgroups is mounted.
    ///
    /// Throws where the process is not a service with `Delegate=`: started by hand, or in a container.
    public static func path() throws(Missing) -> String {
        guard let membership = text("/proc/self/cgroup"), let mounts = text("/proc/self/mountinfo")
        else { throw Missing(description: "/proc can't be read.") }
        guard let path = path(membership: membership, mounts: mounts) else {
            throw Missing(description: "No cgroup of version 2 is visible.")
        }
        guard isMarked(path) || isOwnService(path) else {
            throw Missing(description: "\(path) is not delegated (Delegate= of the service).")
        }
        return path
    }

    /// The folder of a process's cgroup, by `/proc/PID/cgroup` and `/proc/PID/mountinfo`; nil where none of version 2
    /// is mounted.
    static func path(membership: String, mounts: String) -> String? {
        let prefix = "0::"
        guard let line = membership.split(separator: "\n").first(where: { $0.hasPrefix(prefix) })
        else { return nil }
        let group = line.dropFirst(prefix.count)
        for mount in mounts.split(separator: "\n") {
            let halves = mount.split(separator: " - ", maxSplits: 1)
            guard halves.count == 2, halves[1].hasPrefix("cgroup2 ") else { continue }
            let fields = halves[0].split(separator: " ")
            // What is mounted, and where: a namespace or a container may see a part only.
            guard fields.count > 4, let rest = part(of: group, below: fields[3]) else { continue }
            return fields[4] + rest
        }
        return nil
    }

    private static func part(of group: Substring, below root: Substring) -> String? {
        if root == "/" { return group == "/" ? "" : String(group) }
        guard group.hasPrefix(root) else { return nil }
        let rest = group.dropFirst(root.count)
        return rest.isEmpty || rest.hasPrefix("/") ? String(rest) : nil
    }

    /// Whether systemd has marked the cgroup as delegated.
    ///
    /// Write access does not show that: root may write to any cgroup, and a user to all of the user's own.
    private static func isMarked(_ path: String) -> Bool {
        ["user.delegate", "trusted.delegate"].contains { name in
            var value: UInt8 = 0
            return getxattr(path, name, &value, 1) == 1 && value == UInt8(ascii: "1")
        }
    }

    /// Whether the cgroup is that of a service of a user's systemd, which does not mark delegated cgroups (v252).
    ///
    /// It is the service's own cgroup, as long as this is the service's main process. All cgroups of a user may be
    /// divided by the user.
    private static func isOwnService(_ path: String) -> Bool {
        var info = stat()
        return getuid() != 0 && path.hasSuffix(".service")
            && getenv("SYSTEMD_EXEC_PID").map { String(cString: $0) } == "\(getpid())"
            && stat(path, &info) == 0 && info.st_uid == getuid()
    }

    private static func text(_ path: String) -> String? {
        guard let file = fopen(path, "re") else { return nil }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = fread(&buffer, 1, buffer.count, file)
            guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
            bytes += buffer[..<count]
        }
    }
}
