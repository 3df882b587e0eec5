internal import AtriumKit
internal import Dispatch
internal import Glibc
internal import NIOCore
internal import NIOPosix

/// The files and folders that the components of one loop watch, through one inotify while there are any.
///
/// A file is watched through its folder, so that a file that is created later, or replaced by another, is noticed.
/// Changes within ``settling`` result in one call. A folder that goes away is looked for every few seconds.
///
/// Use it on the loop only.
final class FileWatches {
    /// How long after the first change a watch is called, so that a writer of several files can finish.
    static let settling = TimeAmount.milliseconds(100)
    /// How often a folder that is gone is looked for.
    private static let patience = TimeAmount.seconds(5)
    private static let events = UInt32(
        IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF
            | IN_MOVE_SELF | IN_ONLYDIR)

    /// One watch of a component.
    private struct Watch {
        let folder: String
        /// The name of the file in the folder; nil: any file.
        let name: String?
        let path: String
        /// Called after a change, with a sentence if the file can't be read any more.
        let body: (String?) -> Void
        /// inotify's number for its folder; nil: the folder is gone.
        var key: Int32?
    }

    private let loop: any EventLoop
    private var watches: [UInt64: Watch] = [:]
    /// The watches of each folder, by inotify's number.
    private var folders: [Int32: Set<UInt64>] = [:]
    private var last: UInt64 = 0
    /// The watches to call next.
    private var due: Set<UInt64> = []
    private var isReportScheduled = false
    private var isSearching = false
    /// The inotify, and the channel that reads it.
    private var descriptor: Int32?
    private var channel: EventLoopFuture<any Channel>?

    init(loop: any EventLoop) { self.loop = loop }

    deinit { close() }

    /// Watches a file or a folder at an absolute path; `body` is called on the loop after each change, with a
    /// sentence if it can't be read any more; returns the number to remove the watch with.
    func add(_ path: String, _ body: @escaping (String?) -> Void) throws(Refusal) -> UInt64 {
        var watch = try Self.watch(path, body)
        watch.key = try follow(watch)
        last += 1
        watches[last] = watch
        if let key = watch.key { folders[key, default: []].insert(last) }
        return last
    }

    /// Removes a watch.
    func remove(_ number: UInt64) {
        due.remove(number)
        guard let watch = watches.removeValue(forKey: number) else { return }
        leave(number, watch.key)
        if watches.isEmpty { close() }
    }

    private static func watch(
        _ path: String, _ body: @escaping (String?) -> Void
    ) throws(Refusal) -> Watch {
        var info = Glibc.stat()
        let isThere = stat(path, &info) == 0
        guard isThere || errno == ENOENT else { throw refusal(path, errno) }
        let type = info.st_mode & S_IFMT
        guard !isThere || type == S_IFREG || type == S_IFDIR else {
            throw Refusal("\(path) can't be watched: it is neither a file nor a folder.")
        }
        if isThere, let code = unreadable(path) { throw refusal(path, code) }
        if isThere, type == S_IFDIR {
            return Watch(folder: path, name: nil, path: path, body: body)
        }
        let cut = path.lastIndex(of: "/") ?? path.startIndex
        return Watch(
            folder: cut == path.startIndex ? "/" : String(path[..<cut]),
            name: String(path[path.index(after: cut)...]), path: path, body: body)
    }

    /// Why this process can't read a path, as an `errno`; nil: it can, or there is no such file.
    private static func unreadable(_ path: String) -> Int32? {
        let opened = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
        if opened >= 0 { Glibc.close(opened) }
        return opened < 0 && errno != ENOENT ? errno : nil
    }

    private static func refusal(_ path: String, _ code: Int32) -> Refusal {
        let reason =
            switch code {
            case EACCES:
                "it can't be read: the daemon's user needs the right to, and for a worker the plugin's "
                    + "manifest has to name the setting that it comes from under \"paths\""
            case EMFILE:
                "the user has as many inotify instances as they may: raise "
                    + "fs.inotify.max_user_instances, or run fewer workers that watch files"
            case ENOSPC:
                "the user watches as many folders as they may: raise fs.inotify.max_user_watches"
            case ENOENT, ENOTDIR: "its folder is not there"
            default: String(cString: strerror(code))
            }
        return Refusal("\(path) can't be watched: \(reason).")
    }
}

// MARK: The kernel's side

extension FileWatches {
    private func follow(_ watch: Watch) throws(Refusal) -> Int32 {
        let descriptor = try opened(watch.path)
        let key = inotify_add_watch(descriptor, watch.folder, Self.events)
        guard key >= 0 else {
            let code = errno
            if watches.isEmpty { close() }
            throw Self.refusal(watch.path, code)
        }
        return key
    }

