import AtriumKit
import Glibc

/// A list that is the file `notes.txt` of a folder: each line is an item, `ID|TITLE|PARENT`; its picture, where there is
/// a field `cover`, is the file `ID.cover`.
///
/// It reads in the background, keeps the last good copy of a file that is broken, and says how many screens
/// show it.
final class Notebook: ImageProviding {
    private static let folder = Setting.path("folder", "Where notes.txt is.").required()
    static var settings: [Setting] { [folder.setting] }

    weak var delegate: (any ContentListingDelegate)?
    private(set) var items: [Item] = []
    private(set) var isLoading = true
    private let context: ComponentContext
    private let folder: String
    private var file: String { folder + "/notes.txt" }
    private var isReading = false
    private var isReadAgain = false
    private var asked: Int64 = 0

    init(context: ComponentContext) throws {
        self.context = context
        folder = context.settings[Self.folder]
        try context.watch(folder) { [weak self] in self?.read() }
        read()
    }

    func reload() {
        context.publish("reloads")
        read()
    }

    func didChangeAudience(_ screens: Int) {
        context.publish("audience", ["screens": .int(Int64(screens))])
    }

    private func read() {
        guard !isReading else {
            isReadAgain = true
            return
        }
        isReading = true
        let (file, hasCovers) = (file, context.field("cover") != nil)
        context.background {
            try Self.items(of: file, hasCovers: hasCovers)
        } then: { [weak self] in
            self?.take($0)
        }
    }

    private func take(_ result: Result<[Item], any Error>) {
        isReading = false
        switch result {
        case .success(let items):
            context.report(problem: nil)
            if isLoading || items != self.items {
                isLoading = false
                self.items = items
                delegate?.contentListing(self, didChange: .replaceAll)
            }
        case .failure(let error): context.report(problem: "\(error)")
        }
        if isReadAgain {
            isReadAgain = false
            read()
        }
    }

    private static func items(of file: String, hasCovers: Bool) throws -> [Item] {
        guard let stream = fopen(file, "re") else {
            throw Refusal("\(file): \(String(cString: strerror(errno)))")
        }
        defer { fclose(stream) }
        var items: [Item] = []
        var line: UnsafeMutablePointer<CChar>?
        var size = 0
        defer { free(line) }
        while getline(&line, &size, stream) > 0, let text = line.map({ String(cString: $0) }) {
            let parts = text.filter { $0 != "\n" }.split(separator: "|").map(String.init)
            guard parts.count > 1 else {
                throw Refusal("\(file):\(items.count + 1): a line is ID|TITLE or ID|TITLE|PARENT")
            }
            var fields: [String: Value] = ["title": .text(parts[1])]
            if hasCovers { fields["cover"] = .text("source:\(parts[0])") }
            items.append(
                Item(id: parts[0], fields: fields, parent: parts.count > 2 ? parts[2] : nil))
        }
        return items
    }

    /// How often it was asked, where there is a field `asked`.
    func details(of id: String) -> [String: Value]? {
        guard context.field("asked") != nil else { return nil }
        asked += 1
        if asked == 2 {
            // As if it had found out more in the background.
            context.background {
                true
            } then: { [weak self] _ in
                guard let self, let item = items.first(where: { $0.id == id }) else { return }
                delegate?.contentListing(self, didChange: .update([item]))
            }
        }
        return ["asked": .int(asked)]
    }

    func image(of id: String, field: String) -> ImageWork? {
        let path = "\(folder)/\(id).cover"
        return {
            guard let stream = fopen(path, "re") else {
                throw Refusal("\(id).cover: \(String(cString: strerror(errno)))")
            }
            defer { fclose(stream) }
            var bytes = [UInt8](repeating: 0, count: ItemImage.mostBytes + 1)
            bytes.removeLast(bytes.count - fread(&bytes, 1, bytes.count, stream))
            return bytes
        }
    }

    func put(_ items: [Item], _ context: CommandContext) throws(Refusal) -> ContentDecision {
        throw Refusal(.readOnly, "The file is what it is.")
    }

    func remove(_ ids: [String], _ context: CommandContext) throws(Refusal) -> [Change] {
        throw Refusal(.readOnly, "The file is what it is.")
    }

    func apply(_ change: Change) {}
}

/// The plugin's entry.
@c(atrium_plugin_org_atrium_notebook)
public func notebookEntry() -> UnsafeMutableRawPointer { exportPlugin(Notebook.self) }
