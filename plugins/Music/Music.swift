public import AtriumKit
internal import ItemReading

/// The audio files of a folder, and of all folders in it: `org.atrium.music`.
///
/// Folders are watched before they are listed, so that nothing is missed. Listing and reading happen in the
/// background, in pieces; of files that are known only those are read again that changed. What is wrong is
/// reported, and what was known of it stays.
public final class Music: ImageProviding {
    private static let folder = Setting.path(
        "folder", "The folder with the audio files; folders in it count, links do not."
    ).required()
    private static let fields = Setting.object(
        "fields",
        "Which tag fills a field that has not its name, as in { name: title }. Tags: \(Tag.names)."
    ).defaulting(to: [:])
    private static let rescan = Setting.integer(
        "rescan", in: 0...86_400,
        "Seconds after which all folders are looked through again: for a file system whose changes "
            + "the kernel does not report, as of a network. 0: never; else at least 10."
    ).defaulting(to: 0)

    /// Where the files are, and which of their tags are shown.
    public static var settings: [Setting] { [folder.setting, fields.setting, rescan.setting] }

    /// Who is notified of new, changed and removed tracks.
    public weak var delegate: (any ContentListingDelegate)?

    /// A track for each file that could be read.
    public var items: some Sequence<Item> {
        let mapping = mapping
        return library.tracks.lazy.map { mapping.item($0.key, $0.value) }
    }

    /// Whether the folder was not yet read to its end.
    public private(set) var isLoading = true

    /// It shows what is on the disk.
    public let readOnlyReason: String? = "It lists the files of a folder: change these."

    private let context: ComponentContext
    private let folder: String
    private let mapping: FieldMapping
    private let rescan: Int64
    private var library = Library()
    private var work = Workload()
    private var watches = FolderWatches()
    private var hasWarned = false
    /// The file system of the folder when it was read last.
    private var device: UInt64?
    /// Whether the folder was not there at some time.
    private var wasAway = false
    /// Why the folder itself can't be read.
    private var rootProblem: String?
    private var isWorking = false
    /// Looks again for what can't be read.
    private var retry: Wakeup?
    /// Looks again through all folders.
    private var rescanning: (wakeup: Wakeup, pause: Int64)?
    private var goneItems: [String] = []

    /// Begins to read the folder.
    public init(context: ComponentContext) throws {
        self.context = context
        let path = context.settings[Self.folder]
        folder = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
        mapping = try FieldMapping(
            context.fields, context.settings[Self.fields])
        rescan = Int64(context.settings[Self.rescan])
        guard rescan == 0 || rescan >= 10 else {
            throw SettingError("rescan", "expected 0 or at least 10 seconds, found \(rescan)")
        }
        reload()
    }

    /// Looks through all folders again; of the files only changed ones are read.
    public func reload() {
        work.list(.root)
        // Of one that is away all folders are listed once it is back.
        if rootProblem == nil { for folder in library.allFolders { work.list(folder) } }
        goOn()
    }

    /// Keeps no records.
    public func apply(_ change: Change) {}

    /// Takes no items.
    public func put(
        _ items: [Item], _ context: CommandContext
    ) throws(Refusal) -> ContentDecision { ContentDecision() }

    /// Takes none away.
    public func remove(
        _ ids: [String], _ context: CommandContext
    ) throws(Refusal) -> [Change] { [] }

    /// Where the file is, and what else it says.
    public func details(of id: String) -> [String: Value]? {
        guard let track = library.tracks[id] else { return nil }
        return mapping.details(of: track, in: folder)
    }

    /// Reads the cover in the file's tags.
    public func image(of id: String, field: String) throws(Refusal) -> ImageWork? {
        guard let track = library.tracks[id], track.tags.hasCover else { return nil }
        let folder = folder
        return { try Cover.read(of: track.path, below: folder) }
    }
}

// MARK: One piece of work after the other

extension Music {
    /// How much is done in one piece: a screen or a command is waited for no longer.
    private static let mostFolders = 32
    private static let mostItems = 500

    private func goOn() {
        guard !isWorking else { return }
        if !goneItems.isEmpty, !isLoading {
            delegate?.contentListing(
                self, didChange: .remove(Array(goneItems.prefix(Self.mostItems))))
            goneItems.removeFirst(min(Self.mostItems, goneItems.count))
            return run({}, then: { _ in })
        }
        let folders = work.nextFolders(Self.mostFolders)
        guard folders.isEmpty else { return list(folders) }
        let files = work.nextFiles()
        guard files.isEmpty else { return read(files) }
        finish()
    }

    /// Does something in the background, then the next piece.
    private func run<Result: Sendable>(
        _ body: @escaping @Sendable () -> Result, then take: @escaping (Result) -> Void
    ) {
        isWorking = true
        context.background(body) { [weak self] result in
            guard let self else { return }
            isWorking = false
            if case .success(let result) = result { take(result) }
            goOn()
        }
    }

    private func list(_ paths: [FilePath]) {
        for path in paths { watch(path) }
        let folder = folder
        run {
            Round(of: paths, below: folder)
        } then: { [weak self] in
            self?.take($0)
        }
    }

