import Foundation

/// A turn of a daemon's event loop that took long, as its log tells.
public struct HeldUp: Sendable {
    /// What a turn may use of its thread's processor time, in milliseconds.
    ///
    /// Four times that of an optimised build for one with all checks, which the tests run.
    public static let bound = 1_000

    /// The line of the log.
    public let line: String
    /// What it used of its thread's processor time, in milliseconds.
    public let processorTime: Int

    /// Whether it used more than it may.
    public var isTooLong: Bool { processorTime > Self.bound }

    /// The turns that a log tells of: lines of standard error, or of the journal as JSON.
    public static func turns(in log: String) -> [HeldUp] {
        log.split(separator: "\n").compactMap { line in
            guard
                let match = line.firstMatch(
                    of: /processor-ms=([0-9]+)|"ATRIUM_PROCESSOR_MS":"([0-9]+)"/),
                let time = Int(match.1 ?? match.2 ?? "")
            else { return nil }
            return HeldUp(line: String(line), processorTime: time)
        }
    }
}
