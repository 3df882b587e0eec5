import CoreMetrics
import Glibc
import LogMessages
import Logging
import NIOCore
import NIOPosix

/// Measures the turns of the daemon's event loop, and logs those that took long.
///
/// A turn is what the loop does between two looks at its sockets: it reads what has come, starts the calls in
/// it, and runs what is due. Nobody else is answered meanwhile. SwiftNIO tells when it began to run what is
/// due; when the first call was read before that is in the notes.
///
/// The thread's processor time costs a system call to read. It is read at the end of a turn where the last reading
/// is 10 ms old or older: at most a hundred times a second, and always after a turn that was longer than
/// that. What a turn used is the difference, which the turns of those 10 ms may have made too big, by
/// these 10 ms at most.
///
/// Unchecked: guarded by the event loop, on which alone it is touched.
final class LoopMeter: NIOEventLoopMetricsDelegate, @unchecked Sendable {
    /// What was done in the turn that is under way.
    let notes = TurnNotes()

    private let seconds = Timer(label: "atrium_loop_turn_seconds")
    private var log: TurnLog
    private let processorTime: () -> Int64
    /// When the processor time was read last, and what it was.
    private var reading: (at: Int64, time: Int64) = (.min, 0)

    /// A turn that takes this long is logged: 100 ms.
    static let longTurn: Int64 = 100_000_000
    private static let readingInterval: Int64 = 10_000_000
    private static let linesPerMinute = 10

    /// A meter that has seen no turn.
    ///
    /// - Parameters:
    ///   - logger: told of long turns.
    ///   - processorTime: the processor time of the calling thread, in nanoseconds.
    init(logger: Logger, processorTime: @escaping () -> Int64 = LoopMeter.threadTime) {
        log = TurnLog(lines: Self.linesPerMinute, logger: logger)
        self.processorTime = processorTime
    }

    func processedTick(info: NIOEventLoopTickInfo) {
        ended(
            from: Int64(clamping: info.startTime.uptimeNanoseconds),
            to: Int64(clamping: info.endTime.uptimeNanoseconds))
    }

    /// A turn has ended.
    ///
    /// - Parameters:
    ///   - start: when it began to run what was due, in nanoseconds of the monotonic clock.
    ///   - end: the time now.
    func ended(from start: Int64, to end: Int64) {
        var time = end - notes.start(orElse: start)
        if end - Self.readingInterval >= reading.at {
            let used = read(at: end)
            // Also of a turn that read no call, but a worker's message, or let somebody in.
            if used >= Self.longTurn { time = max(time, used) }
            if time >= Self.longTurn { log.tell(time, processor: used, end: end, notes) }
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

    /// What the calling thread has used of a processor, in nanoseconds.
    static func threadTime() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