    private func take(_ round: Round) {
        let isBack: Bool
        switch round.root {
        case .failure(let problem):
            if isAnother(problem) {
                WorkerProcess.leave(because: "\(folder) is another folder now")
            }
            wasAway = wasAway || problem.isGone
            return lose(
                problem.reason, isAway: problem.isGone,
                remedy: FileWall.reason(folder, problem.code))
        case .success(let root):
            // A disk that is no longer mounted leaves an empty folder behind.
            if root.isEmpty, let device, device != root.device, !library.tracks.isEmpty {
                return lose("it is empty, and was on another file system before", isAway: true)
            }
            device = root.device
            isBack = rootProblem != nil
            rootProblem = nil
        }
        for (path, listed) in round.listings {
            guard path == .root || library.hasOrExpects(path) else { continue }
            let steps =
                switch listed {
                case .success(let listing): library.take(listing, of: path)
                case .failure(let problem): library.take(problem, of: path)
                }
            if case .failure = listed { watches.excuse(path) }
            for path in steps.goneFolders + steps.replaced { watches.drop(path) }
            for path in steps.unlisted + steps.replaced { work.list(path) }
            for path in steps.unread { work.read(path) }
            goneItems += steps.goneItems
        }
        // No notification came for what changed meanwhile, and what was still to be listed is forgotten.
        if isBack { for path in library.allFolders where path != .root { work.list(path) } }
    }

    private func read(_ paths: [FilePath]) {
        let folder = folder
        run {
            Reading.some(of: paths, below: folder)
        } then: { [weak self] readings in
            guard let self else { return }
            for path in paths.dropFirst(readings.count) { work.read(path) }
            take(readings)
        }
    }

    private func take(_ readings: [Reading]) {
        var new: [Item] = []
        var changed: [Item] = []
        var gone: [String] = []
        for reading in readings {
            guard let change = library.take(reading) else { continue }
            let item = mapping.item(change.id, change.track)
            let isNew = change.isNew && !gone.contains(change.id)
            if isNew { new.append(item) } else { changed.append(item) }
            if let id = change.gone { gone.append(id) }
        }
        guard !isLoading else { return }
        if !new.isEmpty { delegate?.contentListing(self, didChange: .insert(new)) }
        if !changed.isEmpty { delegate?.contentListing(self, didChange: .update(changed)) }
        // An id that one file has left another may have now.
        gone.removeAll { library.tracks[$0] != nil }
        if !gone.isEmpty { delegate?.contentListing(self, didChange: .remove(gone)) }
    }

    /// All that is known to have changed was read.
    private func finish() {
        if rootProblem == nil {
            if isLoading {
                isLoading = false
                goneItems = []
                delegate?.contentListing(self, didChange: .replaceAll)
            }
            context.report(problem: library.problem(below: folder))
        }
        lookAgain()
    }
}

// MARK: What wakes it

extension Music {
    /// Where not all can be watched, or read, it is looked at again so many seconds later.
    private static let unwatchedPause: Int64 = 300
    private static let awayPause: Int64 = 5

    private func watch(_ path: FilePath) {
        watches.watch(path, below: folder, by: context) { [weak self] in
            self?.work.list(path)
            self?.goOn()
        }
    }

    private func warnOfUnwatched() {
        guard !hasWarned, let reason = watches.problem else { return }
        hasWarned = true
        context.logger.warning(
            "\(reason) Folders that can't be watched are looked at every \(Self.unwatchedPause) seconds."
        )
    }

    /// The folder can't be read: what was known of it stays.
    private func lose(_ reason: String, isAway: Bool, remedy: String? = nil) {
        work = Workload()
        rootProblem = reason
        // It may come back as another one.
        watches.dropAll()
        let remedy = remedy ?? (isAway ? nil : "the daemon's user needs the right to read it")
        let wait =
            isLoading
            ? "It is looked for every \(Self.awayPause) seconds."
            : "What was in it is shown until it is back."
        context.report(
            problem: "\(folder) can't be read: \(reason)\(remedy.map { "; \($0)" } ?? ""). \(wait)")
    }

    /// Whether another folder took the place of the one that was there at the start, which a worker may not read.
    private func isAnother(_ problem: FolderListing.Problem) -> Bool {
        problem.isForbidden && (wasAway || device != nil) && WorkerProcess.mayRead(folder: folder)
    }

    /// Schedules the next look for changes without notifications.
    private func lookAgain() {
        let isRetried =
            rootProblem != nil || !library.closed.isEmpty || !library.closedFiles.isEmpty
        if isRetried, retry?.isActive != true {
            retry = try? context.after(.seconds(Self.awayPause)) { [weak self] in self?.tryAgain() }
        }
        if rootProblem == nil { warnOfUnwatched() }
        let pauses = [rescan, watches.problem == nil ? 0 : Self.unwatchedPause].filter { $0 > 0 }
        guard let pause = pauses.min() else { return }
        if let set = rescanning, set.wakeup.isActive, set.pause <= pause { return }
        rescanning?.wakeup.cancel()
        rescanning = (try? context.after(.seconds(pause)) { [weak self] in self?.reload() })
            .map { ($0, pause) }
    }

    private func tryAgain() {
        if rootProblem != nil {
            work.list(.root)
        } else {
            for path in library.closed { work.list(path) }
            for path in library.closedFiles { work.read(path) }
        }
        goOn()
    }
}

/// Exports the list.
@c(atrium_plugin_org_atrium_music)
public func musicPlugin() -> UnsafeMutableRawPointer { exportPlugin(Music.self) }
