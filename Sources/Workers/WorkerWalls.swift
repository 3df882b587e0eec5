internal import CProcess
internal import Glibc

/// What a worker shuts itself in with, before its first thread and before anything of its plugin is
/// loaded: whatever it starts is inside too, and nobody gets out.
///
/// - Files (Landlock): it reads the system's libraries, the folders that its own come from, its
///   plugin's folder, and what it is given; it writes to `/dev/null` and the like alone.
/// - Calls (seccomp): no socket but the two that it was given, no signal to others, no tracing, no
///   queue of calls, no namespace, and no change to a file by its path, which Landlock lets through.
/// - It has no capability, whoever runs the daemon.
public struct WorkerWalls: Sendable {
    /// Why they can't be raised.
    public struct Problem: Error, CustomStringConvertible {
        /// In a sentence.
        public let description: String
    }

    private let library: String
    private let readable: [String]
    private let allowsNetwork: Bool
    private let landlock: Int32

    /// Walls.
    ///
    /// - Parameters:
    ///   - library: the plugin's library, or its program.
    ///   - readable: files and folders that may be read too.
    ///   - allowsNetwork: whether sockets of the internet may be made.
    ///   - landlock: the version of Landlock that they are made for; of a newer kernel they take no more.
    public init(
        library: String, readable: [String], allowsNetwork: Bool, landlock: Int32 = .max
    ) {
        self.library = library
        self.readable = readable
        self.allowsNetwork = allowsNetwork
        self.landlock = min(landlock, process_landlock_version())
    }

    /// What this kernel lacks, a sentence each; to be asked by who starts workers.
    public static var missing: [String] {
        missing(landlock: process_landlock_version(), hasFilters: process_knows_filters() != 0)
    }

    /// What a kernel lacks.
    ///
    /// A version of Landlock older than the newest lacks nothing where there are filters of calls, which
    /// then close what it leaves open.
    static func missing(landlock version: Int32, hasFilters: Bool) -> [String] {
        var missing: [String] = []
        if version == 0 {
            missing.append(
                "Workers may read and write all files of the daemon's user: the kernel has no "
                    + "Landlock, or it is off (lsm= of the kernel's command line).")
        }
        if !hasFilters {
            if version > 0, process_landlock_rights(version) & truncation == 0 {
                missing.append(
                    "Workers may empty files of the daemon's user: the kernel's Landlock has the "
                        + "version \(version), and watches over that from 3 on.")
            }
            missing.append(
                "Workers may reach the daemon's socket and other processes of its user: the kernel "
                    + "takes no seccomp filter on this machine.")
        }
        return missing
    }

    /// The right to empty a file.
    private static let truncation: UInt64 = 1 << 14

    /// Raises them around this process, for good.
    ///
    /// What the kernel lacks is left out, see ``missing``.
    ///
    /// - Throws: ``Problem`` for a wall that the kernel has and does not raise, and for a process that has
    ///   other threads already.
    public func raise() throws(Problem) {
        guard process_has_one_thread() != 0 else {
            throw Problem(description: "walls can't be raised: there are other threads already")
        }
        let folders = [library, Self.resolved(library)].compactMap(Self.folder)
        let programs = Self.system + Self.ownFolders + folders
        let files = Self.data + (allowsNetwork ? Self.names : []) + readable
        try check("files", wall(programs, files))
        try check("capabilities", process_drop_capabilities())
        try check("calls", process_wall_calls(landlock, allowsNetwork ? 1 : 0))
    }

    private func wall(_ programs: [String], _ files: [String]) -> Int32 {
        let texts = (programs + files).map { strdup($0) }
        defer { for text in texts { free(text) } }
        let pointers = texts.map { UnsafePointer($0) }
        return pointers.withUnsafeBufferPointer { all in
            guard let first = all.baseAddress else { return 0 }
            return process_wall_files(
                landlock, first, programs.count, first + programs.count, files.count)
        }
    }

    private func check(_ wall: String, _ code: Int32) throws(Problem) {
        guard code != 0 else { return }
        throw Problem(
            description: "the wall around \(wall) can't be raised: "
                + String(cString: strerror(code)))
    }
}

// MARK: What is inside

extension WorkerWalls {
    private static let system = ["/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin"]

    private static let data = [
        "/etc/ld.so.cache", "/etc/ld.so.preload", "/etc/localtime", "/etc/timezone",
        "/etc/locale.alias", "/proc/self", "/sys/devices/system/cpu",
    ]

    /// What names of machines are looked up by.
    private static let names = [
        "/etc/resolv.conf", "/run/systemd/resolve", "/etc/hosts", "/etc/host.conf", "/etc/gai.conf",
        "/etc/nsswitch.conf", "/etc/services", "/etc/protocols", "/etc/ssl", "/etc/pki",
    ]

    /// The folders that this program and its libraries come from: the installation's, and that of the
    /// Swift runtime.
    private static var ownFolders: [String] {
        guard let maps = fopen("/proc/self/maps", "re") else { return [] }
        defer { fclose(maps) }
        var folders: Set<String> = []
        var line: UnsafeMutablePointer<CChar>?
        var size = 0
        defer { free(line) }
        while getline(&line, &size, maps) > 0, let text = line.map({ String(cString: $0) }) {
            guard let start = text.firstIndex(of: "/") else { continue }
            if let folder = folder(of: text[start...].filter { $0 != "\n" }) {
                folders.insert(folder)
            }
        }
        return folders.sorted()
    }

    /// A path without links.
    private static func resolved(_ path: String) -> String {
        guard let resolved = realpath(path, nil) else { return path }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// A file's folder; nil for one in the root.
    private static func folder(of path: String) -> String? {
        guard let end = path.lastIndex(of: "/"), end > path.startIndex else { return nil }
        return String(path[..<end])
    }
}