    private func opened(_ path: String) throws(Refusal) -> Int32 {
        if let descriptor { return descriptor }
        let made = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
        guard made >= 0 else { throw Self.refusal(path, errno) }
        let back = NIOLoopBound(Back(watches: self), eventLoop: loop)
        let channel: EventLoopFuture<any Channel> = NIOPipeBootstrap(group: loop)
            // inotify needs a buffer for at least one event with the longest name.
            .channelOption(
                .recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 16 << 10)
            )
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        Reader { back.value.watches?.read($0) })
                }
            }
            .takingOwnershipOfDescriptor(input: made).map { $0 }
        channel.whenFailure { _ in Glibc.close(made) }
        descriptor = made
        self.channel = channel
        return made
    }

    /// Closes the inotify: on a thread, because the kernel takes some 12 ms to close its last descriptor.
    private func close() {
        if let descriptor {
            channel?.whenSuccess { channel in
                // The number of one that is closed may be another file's.
                guard channel.isActive else { return }
                let last = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
                channel.closeFuture.whenComplete { _ in
                    guard last >= 0 else { return }
                    DispatchQueue(label: "atrium.watches", qos: .utility).async {
                        Glibc.close(last)
                    }
                }
                channel.close(promise: nil)
            }
        }
        (channel, descriptor, folders, due) = (nil, nil, [:], [])
    }

    private func leave(_ number: UInt64, _ key: Int32?) {
        guard let key, folders[key]?.remove(number) != nil, folders[key]?.isEmpty == true else {
            return
        }
        folders[key] = nil
        if let descriptor { inotify_rm_watch(descriptor, key) }
    }

    /// A weak reference, so that a channel or timer does not keep the watches alive.
    private struct Back {
        weak var watches: FileWatches?
    }

    /// Passes inotify's events to a closure.
    private final class Reader: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        private let handle: (ByteBuffer) -> Void

        init(_ take: @escaping (ByteBuffer) -> Void) { self.handle = take }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            handle(unwrapInboundIn(data))
        }
    }
}

// MARK: What happened

extension FileWatches {
    private func read(_ buffer: ByteBuffer) {
        var buffer = buffer
        while let key = buffer.readInteger(endianness: .host, as: Int32.self),
            let mask = buffer.readInteger(endianness: .host, as: UInt32.self),
            buffer.readInteger(endianness: .host, as: UInt32.self) != nil,
            let length = buffer.readInteger(endianness: .host, as: UInt32.self),
            let name = buffer.readBytes(length: Int(length))
        {
            handle(key, mask, String(decoding: name.prefix { $0 != 0 }, as: UTF8.self))
        }
        scheduleReport()
    }

    private func handle(_ key: Int32, _ mask: UInt32, _ name: String) {
        if mask & UInt32(IN_Q_OVERFLOW) != 0 {
            due.formUnion(watches.keys)
        } else if mask & UInt32(IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED | IN_UNMOUNT) != 0 {
            markRemoved(key)
        } else {
            for number in folders[key] ?? [] {
                guard let watch = watches[number], watch.name == nil || watch.name == name,
                    mask & UInt32(IN_CREATE) == 0 || Self.isWhole(watch.folder + "/" + name)
                else { continue }
                due.insert(number)
            }
        }
    }

    /// Whether a new file is complete; a regular file that was just created is reported when its writer closes it.
    private static func isWhole(_ path: String) -> Bool {
        var info = Glibc.stat()
        return lstat(path, &info) == 0 && (info.st_mode & S_IFMT != S_IFREG || info.st_nlink > 1)
    }

    /// Marks the watches of a folder that was removed or moved.
    private func markRemoved(_ key: Int32) {
        guard let numbers = folders.removeValue(forKey: key) else { return }
        if let descriptor { inotify_rm_watch(descriptor, key) }
        for number in numbers { watches[number]?.key = nil }
        due.formUnion(numbers)
    }

    private func scheduleReport() {
        guard !isReportScheduled, !due.isEmpty else { return }
        isReportScheduled = true
        let back = NIOLoopBound(Back(watches: self), eventLoop: loop)
        loop.scheduleTask(in: Self.settling) { back.value.watches?.report() }
    }

    private func report() {
        isReportScheduled = false
        search()
        let numbers = due.sorted()
        due = []
        for number in numbers {
            guard let watch = watches[number] else { continue }
            watch.body(problem(with: watch))
        }
    }

    private func problem(with watch: Watch) -> String? {
        guard Self.unreadable(watch.path) == EACCES else { return nil }
        return "\(watch.path) changed and can't be read. If the file was replaced: a "
            + "worker can read only the file present at its start; configure its folder instead."
    }

    /// Looks for folders that are gone; watches of those that are back are called.
    private func search() {
        for (number, watch) in watches where watch.key == nil {
            guard let key = try? follow(watch) else { continue }
            watches[number]?.key = key
            folders[key, default: []].insert(number)
            due.insert(number)
        }
        guard !isSearching, watches.values.contains(where: { $0.key == nil }) else { return }
        isSearching = true
        let back = NIOLoopBound(Back(watches: self), eventLoop: loop)
        loop.scheduleTask(in: Self.patience) {
            guard let watches = back.value.watches else { return }
            watches.isSearching = false
            watches.search()
            watches.scheduleReport()
        }
    }
}
