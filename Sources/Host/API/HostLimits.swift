import AtriumKit
import Index

/// How much of what the host takes on.
///
/// A call beyond one fails with ``HostError/limitExceeded(limit:value:retryAfter:)``, which names it.
public struct HostLimits: Sendable, Hashable {
    /// Items in one put or remove; `batchItems`.
    public var batchItems = 1_000
    /// Bytes of one put, roughly as JSON; `batchBytes`.
    ///
    /// No more than an entry may have (`entryBytes`), which is no setting: what a call writes is one entry.
    public var batchBytes = 1 << 20
    /// Items, comments or ballots on one page; `pageItems`.
    public var pageItems = 1_000
    /// Bytes of a text that is searched for; `searchBytes`.
    public var searchBytes = 4_096
    /// Fields that a list is sorted by; `sortFields`.
    public var sortFields = 16
    /// Filters selected in all sections together; `selectedFilters`.
    public var selectedFilters = 1_000
    /// Texts and ranges among them, where what they let through is counted: on screens, in sections
    /// with counts; `countedFilters`.
    public var countedFilters = 100
    /// Bytes of one selected filter's id, which may be a text that a person wrote; `filterBytes`.
    public var filterBytes = 4_096
    /// Bytes of all that is selected, ids of filters and sections together; `selectionBytes`.
    public var selectionBytes = 128 << 10
    /// Values of a field that a filters component is told of, and so offers, at most: of more those that
    /// most items have; `facetValues`.
    public var facetValues = 50
    /// Queries of one user that take long and wait for those before them; `waitingQueries`.
    ///
    /// As many as ten connections have under way.
    public var waitingQueries = 10_000
    /// Containers; `containers`.
    public var containers = 1_000
    /// Components of one container; `components`.
    public var components = 64
    /// Screens open at a time, those among them that wait to be resumed; `screens`.
    public var screens = 10_000
    /// Screens of one user among them, so that nobody keeps all others out; `screensPerUser`.
    ///
    /// Beyond, a new one takes the place of the one that has waited to be resumed the longest.
    public var screensPerUser = 5_000
    /// Bytes of memory that what one user's screens show may have, roughly; `screenBytesPerUser`.
    ///
    /// Beyond, screens that wait to be resumed end, then nothing more is shown; where lists grow to twice
    /// as much, screens end. From half of it on, a screen can be resumed from its last revision alone.
    public var screenBytesPerUser = 512 << 20
    /// How many seconds a screen waits for its user after its connection is gone.
    public var screenLinger = 30
    /// How many of the revisions that a screen was last sent it can be resumed from.
    public var screenRevisions = 8
    /// How deep one can enter items on a screen; `screenPlaces`.
    public var screenPlaces = 32
    /// Exports open at a time; `exports`.
    public var exports = 4
    /// Calls that wait for one component while it starts or its container changes, and as many
    /// reads that wait for its committed state, pictures that its source is to read, pages that its source is asked
    /// for, calls that wait for a container that is being loaded, and calls that wait for definitions; beyond, the
    /// call is refused as ``HostError/componentUnavailable``.
    ///
    /// Of one user no more wait than there are places left. Commands are not refused because reads wait.
    public var waitingCalls = 1_000
    /// Bytes of one published payload; `payloadBytes`.
    public var payloadBytes = 256 << 10
    /// Writes of one person in a minute; `writesPerMinute`.
    ///
    /// A person's hands make less than ten a second.
    public var writesPerMinute = 600
    /// Bytes of the calls with which one person writes in a minute; `bytesPerMinute`.
    public var bytesPerMinute = 16 << 20
    /// Writes of all persons of one front end in a minute; `frontendWritesPerMinute`.
    public var frontendWritesPerMinute = 60_000
    /// Bytes of the calls with which one front end writes in a minute; `frontendBytesPerMinute`.
    public var frontendBytesPerMinute = 256 << 20
    /// People of one front end's namespace who ever wrote; `frontendPeople`.
    ///
    /// Each is known by number and name as long as there is the store: about 150 bytes of memory, and the name.
    public var frontendPeople = 1_000_000
    /// Bytes of what a component tells by itself before it is taken in, roughly; `earlyBytes`.
    ///
    /// Beyond, its start fails.
    public var earlyBytes = 16 << 20
    /// Bytes that a component has kept over restarts; `keptBytes`.
    public var keptBytes = 16 << 20
    /// How often in a row a component is started again without an answered call in between, before
    /// it counts as failed: calls are refused until it is there, and it is started again all the same.
    public var restarts = 5
    /// The longest pause before a component is started again; each is twice as long as the one before.
    public var restartPause = Duration.seconds(60)
    /// How long a call is refused at which a component's worker ended.
    public var poisonTime = Duration.seconds(600)
    /// How long a worker may take for one call, and a call may wait behind others; `callSeconds`.
    public var callTime = Duration.seconds(5)

    /// How long calls wait for a component whose start shows no progress; then they are refused as
    /// ``HostError/componentUnavailable``.
    ///
    /// So long does a change of structure wait for a new one.
    public var startPatience = Duration.seconds(5)
    /// How long a source that is asked may take for an answer.
    public var answerTime = Duration.seconds(30)
    /// How long it is waited for the next keystroke, before a source is asked for what is searched.
    public var typingPause = Duration.milliseconds(200)
    /// After how long a question is asked again that failed, or up to half of it earlier; then each time after twice as long.
    public var askPause = Duration.seconds(5)
    /// Items that are kept of those that a source has answered, beside those that screens show.
    public var askedItems = 10_000
    /// How many bytes these may have, roughly.
    public var askedBytes = 64 << 20

    /// The limits as documented.
    public init() {}
}

extension HostLimits {
    /// Makes sure that a query costs no more than its page is worth, whoever asks.
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

    /// Makes sure that so many filters may be counted that are not on offer.
    func check(counted filters: Int) throws(HostError) {
        try check(filters, countedFilters, "countedFilters")
    }

    /// Makes sure that a component may be asked for a filter.
    func check(section: String, filter: String) throws(HostError) {
        try check(max(section.utf8.count, filter.utf8.count), filterBytes, "filterBytes")
    }

    /// Makes sure that so many may stand on a page.
    func check(page limit: Int) throws(HostError) {
        guard limit >= 1 else {
            throw .parameterInvalid(
                parameter: "limit", reason: "It is from 1 to \(pageItems), not \(limit).")
        }
        try check(limit, pageItems, "pageItems")
    }

    private func check(_ value: Int, _ limit: Int, _ name: String) throws(HostError) {
        guard value <= limit else {
            throw .limitExceeded(limit: name, value: limit, retryAfter: nil)
        }
    }
}
