import Glibc
import Logging

/// The record of which component or delegate is being called in the daemon's own process, for a handler of crashes.
///
/// The handler writes the note into a file. From the file the next process knows which plugin may have caused the
/// crash.
///
/// The note is in memory, so that a call costs two stores; the file is written at a crash only. An end by `kill -9`,
/// which may come during any call, is no plugin's fault and leaves no note.
///
/// Unchecked: it is used on the event loop only.
public final class CrashNote: @unchecked Sendable {
    private static let name = "atrium.crashed"

    /// The call that the previous process was making when it crashed.
    let left: InitNote.Component?
    private let descriptor: Int32
    /// The call being made, as the handler writes it into the file; nil: none.
    ///
    /// The handler may read it at any time.
    private let text: UnsafeMutablePointer<UnsafePointer<CChar>?>

    /// Reads what the previous process left beside the store's file; ``clear()`` empties the note.
    init(beside file: String, logger: Logger) {
        let directory = file.lastIndex(of: "/").map { file[...$0] } ?? ""
        descriptor = NoteFile.open(directory + Self.name, O_RDWR | O_CREAT, logger)
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

    /// Empties the file; call it once what the previous process left is recorded elsewhere.
    func clear() { ftruncate(descriptor, 0) }

    /// Installs a handler of crashes, which may use the note for as long as this object lives.
    ///
    /// `install` receives the file's descriptor, and the address of the text that a crash writes there.
    public func install(
        _ install: (_ descriptor: Int32, _ text: UnsafePointer<UnsafePointer<CChar>?>) -> Void
    ) {
        if descriptor >= 0 { install(descriptor, UnsafePointer(text)) }
    }

    /// Records what is called during a call; nil: leaves the note as it is.
    func during<T>(_ called: CrashText?, _ body: () throws -> T) rethrows -> T {
        guard let called else { return try body() }
        return try mark(called).during(body)
    }

    /// Returns a mark for a call that is made often; this object and `called` must outlive the mark.
    func mark(_ called: CrashText) -> CrashMark { CrashMark(place: text, bytes: called.bytes) }
}

/// Records a call, as ``CrashNote/during(_:_:)`` does, without reference counting.
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

/// The text that ``CrashNote`` writes for a component or a delegate.
///
/// Use it on the event loop only.
final class CrashText {
    /// Ends with a zero byte.
    fileprivate let bytes: UnsafePointer<CChar>

    init(_ component: InitNote.Component) {
        let text = component.bytes.map(CChar.init(bitPattern:)) + [0]
        let bytes = UnsafeMutablePointer<CChar>.allocate(capacity: text.count)
        bytes.initialize(from: text, count: text.count)
        self.bytes = UnsafePointer(bytes)
    }

    deinit { bytes.deallocate() }
}
