import AtriumKit

/// The limits of what the host accepts from users, components and plugins.
///
/// A call beyond a limit fails with ``HostError/limitExceeded(limit:value:retryAfter:)``, which names the limit.
public struct HostLimits: Sendable, Hashable {
    /// Items in one put or remove; `batchItems`.
    public var batchItems = 1_000
    /// Bytes of one put, as JSON, approximately; `batchBytes`.
    ///
    /// At most the size of an entry (`entryBytes`, not configurable), because one call writes one entry.
    public var batchBytes = 1 << 20
    /// Items, comments or ballots on one page; `pageItems`.
    public var pageItems = 1_000
    /// Bytes of a text that is searched for; `searchBytes`.
    public var searchBytes = 4_096
    /// Fields that a list is sorted by; `sortFields`.
    public var sortFields = 16
    /// Filters selected in all sections together; `selectedFilters`.
    public var selectedFilters = 1_000
    /// Texts and ranges among the selected filters, where matching items are counted; `countedFilters`.
    ///
    /// This applies to screens, and to sections with counts.
    public var countedFilters = 100
    /// Bytes of one selected filter's id, which may be text that a user typed; `filterBytes`.
    public var filterBytes = 4_096
    /// Bytes of a whole selection, ids of filters and sections together; `selectionBytes`.
    public var selectionBytes = 128 << 10
    /// Values of a field that a filters component receives, and can offer; `facetValues`.
    ///
    /// A field with more values sends those that most items have.
    public var facetValues = 50
    /// Long queries of one user that wait in the queue; `waitingQueries`.
    ///
    /// This is as many as ten connections can have in progress.
    public var waitingQueries = 10_000
    /// Containers; `containers`.
    public var containers = 1_000
    /// Components of one container; `components`.
    public var components = 64
    /// Screens open at a time, including those that wait to be resumed; `screens`.
    public var screens = 10_000
    /// Screens of one user, so that one user can't use up all screens; `screensPerUser`.
    ///
    /// At the limit, a new screen replaces the user's screen that has waited longest to be resumed.
    public var screensPerUser = 5_000
    /// Bytes of memory for what one user's screens show, approximately; `screenBytesPerUser`.
    ///
    /// Beyond the limit, the host first ends screens that wait to be resumed, then refuses to show more. When lists
    /// grow to twice the limit, it ends open screens. From half the limit on, a screen can be resumed only from its
    /// last revision.
    public var screenBytesPerUser = 512 << 20
    /// The grace period in seconds for which a screen is kept after its connection is closed.
    public var screenLinger = 30
    /// How many of its last sent revisions a screen can be resumed from.
    public var screenRevisions = 8
    /// How many levels of items a screen can enter; `screenPlaces`.
    public var screenPlaces = 32
    /// Exports open at a time; `exports`.
    public var exports = 4
    /// Calls that wait for one component while it starts or its container changes.
    ///
    /// The same limit applies to each of these: reads that wait for a component's committed state, pictures to be
    /// read from a source, pages to be requested from a source, calls that wait for a container to load, and calls
    /// that wait for definitions. Beyond it, a call fails with ``HostError/componentUnavailable``.
    ///
    /// One user's waiting calls can't exceed the places still free. Waiting reads do not cause commands to be
    /// refused.
    public var waitingCalls = 1_000
    /// Bytes of one published payload; `payloadBytes`.
    public var payloadBytes = 256 << 10
    /// Writes of one person per minute; `writesPerMinute`.
    ///
    /// A person writing by hand makes fewer than ten a second.
    public var writesPerMinute = 600
    /// Bytes of one person's writing calls per minute; `bytesPerMinute`.
    public var bytesPerMinute = 16 << 20
    /// Writes of all persons of one front end per minute; `frontendWritesPerMinute`.
    public var frontendWritesPerMinute = 60_000
    /// Bytes of one front end's writing calls per minute; `frontendBytesPerMinute`.
    public var frontendBytesPerMinute = 256 << 20
    /// Actors in one front end's namespace that have ever written; `frontendPeople`.
    ///
    /// The store keeps each one's number and name for good: about 150 bytes of memory, plus the name.
    public var frontendPeople = 1_000_000
    /// Bytes that a component may send on its own before it is attached, approximately; `earlyBytes`.
    ///
    /// Beyond the limit, its start fails.
    public var earlyBytes = 16 << 20
    /// Bytes of a component's state that is kept across restarts; `keptBytes`.
    public var keptBytes = 16 << 20
    /// Restarts in a row, with no answered call in between, after which a component counts as failed.
    ///
    /// Calls are then refused until the component runs; the host continues to restart it.
    public var restarts = 5
    /// The longest pause before a component is restarted; each pause is twice the one before.
    public var restartPause = Duration.seconds(60)
    /// How long a call that ended a component's worker is refused.
    public var poisonTime = Duration.seconds(600)
    /// How long a worker may take for one call, and how long a call may wait in its queue; `callSeconds`.
    public var callTime = Duration.seconds(5)

