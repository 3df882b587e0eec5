import Glibc
import JSONCodec
import Logging

/// Records in a file which component is being made in the daemon's own process.
///
/// A component whose `init` hangs blocks the loop until the process is ended from outside. From the file the next
/// process knows which plugin caused that.
///
/// The file is not synced: it must survive the process, not the machine. If it can't be opened, that is logged, and nothing is noted.
final class InitNote {
    /// The component that was being made.
    struct Component: Equatable {
        var container: String
        var component: String
        var plugin: String
    }

    private static let name = "atrium.making"

    /// The component that the previous process was making when it ended.
    let left: Component?
    private let descriptor: Int32

    /// Reads the note of the previous process, which lies beside the store's file, and empties it.
    init(beside file: String, logger: Logger) {
        let directory = file.lastIndex(of: "/").map { file[...$0] } ?? ""
        descriptor = NoteFile.open(directory + Self.name, O_RDWR | O_CREAT, logger)
        var bytes = [UInt8](repeating: 0, count: 4_096)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        left = count > 0 ? Component(Array(bytes.prefix(count))) : nil
        if count > 0 { ftruncate(descriptor, 0) }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Records a component while it is being made.
    func during<T>(_ component: Component, _ make: () throws -> T) rethrows -> T {
        let bytes = component.bytes
        _ = bytes.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) }
        defer { ftruncate(descriptor, 0) }
        return try make()
    }
}

extension InitNote.Component {
    init?(_ bytes: [UInt8]) {
        guard let value: JSONValue = try? JSON.decode(from: bytes) else { return nil }
        self.init(value)
    }

    init?(_ value: JSONValue) {
        guard let container = value["container"]?.string,
            let component = value["component"]?.string, let plugin = value["plugin"]?.string
        else { return nil }
        self.init(container: container, component: component, plugin: plugin)
    }

    var bytes: [UInt8] {
        Payload.object {
            $0.member("container", container)
            $0.member("component", component)
            $0.member("plugin", plugin)
        }
    }

    /// The problem, as a message.
    var problem: String {
        let what = "The previous daemon process ended while it made "
        let why = "init of the plugin \(plugin) hangs or crashes."
        return isDelegate
            ? what + "\(component) of \(container): \(why) Take the delegate out of the definition."
            : what
                + "the component \(container)/\(component): \(why) Give it 'isolation: process', "
                + "or take the component out."
    }

    /// Whether it is a delegate; a component's name has no dot.
    var isDelegate: Bool { component.contains(".") }
}

/// The notes about this process's components and delegates, and those of the previous process.
struct ProcessNotes {
    let making: InitNote
    let crash: CrashNote
}
