public import AtriumKit
internal import Glibc
internal import ItemReading

/// The items that a file has, as it is now: `org.atrium.file`.
///
/// It reads the file in the background: at the start, whenever it is written, replaced or comes back, and when
/// somebody asks. It reports what differs from before. A file that can't be read, or has anything wrong in it,
/// changes nothing: the last good copy stays, and the problem says line and column.
public final class FileListing: ContentListing {
    /// How long until a file is tried again that can't be watched or read.
    private static let patience = Duration.seconds(5)

    /// What it understands.
    public static var settings: [Setting] { FileSource.settings }

    /// Who is notified of changes.
    public weak var delegate: (any ContentListingDelegate)?
    /// Whether the file was never read so far.
    public private(set) var isLoading = true
    /// The items that the file had when it was read last.
    public var items: some Sequence<Item> { known.values }
    /// Says whose the items are.
    public var readOnlyReason: String? {
        "Its items are those of the file \(source.path): change that."
    }

    private let context: ComponentContext
    private let source: FileSource
    private var known: [String: Item] = [:]
    private var stamp: FileStamp?
    private var isReading = false
    private var isReadAgain = false
    /// Whether the file could be opened before, or was missing.
    private var isKnown = false
    private var retry: Wakeup?
    /// The watch of the file that a link leads to, and where that is.
    private var target: (path: String, watch: Wakeup)?

    /// Begins to read and to watch the file; throws for settings that make no sense, of which a file that is not
    /// there is none.
    public init(context: ComponentContext) throws {
        self.context = context
        source = try FileSource(context)
        follow()
        read()
    }

    /// Reads the file again.
    public func reload() {
        stamp = nil
        read()
    }

    /// Does nothing: it has no records.
    public func apply(_ change: Change) {}

    /// Takes none.
    public func put(
        _ items: [Item], _ context: CommandContext
    ) throws(Refusal) -> ContentDecision { throw readOnly }

    /// Removes none.
    public func remove(_ ids: [String], _ context: CommandContext) throws(Refusal) -> [Change] {
        throw readOnly
    }

    private var readOnly: Refusal { Refusal(.readOnly, readOnlyReason ?? "") }
}

extension FileListing {
    /// Watches the file, once its folder is there.
    private func follow() {
        do throws(Refusal) {
            try context.watch(source.path) { [weak self] in self?.read() }
        } catch {
            again { [weak self] in
                self?.follow()
                self?.read()
            }
        }
    }

    /// Watches the file that a link leads to; nil: the path is no link.
    private func follow(_ path: String?) {
        guard path != target?.path else { return }
        target?.watch.cancel()
        target = path.flatMap { path in
            (try? context.watch(path) { [weak self] in self?.read() }).map { (path, $0) }
        }
    }

    /// Tries something once more in a while.
    private func again(_ body: @escaping () -> Void) {
        retry?.cancel()
        retry = try? context.after(Self.patience, body)
    }

    private func read() {
        guard !isReading else {
            isReadAgain = true
            return
        }
        isReading = true
        let (source, known, stamp, isFirst) = (source, known, stamp, isLoading)
        context.background {
            try await source.read(unless: stamp, known, isFirst: isFirst)
        } then: { [weak self] in
            self?.take($0)
        }
    }

    private func take(_ result: Result<FileReading, any Error>) {
        isReading = false
        switch result {
        case .success(let reading):
            isKnown = true
            context.report(problem: nil)
            stamp = reading.stamp
            follow(reading.target)
            if let difference = reading.difference { show(difference) }
        case .failure(let error):
            let code = (error as? FileProblem)?.code ?? 0
            leave(after: code)
            context.report(problem: "\(error)")
            // No notification comes when a file may be read at last.
            if code != 0, retry?.isActive != true { again { [weak self] in self?.read() } }
        }
        if isReadAgain {
            isReadAgain = false
            read()
        }
    }

    /// Ends the worker if another file took the place of the one that it may read.
    ///
    /// A new worker may read that one. It stays if it never could open the file: then a new one could not, either.
    private func leave(after code: Int32) {
        guard code == EACCES else {
            isKnown = true
            return
        }
        guard isKnown, WorkerProcess.mayRead(file: source.path) else { return }
        WorkerProcess.leave(because: "\(source.path) is another file now")
    }

    private func show(_ difference: ItemDifference) {
        isLoading = false
        let before = known
        known = difference.items
        difference.report(delegate, of: self)
        context.freeInBackground(before)
    }
}

/// Exports the list.
@c(atrium_plugin_org_atrium_file)
public func filePlugin() -> UnsafeMutableRawPointer { exportPlugin(FileListing.self) }
