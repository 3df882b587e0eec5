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
    /// - Parameter tell: called with the number of lines that were not told.
    mutating func end(tell: (Int) -> Void) {
        guard untold > 0 else { return }
        tell(untold)
        untold = 0
    }

    /// The beginning of a text.
    static func cut(_ text: String) -> String {
        text.utf8.count <= lineBytes
            ? text : String(decoding: text.utf8.prefix(lineBytes), as: UTF8.self)
    }
}
