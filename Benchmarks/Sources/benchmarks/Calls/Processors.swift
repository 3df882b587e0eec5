import CProcessors
import Foundation
import Glibc

/// Which processors processes run on, and how much of them they used.
struct Processors {
    /// A bit for each.
    private var bits: [UInt8]

    /// Those that this process has at the moment.
    static func current() throws -> Processors {
        var bits = [UInt8](repeating: 0, count: 128)
        guard sched_getaffinity(0, bits.count, &bits) >= 0 else {
            throw BenchmarkError.system("sched_getaffinity")
        }
        return Processors(bits: bits)
    }

    /// The first of these alone.
    var first: Processors {
        var one = [UInt8](repeating: 0, count: bits.count)
        guard let place = bits.firstIndex(where: { $0 != 0 }) else { return self }
        one[place] = 1 << UInt8(bits[place].trailingZeroBitCount)
        return Processors(bits: one)
    }

    /// Has all threads of a process run on these.
    func take(_ pid: Int32) throws {
        let threads = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/task")
        for thread in threads.compactMap({ Int32($0) }) {
            let result = sched_setaffinity(thread, bits.count, bits)
            // A thread may have ended since.
            guard result == 0 || errno == ESRCH else {
                throw BenchmarkError.system("sched_setaffinity")
            }
        }
    }

    /// Seconds of processor time that a process used so far, all threads together.
    static func time(of pid: Int32) throws -> Double {
        var clock = clockid_t()
        var time = timespec()
        guard clock_getcpuclockid(pid, &clock) == 0, clock_gettime(clock, &time) == 0 else {
            throw BenchmarkError("the processor time of process \(pid) can't be read")
        }
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
