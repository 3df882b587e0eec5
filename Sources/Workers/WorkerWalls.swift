internal import CProcess
internal import Glibc

/// The sandbox of a worker, which is set up before its first thread and before any code of its plugin is loaded.
///
/// All processes that the worker starts are in the sandbox too, and none can leave it.
///
/// - Files (Landlock): a worker reads the system's libraries, the folders of its own libraries, its
///   plugin's folder, and the paths that it is given. It writes only to `/dev/null` and similar devices.
/// - Calls (seccomp): it can't open sockets (but for internet sockets, if allowed), send signals to others, trace,
///   use io_uring, make namespaces, or change files in the ways that Landlock permits, such as with `chmod`.
/// - It has no capabilities, whichever user runs the daemon.
public struct WorkerWalls: Sendable {
    /// Why a wall can't be set up.
    public struct Problem: Error, CustomStringConvertible {
        /// The reason, as a sentence.
        public let description: String
    }

    private let library: String
    private let readable: [String]
    private let allowsNetwork: Bool
    private let landlock: Int32
    private let hasHeldLibrary: Bool

    /// Makes the walls, which ``raise()`` sets up.
    ///
    /// - Parameters:
    ///   - library: the plugin's library, or its program.
    ///   - readable: further files and folders that may be read.
    ///   - allowsNetwork: whether internet sockets may be opened.
    ///   - hasHeldLibrary: whether the daemon passed the library's file.
    ///   - landlock: the newest version of Landlock to use; a newer kernel's further rights are left out.
    public init(
        library: String, readable: [String], allowsNetwork: Bool, hasHeldLibrary: Bool = false,
        landlock: Int32 = .max
    ) {
        self.hasHeldLibrary = hasHeldLibrary
        self.library = library
        self.readable = readable
        self.allowsNetwork = allowsNetwork
        self.landlock = min(landlock, process_landlock_version())
    }

    /// The protections that this kernel lacks, one sentence each, for the process that starts workers.
    public static var missing: [String] {
        missing(landlock: process_landlock_version(), hasFilters: process_knows_filters() != 0)
    }

    /// Returns the protections that a kernel lacks.
    ///
    /// An older version of Landlock counts as complete if there are filters of calls, which close what it leaves open.
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

    /// Landlock's right to truncate a file.
    private static let truncation: UInt64 = 1 << 14

    /// Sets up the walls around this process, for good.
    ///
    /// Walls that the kernel lacks are left out; see ``missing``. It throws if the kernel has a wall and can't set it
    /// up, or if this process has other threads already.
    public func raise() throws(Problem) {
        guard process_has_one_thread() != 0 else {
            throw Problem(
                description: "the sandbox can't be set up: there are other threads already")
        }
        let folders = [library, Self.resolved(library)].compactMap(Self.folder)
        // A library that was replaced may not be below its folder any more.
        let held = "/proc/self/fd/\(WorkerProgram.library)"
        let programs = Self.system + Self.ownFolders + folders + (hasHeldLibrary ? [held] : [])
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
            description: "the sandbox of \(wall) can't be set up: "
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

    /// The files that names of machines are resolved with.
    private static let names = [
        "/etc/resolv.conf", "/run/systemd/resolve", "/etc/hosts", "/etc/host.conf", "/etc/gai.conf",
        "/etc/nsswitch.conf", "/etc/services", "/etc/protocols", "/etc/ssl", "/etc/pki",
    ]

    /// The folders of this program and its libraries: those of the installation, and of the
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

    /// Resolves the symbolic links in a path.
    private static func resolved(_ path: String) -> String {
        guard let resolved = realpath(path, nil) else { return path }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// A file's folder; nil for a file in the root.
    private static func folder(of path: String) -> String? {
        guard let end = path.lastIndex(of: "/"), end > path.startIndex else { return nil }
        return String(path[..<end])
    }
}
