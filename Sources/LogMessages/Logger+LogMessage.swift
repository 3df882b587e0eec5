public import Logging

extension Logger {
    /// Logs an event that an administrator may want to act on.
    ///
    /// - Parameters:
    ///   - message: the event.
    ///   - level: how much it matters; nil: as the event itself says.
    ///   - metadata: what it is about, by `container`, `component`, `plugin`, `peer-uid`, `reason` …:
    ///     in the journal these are `ATRIUM_CONTAINER=` and so on.
    ///   - file: where it is logged.
    ///   - function: where it is logged.
    ///   - line: where it is logged.
    public func log(
        _ message: LogMessage, level: Level? = nil, _ metadata: @autoclosure () -> Metadata = [:],
        file: String = #fileID, function: String = #function, line: UInt = #line
    ) {
        log(
            level: level ?? message.level, "\(message.text)",
            metadata: metadata().merging([LogMessage.key: "\(message.rawValue)"]) { $1 },
            file: file, function: function, line: line)
    }
}
