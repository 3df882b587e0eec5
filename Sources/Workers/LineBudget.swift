internal import AtriumKit
internal import Host
internal import NIOCore

/// Limits how many lines of a worker are logged: a long line is cut, and lines beyond a number are counted.
///
/// The count is logged before the first line of the next period, or at the worker's end.
struct LineBudget {
    /// The maximum number of bytes of a line that are kept.
    static let lineBytes = 2_000
    /// The maximum number of lines that are logged in a period, and the length of the period.
    private static let lines = 200
    private static let pause = TimeAmount.seconds(10)

    private var logged = 0
    private var unlogged = 0
    private var rowStart = NIODeadline.now()

    /// Counts a line, and returns whether to log it; reports the number of lines of the previous period that were not
    /// logged.
    mutating func admits(report: (Int) -> Void) -> Bool {
        let now = NIODeadline.now()
        if now - rowStart >= Self.pause {
            end(report: report)
            rowStart = now
            logged = 0
        }
        guard logged < Self.lines else {
            unlogged += 1
            return false
        }
        logged += 1
        return true
    }

    /// Ends the period, since no further line follows.
    ///
    /// - Parameters:
    ///   - others: the number of lines not logged so far that the caller logs now.
    ///   - report: called with the number of lines that are not logged.
    mutating func end(without others: Int = 0, report: (Int) -> Void) {
        if unlogged > others { report(unlogged - others) }
        unlogged = 0
    }

    /// Returns the beginning of a text.
    static func cut(_ text: String, to bytes: Int = lineBytes) -> String {
        text.utf8.count <= bytes
            ? text : String(decoding: text.utf8.prefix(bytes), as: UTF8.self)
    }
}

extension Refusal {
    /// The most pieces of evidence to keep, and the most bytes of each; the longest is a filter's id.
    private static let kept = (count: 16, bytes: 64 << 10)

    /// The refusal with its texts cut.
    var cut: Refusal {
        var cut = self
        cut.reason = LineBudget.cut(reason)
        cut.evidence = [:]
        for (key, text) in evidence.prefix(Self.kept.count) {
            cut.evidence[LineBudget.cut(key)] = LineBudget.cut(text, to: Self.kept.bytes)
        }
        return cut
    }
}

extension LaunchFailure {
    /// The failure with its texts cut.
    var cut: LaunchFailure {
        switch self {
        case .setting(let error):
            .setting(SettingError(LineBudget.cut(error.setting), LineBudget.cut(error.reason)))
        case .failed(let reason): .failed(reason: LineBudget.cut(reason))
        case .unavailable(let reason): .unavailable(reason: LineBudget.cut(reason))
        }
    }
}
