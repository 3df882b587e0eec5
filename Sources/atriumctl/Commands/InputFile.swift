import AtriumFormats
import Glibc

/// Files as commands read and write them; `-` is standard input.
enum InputFile {
    /// Opens a file for reading; returns the descriptor, and how many bytes the file has where that is known.
    static func open(_ path: String) throws -> (descriptor: Int32, size: Int?) {
        let descriptor = path == "-" ? STDIN_FILENO : Glibc.open(path, O_RDONLY | O_CLOEXEC)
        var status = stat()
        guard descriptor >= 0, fstat(descriptor, &status) == 0 else { throw problem(path, errno) }
        let format = status.st_mode & S_IFMT
        guard format != S_IFDIR else { throw problem(path, EISDIR) }
        return (descriptor, format == S_IFREG ? Int(status.st_size) : nil)
    }

    /// The text of a file, without a byte order mark.
    static func text(_ path: String) throws -> String {
        let (descriptor, _) = try open(path)
        defer { if descriptor != STDIN_FILENO { close(descriptor) } }
        var bytes: [UInt8] = []
        while let chunk = try read(descriptor, path) { bytes += chunk }
        do throws(PlainText.Problem) {
            return try PlainText.decode(bytes)
        } catch {
            throw CommandFailure("\(name(path)) is \(error.reason)")
        }
    }

    /// The next bytes of an open file; nil at its end.
    static func read(
        _ descriptor: Int32, _ path: String
    ) throws(CommandFailure) -> [UInt8]? {
        while true {
            var count = 0
            let chunk = [UInt8](unsafeUninitializedCapacity: 1 << 16) { buffer, initialized in
                count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
                initialized = max(0, count)
            }
            if count > 0 { return chunk }
            if count == 0 { return nil }
            guard errno == EINTR else { throw problem(path, errno) }
        }
    }

    static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    static func isLink(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
    }

    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// Whether a pipe, a socket or a character device is there, which can only be written to.
    static func isStream(_ path: String) -> Bool {
        var status = stat()
        guard stat(path, &status) == 0 else { return false }
        return [S_IFIFO, S_IFSOCK, S_IFCHR].contains(status.st_mode & S_IFMT)
    }

    /// Throws where a folder or a block device is, which no file may replace.
    static func checkMayBeFile(_ path: String) throws(CommandFailure) {
        guard !isFolder(path) else {
            throw CommandFailure("\(path) is a folder", hint: "name a file in it.", status: .usage)
        }
        var status = stat()
        guard stat(path, &status) != 0 || status.st_mode & S_IFMT != S_IFBLK else {
            throw CommandFailure("\(path) is a block device", hint: "name a file.", status: .usage)
        }
    }

    /// Where links lead to, also to a file that is still to be made; the path itself where they lead nowhere.
    static func followed(_ path: String) -> String {
        if let found = realpath(path, nil) {
            defer { free(found) }
            return String(cString: found)
        }
        var name = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(path, &name, name.count - 1)
        guard count > 0 else { return path }
        let target = String(decoding: name[..<count].map(UInt8.init), as: UTF8.self)
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
        return target.hasPrefix("/") ? target : folder + target
    }

    /// The names in a folder, sorted, without hidden ones.
    static func names(in folder: String) throws -> [String] {
        guard let directory = opendir(folder) else { throw problem(folder, errno) }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names.sorted()
    }

    /// Writes a new file, which is removed again where it can't be written in full; with `makesFolders` also the folders
    /// on the way.
    static func write(
        _ text: String, to path: String, mode: mode_t = 0o644, makesFolders: Bool = false
    ) throws {
        if makesFolders, let slash = path.lastIndex(of: "/") {
            try makeFolder(String(path[..<slash]))
        }
        let descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw problem(path, errno) }
        defer { close(descriptor) }
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 || errno == EINTR else {
                let problem = problem(path, errno)
                unlink(path)
                throw problem
            }
            rest = rest.dropFirst(max(0, count))
        }
    }

    private static func makeFolder(_ path: String) throws {
        guard !path.isEmpty, !isFolder(path) else { return }
        if let slash = path.lastIndex(of: "/") { try makeFolder(String(path[..<slash])) }
        guard mkdir(path, 0o755) == 0 || errno == EEXIST else { throw problem(path, errno) }
    }

    private static func problem(_ path: String, _ code: Int32) -> CommandFailure {
        CommandFailure("\(name(path)): \(String(cString: strerror(code)))")
    }

    private static func name(_ path: String) -> String { path == "-" ? "standard input" : path }
}
