internal import AtriumKit

/// Which folders are watched, and which can't be.
struct FolderWatches {
    private var watches: [FilePath: Wakeup] = [:]
    /// Folders whose changes are not reported, and why.
    private var unwatched: [FilePath: String] = [:]

    /// Why one of them can't be watched, in a sentence; nil: all are.
    var problem: String? { unwatched.first?.value }

    /// Watches a folder below `root` unless it is already.
    mutating func watch(
        _ path: FilePath, below root: String, by context: ComponentContext,
        _ handler: @escaping () -> Void
    ) {
        guard watches[path] == nil else { return }
        // In another spelling it would be another folder.
        guard let name = String(validating: path.bytes, as: UTF8.self) else {
            unwatched[path] = "'\(path.shown)' can't be watched: its path is not UTF-8."
            return
        }
        do throws(Refusal) {
            watches[path] = try context.watch(path == .root ? root : "\(root)/\(name)", handler)
            unwatched[path] = nil
        } catch {
            unwatched[path] = error.reason
        }
    }

    /// Watches a folder no longer.
    mutating func drop(_ path: FilePath) {
        watches.removeValue(forKey: path)?.cancel()
        unwatched[path] = nil
    }

    /// Watches none.
    mutating func dropAll() {
        for watch in watches.values { watch.cancel() }
        (watches, unwatched) = ([:], [:])
    }

    /// It is tried to list a folder again and again, which need not be watched for that.
    mutating func excuse(_ path: FilePath) { unwatched[path] = nil }
}
