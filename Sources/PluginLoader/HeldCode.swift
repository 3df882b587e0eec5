internal import Glibc

/// The code of a plugin as it was found when the plugin was loaded.
///
/// Workers are started again and again, and each has to run this code until an administrator reloads the plugin, also
/// if there are other files on the disk by then:
///
/// - A library's file stays open. If it was replaced, a worker loads the open file, which is the one that was found. If
///   it was overwritten, there is no copy of it any more, and the worker refuses to start.
/// - A program has no such copy, because an interpreter reads it and the files beside it by their paths. If one of them
///   changed, the worker refuses to start.
public final class HeldCode: Sendable {
    /// The identity that distinguishes the code from other code at its path.
    public let identity: String
    /// The library's file; nil for a program.
    ///
    /// It is 64 or more, so that it can be passed to a worker under a small number.
    public let descriptor: Int32?

    /// Holds the code that is at its path now; throws if it can't be read.
    public init(_ code: PluginCode) throws(PluginProblem) {
        guard case .library(let path) = code else {
            guard let identity = Self.identity(of: code) else { throw Self.unreadable(code.path) }
            self.identity = identity
            descriptor = nil
            return
        }
        let opened = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard opened >= 0 else { throw Self.unreadable(path) }
        let moved = fcntl(opened, F_DUPFD_CLOEXEC, 64)
        close(opened)
        guard moved >= 0, let identity = Self.identity(of: moved) else {
            let problem = Self.unreadable(path)
            if moved >= 0 { close(moved) }
            throw problem
        }
        self.identity = identity
        descriptor = moved
    }

    deinit { if let descriptor { close(descriptor) } }

    private static func unreadable(_ path: String) -> PluginProblem {
        .refused("\(path): \(String(cString: strerror(errno)))")
    }
}

// MARK: In a worker

extension HeldCode {
    /// Returns the code that a worker runs, which must be the code that the daemon holds.
    ///
    /// - Parameters:
    ///   - code: the code's path.
    ///   - identity: the identity of the code that the daemon holds.
    ///   - descriptor: the library's file, if this is a library.
    ///   - plugin: the plugin's identifier, for the error.
    /// - Returns: the code at its path, or the library's file.
    /// - Throws: `PluginProblem.refused` if that code is not there any more, with what to do.
    public static func found(
        _ code: PluginCode, identity: String, descriptor: Int32, plugin: String
    ) throws(PluginProblem) -> PluginCode {
        guard Self.identity(of: code) != identity else { return code }
        let advice =
            "since the plugin was loaded, and nothing has loaded the new version: "
            + "'atriumctl plugin reload \(plugin)' does."
        guard case .library(let path) = code else {
            throw .refused("\(changed(code.path, since: identity)) \(advice)")
        }
        guard Self.identity(of: descriptor) == identity else {
            throw .refused("The library \(path) was overwritten \(advice)")
        }
        return .library("/proc/self/fd/\(descriptor)")
    }

    /// What of a program has changed, up to the verb.
    private static func changed(_ path: String, since identity: String) -> String {
        let names = FolderDigest(beside: path).names(besides: identity)
        guard let first = names.first else {
            return "The program \(path), or a file beside it, has changed"
        }
        let program = path.lastIndex(of: "/").map { path[$0...] } ?? "/\(path)"
        if names.contains(where: { $0 == program }) { return "The program \(path) has changed" }
        let others = names.count > 1 ? " (and \(names.count - 1) more)" : ""
        return "The file \(first.dropFirst())\(others) beside the program \(path), "
            + "where only its own belong, is new or has changed"
    }

    /// Returns the identity that distinguishes the code at a path from other code there; nil: there is none.
    public static func identity(of code: PluginCode) -> String? {
        switch code {
        case .library(let path):
            var info = stat()
            return stat(path, &info) == 0 ? text(info) : nil
        case .program(let path):
            guard access(path, F_OK) == 0 else { return nil }
            return FolderDigest(beside: path).text
        }
    }

    private static func identity(of descriptor: Int32) -> String? {
        var info = stat()
        return fstat(descriptor, &info) == 0 ? text(info) : nil
    }

    fileprivate static func text(_ info: stat) -> String {
        "\(info.st_dev)-\(info.st_ino)-\(info.st_size)-\(info.st_mtim.tv_sec).\(info.st_mtim.tv_nsec)"
    }
}

/// A digest of the files in a program's folder and its subfolders, by their names and identities.
///
/// It leaves out hidden files, `__pycache__`, the manifest, which no program needs, what is no file, such as sockets,
/// subfolders with a manifest, which are other plugins, and a daemon's state directory.
private struct FolderDigest {
    /// The maximum number of files that are included, and the maximum depth of subfolders.
    private static let most = (files: 10_000, depth: 8)
    /// What a subfolder has that is a daemon's state directory.
    private static let state: Set = ["atrium.sqlite", "atrium.lock"]

    /// The maximum number of files whose own digests are part of the text, which is an argument of a worker.
    private static let mostNamed = 200

    private var hash = FolderDigest.seed
    /// The names of the files, each after a slash, with their own digests.
    private var files: [(name: String, digest: String)] = []

    /// Reads the folder of a program.
    init(beside path: String) {
        let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        add(folder.isEmpty ? "/" : folder)
    }

    /// The number of files, the digest of all, and those of each.
    var text: String {
        let each = files.prefix(Self.mostNamed).map { "-" + $0.digest }.joined()
        return "\(files.count)-" + String(hash, radix: 16) + each
    }

    /// The names of the files that another text of the folder does not have as they are.
    func names(besides text: String) -> [String] {
        let known = Set(text.split(separator: "-").dropFirst(2))
        guard known.count < Self.mostNamed else { return [] }
        return files.filter { !known.contains($0.digest[...]) }.map(\.name)
    }

    private mutating func add(_ folder: String, as name: String = "", depth: Int = 0) {
        guard depth < Self.most.depth, let names = FolderNames.visible(in: folder) else { return }
        // Another plugin, or a store.
        let isForeign = names.contains("manifest.json") || Self.state.isSubset(of: names)
        if depth > 0, isForeign { return }
        for entry in names where entry != "manifest.json" && entry != "__pycache__" {
            guard files.count < Self.most.files else { return }
            let (path, name) = ("\(folder)/\(entry)", "\(name)/\(entry)")
            var info = stat()
            guard lstat(path, &info) == 0 else { continue }
            if info.st_mode & S_IFMT == S_IFDIR {
                add(path, as: name, depth: depth + 1)
                continue
            }
            // What a link leads to counts, too.
            if info.st_mode & S_IFMT == S_IFLNK { _ = stat(path, &info) }
            guard Self.mayBeCode(info.st_mode) else { continue }
            let file = "\(name) \(HeldCode.text(info))\n"
            Self.combine(file, into: &hash)
            var own = Self.seed
            Self.combine(file, into: &own)
            files.append((name, String(UInt32(truncatingIfNeeded: own ^ (own >> 32)), radix: 16)))
        }
    }

    /// Links to folders may be, and those that lead nowhere yet.
    private static func mayBeCode(_ mode: mode_t) -> Bool {
        [S_IFREG, S_IFDIR, S_IFLNK].contains(mode & S_IFMT)
    }

    // FNV-1a: a changed file must not go unnoticed by chance; nobody gains by a collision.
    private static let seed: UInt64 = 0xcbf2_9ce4_8422_2325

    private static func combine(_ text: String, into hash: inout UInt64) {
        for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    }
}
