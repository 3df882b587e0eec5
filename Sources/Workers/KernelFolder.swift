internal import Glibc

/// A folder below `/proc` or of cgroups, whose files the kernel makes up as they are read.
struct KernelFolder {
    let path: String

    /// The names of the folders in this one; none if it can't be read.
    var names: [String] {
        guard let folder = opendir(path) else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard entry.pointee.d_type == UInt8(DT_DIR), name != ".", name != ".." else { continue }
            names.append(name)
        }
        return names
    }

    /// Returns the words of one of its files; none if it can't be read.
    func words(of file: String) -> [Substring] {
        let descriptor = open(path + "/" + file, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        // The kernel returns at most a page of whole words in a read.
        var (buffer, bytes) = ([UInt8](repeating: 0, count: 4_096), [UInt8]())
        while bytes.count < 64 << 10 {
            let count = read(descriptor, &buffer, buffer.count)
            guard count > 0 else { break }
            bytes += buffer.prefix(count)
        }
        return String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isWhitespace)
    }
}

/// What the kernel reports of a process or a thread in its file `stat` (proc_pid_stat(5)).
struct KernelStatus {
    /// The letter of its state, such as `R` while it runs.
    let state: Substring
    let parent: Substring
    /// Its processor time, in ticks of the clock.
    let ticks: Int
    /// When it was started, which distinguishes it from a later process with the same id.
    let start: Substring

    /// Reads the status of the process or thread of a folder; nil: it can't be read, because it has ended, say.
    init?(of folder: String) {
        let words = KernelFolder(path: folder).words(of: "stat")
        // The name is in parentheses and may contain blanks.
        guard let name = words.lastIndex(where: { $0.hasSuffix(")") }), words.count > name + 20,
            let user = Int(words[name + 12]), let system = Int(words[name + 13])
        else { return nil }
        (state, parent, start) = (words[name + 1], words[name + 2], words[name + 20])
        ticks = user + system
    }
}
