import ArgumentParser
import AtriumFormats

/// `CONTAINER` or `CONTAINER/ITEM`; an item's id may hold slashes itself.
struct Target: Equatable {
    let container: String
    let item: String?

    init?(argument: String) {
        let parts = argument.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let container = parts.first, !container.isEmpty else { return nil }
        self.container = String(container)
        item = parts.count > 1 ? Target.id(String(parts[1])) : nil
        guard item != "" else { return nil }
    }

    /// The target that an argument names; else throws a `ValidationError` with the form.
    static func parse(_ argument: String) throws -> Target {
        guard let target = Target(argument: argument) else {
            throw ValidationError("write CONTAINER or CONTAINER/ITEM.")
        }
        return target
    }

    /// The item's id that an argument names, which may be spelled in another Unicode form than ids are.
    static func id(_ argument: String) -> String { ItemText.normal(argument) }

    var description: String { item.map { "\(container)/\($0)" } ?? container }

    /// The item's id, where a command is about an item alone.
    func requiredItem() throws -> String {
        guard let item else {
            throw CommandFailure(
                "'\(container)' names a container, and this is about an item",
                hint: "write \(container)/ITEM.", status: .usage)
        }
        return item
    }
}

/// `SECTION=FILTER`.
struct FilterChoice: Equatable {
    let section: String
    let filter: String

    init?(argument: String) {
        guard let separator = argument.firstIndex(of: "="), separator > argument.startIndex else {
            return nil
        }
        section = String(argument[..<separator])
        filter = String(argument[argument.index(after: separator)...])
        guard !filter.isEmpty else { return nil }
    }

    /// The choice that an argument names; else throws a `ValidationError` with the form.
    static func parse(_ argument: String) throws -> FilterChoice {
        guard let choice = FilterChoice(argument: argument) else {
            throw ValidationError("write SECTION=FILTER, as in genre=drama.")
        }
        return choice
    }

    /// The choices by section, as calls want them; nil where there are none.
    static func selection(_ choices: [FilterChoice]) -> [String: [String]]? {
        guard !choices.isEmpty else { return nil }
        var selection: [String: [String]] = [:]
        for choice in choices { selection[choice.section, default: []].append(choice.filter) }
        return selection
    }
}

struct ComponentOption: ParsableArguments {
    @Option(
        help: ArgumentHelp("Which component; by default the first.", valueName: "name"),
        completion: .components)
    var component: String?
}

/// Which list of items.
struct ListOption: ParsableArguments {
    @Option(
        help: ArgumentHelp("Which list; by default the first.", valueName: "name"),
        completion: .fittingComponents)
    var component: String?
}

/// How much is listed.
struct LimitOption: ParsableArguments {
    /// How many items, comments or ballots a page of the daemon holds at most.
    static let pageLength = 1000

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Maximum number; by default all.", valueName: "n"),
        transform: Self.number)
    var limit: Int?

    /// The number that an argument is; else throws a `ValidationError` with what it may be.
    private static func number(_ argument: String) throws -> Int {
        guard let number = Int(argument) else {
            throw ValidationError("a whole number from 1 to \(Int.max).")
        }
        return number
    }

    func validate() throws {
        guard limit.map({ $0 > 0 }) ?? true else {
            throw ValidationError("--limit is at least 1.")
        }
    }

    /// How many the next page is asked for, where so many are left to list; nil: as many as it likes to have.
    static func next(of rest: Int?) -> Int? { rest.map { min($0, pageLength) } }
}

/// Which component, and on whose behalf.
struct SubjectOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Which component; by default the first fitting.", valueName: "name"),
        completion: .fittingComponents)
    var component: String?

    @Option(
        help: ArgumentHelp(
            "The person to act for, for front ends: NAMESPACE:NAME.", valueName: "actor"))
    var actor: String?
}

/// What narrows a list, and its order.
struct QueryOptions: ParsableArguments {
    @Option(
        name: .long, parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "Only what this filter lets through. Several add up within a section and narrow "
                + "across sections. Of a section of ranges: FROM..TO, either end may be left out.",
            valueName: "section=filter"),
        completion: .filters, transform: FilterChoice.parse)
    var filter: [FilterChoice] = []

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Only what contains this text, without regard to case and accents.",
            valueName: "text"))
    var search: String?

    var selection: [String: [String]]? { FilterChoice.selection(filter) }
}

/// By what a list is sorted.
struct SortOptions: ParsableArguments {
    @Option(
        name: .long, parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "Sort by this field, '-' before it for descending; also votes.score, votes.count "
                + "and comments.count. Several: by the first, then by the next.",
            valueName: "[-]field"),
        completion: .orders)
    var sort: [String] = []

    /// The fields, commas taken apart; nil where there are none.
    var fields: [String]? {
        let fields = sort.flatMap { $0.split(separator: ",").map(String.init) }
        return fields.isEmpty ? nil : fields
    }

    func validate() throws {
        let names = sort.flatMap { $0.split(separator: ",", omittingEmptySubsequences: false) }
        guard !names.contains(where: \.isEmpty) else {
            throw ValidationError("--sort names a field, or several with commas between.")
        }
    }
}
