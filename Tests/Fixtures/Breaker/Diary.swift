import AtriumKit

/// A list whose file has a place of its own where no setting names another.
final class Diary: ContentListing {
    private static let file = Setting.path("file", "What to read.").defaulting(to: "/etc/passwd")
    static var settings: [Setting] { [file.setting] }

    weak var delegate: (any ContentListingDelegate)?
    var items: [Item] { [] }

    init(context: ComponentContext) throws {}

    func put(_ items: [Item], _ context: CommandContext) throws(Refusal) -> ContentDecision {
        throw Refusal(.readOnly, "The file is what it is.")
    }

    func remove(_ ids: [String], _ context: CommandContext) throws(Refusal) -> [Change] { [] }

    func apply(_ change: Change) {}
}

/// The plugin's entry.
@c(atrium_plugin_org_atrium_diary)
public func diaryEntry() -> UnsafeMutableRawPointer { exportPlugin(Diary.self) }
