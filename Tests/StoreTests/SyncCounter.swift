import Foundation
import Synchronization

/// Counts this process's calls of fdatasync and fsync, by the file they are about.
///
/// The two functions below take the C library's place for every library of the process: the linker
/// lets an executable's own definitions go first. So SQLite's own calls are what is counted.
enum SyncCounter {
    private static let counts = Mutex<[String: Int]>([:])

    /// How often files whose path starts so were synced.
    static func count(under prefix: String) -> Int {
        counts.withLock { $0.filter { $0.key.hasPrefix(prefix) }.values.reduce(0, +) }
    }

    fileprivate static func note(_ descriptor: CInt) {
        var buffer = [CChar](repeating: 0, count: 4_096)
        let length = readlink("/proc/self/fd/\(descriptor)", &buffer, buffer.count)
        guard length > 0 else { return }
        let path = String(
            decoding: buffer.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        counts.withLock { $0[path, default: 0] += 1 }
    }

    fileprivate typealias Sync = @convention(c) (CInt) -> CInt

    fileprivate static let dataSync = next("fdatasync")
    fileprivate static let fullSync = next("fsync")

    /// The C library's function: the next definition after ours (RTLD_NEXT is -1).
    private static func next(_ name: String) -> Sync? {
        dlsym(UnsafeMutableRawPointer(bitPattern: -1), name).map {
            unsafeBitCast($0, to: Sync.self)
        }
    }
}

/// Notes the call and makes it.
@c(fdatasync)
public func countedDataSync(_ descriptor: CInt) -> CInt {
    SyncCounter.note(descriptor)
    return SyncCounter.dataSync?(descriptor) ?? -1
}

/// Notes the call and makes it.
@c(fsync)
public func countedFullSync(_ descriptor: CInt) -> CInt {
    SyncCounter.note(descriptor)
    return SyncCounter.fullSync?(descriptor) ?? -1
}
