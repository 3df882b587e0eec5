import AtriumKit
internal import Glibc

/// The files that the steps of an example write, move and erase, and the list that a component makes of them.
///
/// They are in a temporary folder; `$FOLDER` in the settings is replaced by its path.
struct ExampleSource {
    let settings: [String: Value]
    let fields: [Field]
    private let makeDriver: @Sendable () async throws -> any ConformanceDriver
    private let folder: String
    /// Whether a file was changed, so that the list may change a little later.
    private var isFollowed = false
    /// The items as the component reported them.
    private var reported: [String: Item]?

    /// The number of polls for a list that has to change.
    private static let looks = 100

    init(
        _ settings: [String: Value], _ fields: [Field],
        _ makeDriver: @escaping @Sendable () async throws -> any ConformanceDriver
    ) throws {
        let root = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var name = Array("\(root)/atrium-example-XXXXXX".utf8CString)
        guard mkdtemp(&name) != nil else {
            throw ExampleProblem("a folder can't be made in \(root): \(Self.lastError)")
        }
        let folder = String(decoding: name.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        self.folder = folder
        self.settings = settings.mapValues { $0.replacing("$FOLDER", with: folder) }
        self.fields = fields
        self.makeDriver = makeDriver
    }

    /// Removes the folder and the files in it.
    func removeFolder() {
        if let entries = opendir(folder) {
            while let entry = readdir(entries) {
                let name = withUnsafePointer(to: &entry.pointee.d_name) {
                    $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
                }
                if name != ".", name != ".." { unlink("\(folder)/\(name)") }
            }
            closedir(entries)
        }
        rmdir(folder)
    }

    /// Runs a step, and reports the change to the component.
    mutating func change(_ step: ExampleStep, for component: any ConformanceDriver) async throws {
        if reported == nil { try await follow(component) }
        if step.verb == .wait {
            return try await component.advance(
                by: .milliseconds(Int64((step.argument.number ?? 0) * 1000)))
        }
        isFollowed = true
        let path = try path(step.argument.text, in: step)
        switch step.verb {
        case .write: try write(step)
        case .erase: try check(unlink(path), step)
        default:
            let new = try self.path(try step.members.text("to"), in: step)
            try check(rename(path, new), step)
            try await component.fileChanged(new)
        }
        try await component.fileChanged(path)
    }

    /// Writes a file that is there before the component starts.
    ///
    /// It is not written again afterwards: the worker of a source ends if another file takes the place of the one that
    /// it may read, at a moment that no later step could wait for.
    mutating func prepare(_ step: ExampleStep) throws {
        try write(step)
        isFollowed = true
    }

    /// Writes a file as editors do: a new file replaces the old one.
    private func write(_ step: ExampleStep) throws {
        let path = try path(step.argument.text, in: step)
        let bytes = Array((try step.members.text("text") ?? "").utf8)
        let file = open(path + ".new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        try check(file, step)
        defer { close(file) }
        guard Glibc.write(file, bytes, bytes.count) == bytes.count else {
            throw ExampleProblem("\(step.path): the file can't be written: \(Self.lastError)")
        }
        try check(rename(path + ".new", path), step)
    }

    /// Returns the list, once it is as expected or five seconds have passed.
    func awaited(
        _ expected: Value?, _ found: Value, of component: any ConformanceDriver,
        _ read: () async throws -> Value
    ) async throws -> Value {
        var found = found
        guard isFollowed, let expected else { return found }
        for _ in 0..<Self.looks where found.difference(from: expected, at: "") != nil {
            await component.settle()
            found = try await read()
        }
        return found
    }

    /// Creates one more component; its reports count from now on.
    mutating func restarted() async throws -> any ConformanceDriver {
        reported = nil
        let component = try await makeDriver()
        _ = try await component.start(settings: settings, fields: fields)
        return component
    }

    /// Returns the difference between the list and the reported changes, or the list of a fresh start; nil if there is
    /// none.
    mutating func difference(of component: any ConformanceDriver) async throws -> String? {
        guard isFollowed else { return nil }
        let items = try await component.byID()
        try await follow(component)
        if let reported, reported != items {
            return "what is reported to the delegate is not what there is: reported are "
                + "\(reported.keys.sorted()), and there are \(items.keys.sorted())"
        }
        let fresh = try await makeDriver()
        _ = try await fresh.start(settings: settings, fields: fields)
        var state: [ComponentEvent] = []
        for _ in 0..<Self.looks / 4 where !state.contains(.contents(.replaceAll)) {
            await fresh.settle()
            state = try await fresh.restore([])
        }
        let listed = try await fresh.byID()
        await fresh.stop()
        // A new component that can't read its source lists nothing, and the previous one keeps its items.
        guard state.contains(.contents(.replaceAll)), listed != items else { return nil }
        return "a fresh start lists \(listed.keys.sorted()), and it \(items.keys.sorted())"
    }

    /// Applies the changes that the component reported since the last call.
    private mutating func follow(_ component: any ConformanceDriver) async throws {
        let events = try await component.takeReported()
        guard var items = reported, !events.contains(.contents(.replaceAll)) else {
            reported = try await component.byID()
            return
        }
        for case .contents(let change) in events {
            switch change {
            case .insert(let some), .update(let some): for item in some { items[item.id] = item }
            case .remove(let ids): for id in ids { items[id] = nil }
            default: break
            }
        }
        reported = items
    }

    private func path(_ name: String?, in step: ExampleStep) throws -> String {
        guard let name, !["", ".", ".."].contains(name),
            !name.contains(where: { "/\0".contains($0) })
        else {
            throw ExampleProblem("\(step.path): expected the name of a file, without folders")
        }
        return "\(folder)/\(name)"
    }

    private func check(_ result: Int32, _ step: ExampleStep) throws {
        guard result < 0 else { return }
        throw ExampleProblem("\(step.path): \(step.verb.rawValue) failed: \(Self.lastError)")
    }

    private static var lastError: String { String(cString: strerror(errno)) }
}

extension ConformanceDriver {
    /// Returns the listed items, in order.
    func allItems() async throws -> [Item] {
        try await restore([]).flatMap { event -> [Item] in
            switch event {
            case .contents(.insert(let items)), .contents(.update(let items)): items
            default: []
            }
        }
    }

    /// Returns the listed items, by id.
    fileprivate func byID() async throws -> [String: Item] {
        Dictionary(try await allItems().map { ($0.id, $0) }) { _, last in last }
    }
}

extension Value {
    /// Returns the value with a word replaced in all texts.
    fileprivate func replacing(_ word: String, with other: String) -> Value {
        switch self {
        case .text(let text):
            .text(
                text.split(separator: word, omittingEmptySubsequences: false).joined(
                    separator: other))
        case .list(let values): .list(values.map { $0.replacing(word, with: other) })
        case .object(let members): .object(members.mapValues { $0.replacing(word, with: other) })
        default: self
        }
    }
}
