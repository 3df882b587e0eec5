public import Logging

/// Logs turns of the event loop that took long, so that nobody can fill the log with them.
///
/// A minute has some lines, and more only for turns that are longer than all before. What is left out is counted, and
/// the next line says how many that were.
public struct TurnLog {
    private let lines: Int
    private let logger: Logger
    private var minute = Int64.min
    private var logged = 0
    private var unlogged = 0
    private var longest: Int64 = 0

    private static let nanosecondsOfMinute: Int64 = 60_000_000_000

    /// A log of no turn yet, of so many lines a minute.
    public init(lines: Int, logger: Logger) {
        self.lines = lines
        self.logger = logger
    }

    /// Logs a turn, or counts it, by the nanoseconds that it took, what it used of its thread's processor time at
    /// most, and its end on the monotonic clock.
    public mutating func log(
        _ nanoseconds: Int64, processor: Int64, end: Int64, _ notes: TurnNotes
    ) {
        if end / Self.nanosecondsOfMinute != minute {
            minute = end / Self.nanosecondsOfMinute
            logged = 0
            longest = 0
        }
        guard logged < lines || nanoseconds > longest else {
            unlogged += 1
            return
        }
        logged += 1
        longest = max(longest, nanoseconds)
        var fields = notes.fields(ofTurn: nanoseconds)
        fields["turn-ms"] = "\(nanoseconds / 1_000_000)"
        fields["processor-ms"] = "\(processor / 1_000_000)"
        if unlogged > 0 { fields["untold"] = "\(unlogged)" }
        unlogged = 0
        logger.log(.turnLong, fields)
    }
}