    /// How long calls wait for a component whose start makes no progress.
    ///
    /// Then they fail with ``HostError/componentUnavailable``. A change of structure waits as long for a new
    /// component.
    public var startPatience = Duration.seconds(5)
    /// How long a source may take to answer a request.
    public var answerTime = Duration.seconds(30)
    /// How long the host waits for the next keystroke before it sends a search to a source.
    public var typingPause = Duration.milliseconds(200)
    /// The pause before a failed request to a source is retried; each pause is twice the one before.
    ///
    /// A retry may come up to half the pause earlier.
    public var askPause = Duration.seconds(5)
    /// Items that are kept from the answers of a source, in addition to those that screens show.
    public var askedItems = 10_000
    /// Bytes of these items, approximately.
    public var askedBytes = 64 << 20

    /// The limits as documented.
    public init() {}
}

extension HostLimits {
    /// Throws if a query exceeds the limits on search text, sort fields or selection.
    func check(
        search: String?, sort: [String] = [], selection: Selection = Selection()
    ) throws(HostError) {
        try check(search?.utf8.count ?? 0, searchBytes, "searchBytes")
        try check(sort.count, sortFields, "sortFields")
        var (count, bytes) = (0, 0)
        for (section, filters) in selection.sections {
            count += filters.count
            bytes += section.utf8.count
            for filter in filters {
                try check(filter.utf8.count, filterBytes, "filterBytes")
                bytes += filter.utf8.count
            }
        }
        try check(count, selectedFilters, "selectedFilters")
        try check(bytes, selectionBytes, "selectionBytes")
    }

    /// Throws if more filters would be counted, of those not on offer, than the limit allows.
    func check(counted filters: Int) throws(HostError) {
        try check(filters, countedFilters, "countedFilters")
    }

    /// Throws if the ids of a section or filter are too long to be sent to a component.
    func check(section: String, filter: String) throws(HostError) {
        try check(max(section.utf8.count, filter.utf8.count), filterBytes, "filterBytes")
    }

    /// Throws unless a page may have this many entries.
    func check(page limit: Int) throws(HostError) {
        guard limit >= 1 else {
            throw .parameterInvalid(
                parameter: "limit", reason: "It is from 1 to \(pageItems), not \(limit).")
        }
        try check(limit, pageItems, "pageItems")
    }

    /// Throws unless a parameter has its least value.
    static func check(_ value: Int, from least: Int, _ parameter: String) throws(HostError) {
        guard value >= least else {
            throw .parameterInvalid(
                parameter: parameter, reason: "It is \(least) or more, not \(value).")
        }
    }

    /// Throws if a batch has more items or records than a call may have, or more bytes.
    func check(batch count: Int, of bytes: @autoclosure () -> Int = 0) throws(HostError) {
        try check(count, batchItems, "batchItems")
        try check(bytes(), batchBytes, "batchBytes")
    }

    private func check(_ value: Int, _ limit: Int, _ name: String) throws(HostError) {
        guard value <= limit else {
            throw .limitExceeded(limit: name, value: limit, retryAfter: nil)
        }
    }
}
