import Glibc

/// Which component or delegate is being called in the daemon's own process, for a handler of crashes: it writes
/// that into a file, by which the next process knows whose fault the end may have been.
///
/// What is called stands in memory, so that a call costs two stores; nothing is written before there is a crash. An end
/// by `kill -9`, which any call may meet, is nobody's fault, and leaves nothing.
///
/// Unchecked: it is touched on the event loop alone.
public final class CrashNote: @unchecked Sendable {
    private static let name = "atrium.crashed"

    /// What the process before was calling when it crashed.
    let left: InitNote.Component?
    private let descriptor: Int32
    /// What is being called, as the file is to say it; nil: nothing.
    ///
    /// The handler may read it at any time.
    private let text: UnsafeMutablePointer<UnsafePointer<CChar>?>

    /// Reads what the process before left; ``forgetLeft()`` empties the file.
    ///
    /// - Parameter file: the store's: the note lies beside it.
    init(beside file: String) {
        let directory = file.lastIndex(of: "/").map { file[...$0] } ?? ""
        descriptor = open(directory + Self.name, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        var bytes = [UInt8](repeating: 0, count: 4_096)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        left = count > 0 ? InitNote.Component(Array(bytes.prefix(count))) : nil
        text = .allocate(capacity: 1)
        text.initialize(to: nil)
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
        text.deallocate()
    }

    /// What the process before left is known elsewhere from now on.
    func forgetLeft() { ftruncate(descriptor, 0) }

    /// Installs a handler of crashes, which lives as long as this.
    ///
    /// - Parameter install: is given the file's descriptor, and where the text stands that is to be written there, if
    ///   there is one.
    public func install(
        _ install: (_ descriptor: Int32, _ text: UnsafePointer<UnsafePointer<CChar>?>) -> Void
    ) {
        if descriptor >= 0 { install(descriptor, UnsafePointer(text)) }
    }

    /// Notes what is called during a call; nil: nothing that is not noted already.
    func during<T>(_ called: CrashText?, _ body: () throws -> T) rethrows -> T {
        guard let called else { return try body() }
        return try mark(called).during(body)
    }

    /// What notes a call that is made often; both outlive it.
    func mark(_ called: CrashText) -> CrashMark { CrashMark(place: text, bytes: called.bytes) }
}

/// Notes a call as ``CrashNote/during(_:_:)`` does, with no reference to be counted.
struct CrashMark {
    fileprivate let place: UnsafeMutablePointer<UnsafePointer<CChar>?>
    fileprivate let bytes: UnsafePointer<CChar>

    @inline(__always)
    func during<T>(_ body: () throws -> T) rethrows -> T {
        let before = place.pointee
        place.pointee = bytes
        defer { place.pointee = before }
        return try body()
    }
}

/// A component or a delegate as ``CrashNote`` has it written.
///
/// Used on the event loop alone.
final class CrashText {
    /// Ends with a zero.
    fileprivate let bytes: UnsafePointer<CChar>

    init(_ component: InitNote.Component) {
        let text = component.bytes.map(CChar.init(bitPattern:)) + [0]
        let bytes = UnsafeMutablePointer<CChar>.allocate(capacity: text.count)
        bytes.initialize(from: text, count: text.count)
        self.bytes = UnsafePointer(bytes)
    }

    deinit { bytes.deallocate() }
}
