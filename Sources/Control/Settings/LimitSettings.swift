public import Host
public import Varlink

/// The limits on users that an administrator may set: the section `limits` of the configuration file.
///
/// Each key is the limit's name in errors and in the log. Limits that are not listed here, such as the size of a
/// page, are promises of the interfaces on which clients rely.
public struct LimitSettings: Sendable, Hashable {
    /// The limits of connections.
    public private(set) var server = VarlinkLimits()
    /// The limits of the host.
    public private(set) var host = HostLimits()

    /// The section's key.
    public static let section = "limits"

    /// All limits, in the order of the manual.
    public static var known: [NumberSetting] { all.map(\.setting) }

    /// The defaults.
    public init() { server.methodBytes = MethodSizes.sizes(under: host) }

    /// The defaults, with the settings applied that have a value.
    public init(_ value: (NumberSetting) -> Int?) {
        for limit in Self.all {
            if let number = value(limit.setting) {
                self[keyPath: limit.place] = number
            } else if let whole = limit.halfOf {
                self[keyPath: limit.place] = max(1, self[keyPath: whole] / 2)
            }
        }
        server.methodBytes = MethodSizes.sizes(under: host)
    }

    /// The full key of a limit by its name in an error: `limits.screens` of `screens`; nil if it can't be set.
    public static func key(of limit: String) -> String? {
        all.contains { $0.setting.key == limit } ? "\(section).\(limit)" : nil
    }

    /// The full keys of limits that newer settings change.
    public func differences(to newer: LimitSettings) -> [String] {
        Self.all.filter { self[keyPath: $0.place] != newer[keyPath: $0.place] }
            .map { "\(Self.section).\($0.setting.key)" }
    }

    private var handshakeSeconds: Int {
        get { Int(server.handshake?.components.seconds ?? 0) }
        set { server.handshake = .seconds(newValue) }
    }

    private var callSeconds: Int {
        get { Int(host.callTime.components.seconds) }
        set { host.callTime = .seconds(newValue) }
    }

    /// A setting and the limit that it sets.
    private struct Limit: Sendable {
        let setting: NumberSetting
        let place: any WritableKeyPath<LimitSettings, Int> & Sendable
        /// The limit of which this one is half unless it is set, so that one user can't use up all of it.
        let halfOf: (any KeyPath<LimitSettings, Int> & Sendable)?

        init(
            _ key: String, _ unit: NumberSetting.Unit, _ range: ClosedRange<Int>,
            _ place: any WritableKeyPath<LimitSettings, Int> & Sendable,
            halfOf: (any KeyPath<LimitSettings, Int> & Sendable)? = nil, note: String? = nil
        ) {
            setting = NumberSetting(key, unit, range, note: note)
            self.place = place
            self.halfOf = halfOf
        }
    }

    /// The range of seconds that a call may be allowed to take.
    static let callSeconds = 1...3_600

    private static let all: [Limit] = [
        Limit("connections", .things, 16...1_000_000, \.server.connections),
        Limit(
            "connectionsPerUser", .things, 1...1_000_000, \.server.connectionsPerUser,
            halfOf: \LimitSettings.server.connections),
        Limit("bytesPerUser", .bytes, 16 << 20...1 << 40, \.server.bytesPerUser),
        Limit("frameBytes", .bytes, 4 << 20...1 << 30, \.server.frameBytes),
        Limit("queuedBytes", .bytes, 16 << 20...1 << 40, \.server.queuedBytes),
        Limit("handshake", .seconds, 1...3_600, \.handshakeSeconds),
        Limit("screens", .things, 1...1_000_000, \.host.screens),
        Limit(
            "screensPerUser", .things, 1...1_000_000, \.host.screensPerUser,
            halfOf: \LimitSettings.host.screens),
        Limit("screenBytesPerUser", .bytes, 1 << 20...1 << 40, \.host.screenBytesPerUser),
        Limit("screenLinger", .seconds, 1...3_600, \.host.screenLinger),
        Limit("searchBytes", .bytes, 64...64 << 10, \.host.searchBytes),
        Limit("selectedFilters", .things, 1...100_000, \.host.selectedFilters),
        Limit("filterBytes", .bytes, 64...64 << 10, \.host.filterBytes),
        Limit("selectionBytes", .bytes, 1 << 10...1 << 20, \.host.selectionBytes),
        Limit("waitingQueries", .things, 10...1_000_000, \.host.waitingQueries),
        Limit("facetValues", .things, 10...100_000, \.host.facetValues),
        Limit(
            "batchBytes", .bytes, 64 << 10...1 << 20, \.host.batchBytes,
            note: "what a call puts is one entry of the store, of 1M at most: put fewer items "
                + "at once"),
        Limit("payloadBytes", .bytes, 1 << 10...512 << 10, \.host.payloadBytes),
        Limit("writesPerMinute", .things, 1...1_000_000_000, \.host.writesPerMinute),
        Limit("bytesPerMinute", .bytes, 1 << 20...1 << 40, \.host.bytesPerMinute),
        Limit(
            "frontendWritesPerMinute", .things, 1...1_000_000_000,
            \.host.frontendWritesPerMinute),
        Limit(
            "frontendBytesPerMinute", .bytes, 1 << 20...1 << 40,
            \.host.frontendBytesPerMinute),
        Limit("frontendPeople", .things, 1...1_000_000_000, \.host.frontendPeople),
        Limit("containers", .things, 1...100_000, \.host.containers),
        Limit("components", .things, 1...1_000, \.host.components),
        Limit("keptBytes", .bytes, 1 << 10...20 << 20, \.host.keptBytes),
        Limit("exports", .things, 1...100, \.host.exports),
        Limit("callSeconds", .seconds, callSeconds, \.callSeconds),
    ]
}
