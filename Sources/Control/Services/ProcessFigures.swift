import Glibc

/// The kernel's figures for this process.
enum ProcessFigures {
    /// The resident memory in bytes; 0 if the kernel does not report it.
    static var residentBytes: Int {
        guard let file = fopen("/proc/self/statm", "r") else { return 0 }
        defer { fclose(file) }
        var buffer = [CChar](repeating: 0, count: 128)
        guard fgets(&buffer, Int32(buffer.count), file) != nil else { return 0 }
        let fields = String(decoding: buffer.map(UInt8.init(bitPattern:)), as: UTF8.self)
            .split(separator: " ")
        guard fields.count > 1, let pages = Int(fields[1]) else { return 0 }
        return pages * Int(getpagesize())
    }

    /// The processor time in seconds, in user and kernel mode.
    static var cpuSeconds: Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// The number of open file descriptors; 0 if the kernel does not report it.
    static var openDescriptors: Int {
        guard let folder = opendir("/proc/self/fd") else { return 0 }
        defer { closedir(folder) }
        var count = 0
        while readdir(folder) != nil { count += 1 }
        // Without `.`, `..`, and the descriptor of the folder itself.
        return max(0, count - 3)
    }

    /// The limit of open file descriptors.
    static var descriptorLimit: Double {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return Double(limit.rlim_cur)
    }
}
