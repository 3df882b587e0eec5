internal import AtriumKit
internal import Host
internal import NIOCore

/// How much of what a worker says by itself is told: a line is cut, and of lines in a row those beyond
/// a number are counted, and told of when it has calmed down or has ended.
struct LineBudget {
    /// Bytes of a line that are kept.
    static let lineBytes = 2_000
    /// Lines in a row that are told, and how long a pause makes a new row.
    private static let lines = 200
    private static let pause = TimeAmount.seconds(10)

    private var told = 0
    private var untold = 0
    private var rowStart = NIODeadline.now()

    /// Takes a line in.
    ///
    /// - Parameter tell: called with the number of lines of the row before that were not told.
    /// - Returns: whether to tell it.
    mutating func admits(tell: (Int) -> Void) -> Bool {
        let now = NIODeadline.now()
        if now - rowStart >= Self.pause {
            end(tell: tell)
            rowStart = now
            told = 0
        }
        guard told < Self.lines else {
            untold += 1
            return false
        }
        told += 1
        return true
    }

    /// No line comes any more.
    ///
    /// - Parameters:
    ///   - others: of the lines that were not told, so many are told now.
    ///   - tell: called with the number of lines that are not told.
    mutating func end(without others: Int = 0, tell: (Int) -> Void) {
        if untold > others { tell(untold - others) }
        untold = 0
    }

    /// The beginning of a text.
    static func cut(_ text: String, to bytes: Int = lineBytes) -> String {
        text.utf8.count <= bytes
            ? text : String(decoding: text.utf8.prefix(bytes), as: UTF8.self)
    }
}

extension Refusal {
    /// So many pieces of evidence are kept, and bytes of each: the id of a filter is the longest.
    private static let kept = (count: 16, bytes: 64 << 10)

    /// The refusal with the beginnings of its texts.
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
    /// The failure with the beginnings of its texts.
    var cut: LaunchFailure {
        switch self {
        case .setting(let error):
            .setting(SettingError(LineBudget.cut(error.setting), LineBudget.cut(error.reason)))
        case .failed(let reason): .failed(reason: LineBudget.cut(reason))
        case .unavailable(let reason): .unavailable(reason: LineBudget.cut(reason))
        }
    }
}
