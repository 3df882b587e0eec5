import Glibc
import Synchronization

/// Why there is no zone of a name.
package struct ZoneProblem: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong.
    package var description: String
    /// What to do; nil where the description says it all.
    package var hint: String?
}

/// A folder of time zones as the package tzdata has them, each in a file under its name.
///
/// A zone is read once, and kept: an update of tzdata counts from the next start.
package final class ZoneDirectory: Sendable {
    /// That of the system.
    package static let system = ZoneDirectory("/usr/share/zoneinfo")

    private let path: String
    private let known = Mutex<[String: Zone]>(["UTC": .utc])

    package init(_ path: String) { self.path = path }

    /// The zone with a name, as in `Europe/Rome`.
    package func zone(_ name: String) throws(ZoneProblem) -> Zone {
        if let zone = known.withLock({ $0[name] }) { return zone }
        guard Self.isName(name) else {
            throw ZoneProblem(
                description: "'\(name.prefix(100))' is no time zone's name",
                hint: "one such as Europe/Rome; `timedatectl list-timezones` lists them")
        }
        let zone: Zone
        let bytes = try contents(of: name)
        do throws(ZoneFileProblem) {
            zone = try Zone(name: name, file: bytes)
        } catch {
            throw ZoneProblem(description: "\(path)/\(name) \(error.reason)")
        }
        known.withLock { $0[name] = zone }
        return zone
    }

    /// The names of what lies in the same folder as a zone of this name would.
    package func names(beside name: String) -> [String] {
        guard Self.isName(name) else { return [] }
        let folder = name.lastIndex(of: "/").map { String(name[...$0]) } ?? ""
        guard let directory = opendir("\(path)/\(folder)") else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let found = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if Self.isName(found) { names.append(folder + found) }
        }
        return names.sorted()
    }

    /// Whether a text can be a zone's name: words with `/` between them, of letters, digits, `_`, `+` and `-`.
    ///
    /// So it names a file in the folder, and none elsewhere.
    static func isName(_ text: String) -> Bool {
        guard (1...100).contains(text.utf8.count) else { return false }
        let words = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        return words.allSatisfy { !$0.isEmpty && $0.allSatisfy(isOfName) }
    }

    private static func isOfName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "+"),
            UInt8(ascii: "-"):
            true
        default: false
        }
    }

    /// No zone's file is longer; the longest has less than 4,000 bytes.
    private static let longest = 1 << 16

    private func contents(of name: String) throws(ZoneProblem) -> [UInt8] {
        let file = "\(path)/\(name)"
        // A pipe in its place must not hold anybody up.
        let descriptor = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw unreadable(name, errno) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw unreadable(name, errno) }
        guard status.st_mode & S_IFMT == S_IFREG, status.st_size <= Self.longest else {
            throw ZoneProblem(description: "\(file) is no file of a time zone")
        }
        var bytes: [UInt8] = []
        var failure: Int32 = 0
        while bytes.count <= Self.longest {
            var chunk = [UInt8](repeating: 0, count: 8_192)
            let count = read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            if count < 0 { failure = errno }
            guard count > 0 else { break }
            bytes += chunk.prefix(count)
        }
        guard failure == 0 else { throw unreadable(name, failure) }
        return bytes
    }

    private func unreadable(_ name: String, _ code: Int32) -> ZoneProblem {
        guard code == ENOENT || code == ENOTDIR else {
            let reason = String(cString: strerror(code))
            return ZoneProblem(description: "\(path)/\(name) can't be read: \(reason)")
        }
        guard access("\(path)/Etc", F_OK) == 0 else {
            return ZoneProblem(
                description: "there are no time zones in \(path)", hint: "install tzdata")
        }
        return ZoneProblem(
            description: "there is no time zone '\(name)' in \(path)",
            hint: "`timedatectl list-timezones` lists them")
    }
}
