import CoreMetrics
import Glibc
import LogMessages
import Logging
import NIOCore
import NIOPosix

/// Measures the turns of the daemon's event loop, and logs long ones.
///
/// In a turn the loop reads from its sockets, starts the calls that it read, and runs the tasks that are due. No
/// other client is answered meanwhile. SwiftNIO reports when it began to run tasks; if the first call was read before
/// that, the notes have the time.
///
/// Reading the thread's processor time costs a system call. It is read at the end of a turn if the last reading is at
/// least 10 ms old: at most a hundred times a second, and always after a longer turn. The difference counts as the
/// turn's processor time. It may include the turns of the 10 ms before, so it is at most 10 ms too high.
///
/// Unchecked Sendable: its state is used only on the event loop.
final class LoopMeter: NIOEventLoopMetricsDelegate, @unchecked Sendable {
    /// Notes about the turn in progress.
    let notes = TurnNotes()

    private let seconds = Timer(label: "atrium_loop_turn_seconds")
    private var log: TurnLog
    private let processorTime: () -> Int64
    /// The time of the last reading, and the processor time then.
    private var reading: (at: Int64, time: Int64) = (.min, 0)

    /// The duration of a turn that is logged: 100 ms.
    static let longTurn: Int64 = 100_000_000
    private static let readingInterval: Int64 = 10_000_000
    private static let linesPerMinute = 10

    /// Creates a meter, which logs long turns; `processorTime` is that of the calling thread, in nanoseconds.
    init(logger: Logger, processorTime: @escaping () -> Int64 = LoopMeter.threadTime) {
        log = TurnLog(lines: Self.linesPerMinute, logger: logger)
        self.processorTime = processorTime
    }

    func processedTick(info: NIOEventLoopTickInfo) {
        ended(
            from: Int64(clamping: info.startTime.uptimeNanoseconds),
            to: Int64(clamping: info.endTime.uptimeNanoseconds))
    }

    /// Records a turn that began to run tasks, and ended, at these nanoseconds of the monotonic clock.
    func ended(from start: Int64, to end: Int64) {
        var time = end - notes.start(orElse: start)
        if end - Self.readingInterval >= reading.at {
            let used = read(at: end)
            // This also covers turns that read no call, but a worker's message or a new connection.
            if used >= Self.longTurn { time = max(time, used) }
            if time >= Self.longTurn { log.log(time, processor: used, end: end, notes) }
        }
        seconds.recordNanoseconds(time)
        notes.clear()
    }

    /// The processor time since the last reading.
    private func read(at end: Int64) -> Int64 {
        let now = processorTime()
        defer { reading = (end, now) }
        return now - reading.time
    }

    /// The processor time of the calling thread, in nanoseconds.
    static func threadTime() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
