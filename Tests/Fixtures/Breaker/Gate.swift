import AtriumKit

/// A delegate that refuses low votes, preselects a filter, and answers some searches in words.
final class Gate: ContainerDelegate {
    private let least: Double

    private static let least = Setting.number(
        "least", in: -1000...1000, "The lowest vote that is taken."
    ).defaulting(to: 1)
    override class var settings: [Setting] { [least.setting] }

    required init(context: DelegateContext) throws {
        least = context.settings[Self.least]
        if least == 1000 { throw SettingError("least", "nobody could vote") }
        try super.init(context: context)
    }

    override func votes(
        _ component: ComponentReference, shouldAccept ballot: Ballot
    ) -> Refusal? { ballot.value < least ? Refusal("A vote is \(least) or more here.") : nil }

    override func screen(
        _ screen: ScreenReference, willShow next: ScreenChoices, after shown: ScreenChoices?
    ) -> ScreenChoices {
        var next = next
        switch next.search {
        case "help":
            container?.message("Search for a title.\u{1B}[31m", on: screen.id)
            next.search = ""
        case "crash": fatalError("Told to trap.")
        case "music": container?.lead(screen.id, to: "jukebox", item: nil)
        default: break
        }
        return next
    }

    override func part(
        _ part: PartReference, votes component: ComponentReference, didChange tally: Tally,
        of subject: Subject
    ) {
        tell("\(part.path): \(tally.count) votes of \(component.name) on \(subject.item ?? "it")")
    }

    override func part(
        _ part: PartReference, contents component: ComponentReference,
        didChange change: ContentChange
    ) {
        guard case .remove(let ids) = change else { return }
        tell("\(part.path): \(component.name) without \(ids.joined(separator: ", "))")
    }

    private func tell(_ what: String) { container?.publish("part", ["what": .text(what)]) }
}

/// The delegate's entry: the library holds two plugins.
@c(atrium_plugin_org_atrium_gate)
public func gateEntry() -> UnsafeMutableRawPointer { exportPlugin(Gate.self) }
