internal import Glibc

/// Checks that only trusted users own, or can write, a file and every folder and link on its path.
struct PathTrust {
    /// The maximum number of links on a path, as in the kernel.
    private static let mostLinks = 40
    /// The time that the system's directory of users may take to list a group's members; a start waits for it.
    private static let patience = Duration.seconds(1)

    /// The trusted users beside root.
    let owners: Set<UInt32>
    private let silence = Silence()

    /// Whether the system's directory of users did not answer.
    ///
    /// Used by one thread, that of a scan.
    private final class Silence {
        private(set) var isRecorded = false

        func record() { isRecorded = true }
    }

    private enum Step {
        /// A folder or file at which to continue; nil: there is none.
        case reached(String?)
        /// A link, and where it leads.
        case link(String)
    }

    /// Returns the problem with a file or folder, as a sentence that says what to do; nil: there is none, or the file
    /// does not exist.
    ///
    /// The path is absolute, or relative to the working folder.
    func problem(with path: String) -> String? {
        var current = "/"
        var rest = Array(Self.names(in: Self.absolute(path)).reversed())
        var links = 0
        do throws(Distrust) {
            try check("/", isLast: rest.isEmpty)
            while let name = rest.popLast() {
                switch try step(to: name, from: current, isLast: rest.isEmpty) {
                case .reached(nil): return nil
                case .reached(let next?): current = next
                case .link(let target):
                    links += 1
                    guard links <= Self.mostLinks else {
                        throw Distrust("\(path) leads through too many links")
                    }
                    if target.hasPrefix("/") { current = "/" }
                    rest += Self.names(in: target).reversed()
                }
            }
            return nil
        } catch {
            return error.reason
        }
    }

    private struct Distrust: Error {
        let reason: String

        init(_ reason: String) { self.reason = reason }
    }

    private func step(
        to name: String, from current: String, isLast: Bool
    ) throws(Distrust) -> Step {
        if name == ".." {
            return .reached("/" + Self.names(in: current).dropLast().joined(separator: "/"))
        }
        let next = current == "/" ? "/\(name)" : "\(current)/\(name)"
        guard let mode = try check(next, isLast: isLast) else { return .reached(nil) }
        guard mode & S_IFMT == S_IFLNK else { return .reached(next) }
        var target = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(next, &target, target.count)
        guard count > 0 else { return .reached(nil) }
        return .link(String(decoding: target[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self))
    }

    /// Checks one folder, link or file; gives its mode, nil where there is nothing.
    @discardableResult
    private func check(_ path: String, isLast: Bool) throws(Distrust) -> mode_t? {
        var info = stat()
        guard lstat(path, &info) == 0 else { return nil }
        let mode = info.st_mode
        guard info.st_uid == 0 || owners.contains(info.st_uid) else {
            throw Distrust(
                "\(path) belongs to the user \(info.st_uid), who could put anything there: its "
                    + "owner has to be root or the daemon's user")
        }
        // A link's own mode means nothing.
        guard mode & S_IFMT != S_IFLNK else { return mode }
        // In a sticky folder nobody replaces what is another's: it is fine on the way.
        if !isLast, mode & S_IFMT == S_IFDIR, mode & S_ISVTX != 0 { return mode }
        let others = mode & S_IWOTH != 0
        var group = false
        if mode & S_IWGRP != 0 {
            switch isPrivate(group: info.st_gid, of: info.st_uid) {
            case let isPrivate?: group = !isPrivate
            case nil where others: group = true
            case nil:
                throw Distrust(
                    "\(path) may be written to by the group \(info.st_gid), and looking up its members (NSS) "
                        + "timed out after \(Self.patience): 'chmod g-w \(path)', or start again once "
                        + "'getent group \(info.st_gid)' answers")
            }
        }
        guard others || group else { return mode }
        let change = [group ? "g-w" : nil, others ? "o-w" : nil].compactMap { $0 }
            .joined(separator: ",")
        throw Distrust(
            "\(path) may be written to by others (mode \(String(mode & 0o7777, radix: 8))), who "
                + "could put anything there: 'chmod \(change) \(path)'")
    }

    /// Whether a group has only one member, as the group that each user has for itself; nil: the system's directory of
    /// users did not answer in time.
    ///
    /// A directory that did not answer once is not asked again.
    private func isPrivate(group: gid_t, of user: uid_t) -> Bool? {
        guard !silence.isRecorded else { return nil }
        let answer = DirectoryQuestion.answer(within: Self.patience) {
            Self.isPrivate(group: group, of: user)
        }
        if answer == nil { silence.record() }
        return answer
    }

    /// Reads the group from the system's directory, on any thread; blocks.
    private static func isPrivate(group: gid_t, of user: uid_t) -> Bool {
        var account = passwd()
        var entry = Glibc.group()
        var found: UnsafeMutablePointer<passwd>?
        var foundGroup: UnsafeMutablePointer<Glibc.group>?
        var buffer = [CChar](repeating: 0, count: 64 << 10)
        var groupBuffer = buffer
        guard getpwuid_r(user, &account, &buffer, buffer.count, &found) == 0, found != nil,
            account.pw_gid == group,
            getgrgid_r(group, &entry, &groupBuffer, groupBuffer.count, &foundGroup) == 0,
            foundGroup != nil, strcmp(entry.gr_name, account.pw_name) == 0
        else { return false }
        var member = entry.gr_mem
        while let next = member?.pointee {
            if strcmp(next, account.pw_name) != 0 { return false }
            member = member?.successor()
        }
        return true
    }

    private static func names(in path: String) -> [String] {
        path.split(separator: "/").filter { $0 != "." }.map(String.init)
    }

    private static func absolute(_ path: String) -> String {
        guard !path.hasPrefix("/") else { return path }
        guard let folder = getcwd(nil, 0) else { return path }
        defer { free(folder) }
        return String(cString: folder) + "/" + path
    }
}
