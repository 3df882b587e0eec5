internal import AtriumKit
internal import Host
internal import JSONCodec
internal import PluginInterfaces
internal import Varlink

/// A filters component whose sections a plugin's program offers; the worker hosts it.
///
/// The offered filters are kept here: the program is only called when values of the items change, and for filters that
/// it did not offer.
final class ProgramFilters: Filtering, ProgramComponent {
    weak var delegate: (any FilteringDelegate)?
    private(set) var sections: [FilterSection]

    private let context: ComponentContext
    private let program: Program
    private let fields: Set<String>
    private var terms: Terms

    /// The properties that follow from the settings, besides the sections.
    fileprivate struct Terms {
        let observedFields: [String]
        let preselection: Selection
    }

    static func greet(_ program: Program) throws -> Program.Greeting {
        let reply = try program.ask(
            Filters.Hello.self, .init(protocols: [Program.version]), for: Self.self)
        return try .init(reply.protocol, reply.settings, reply.defaults)
    }

    static func invalidSetting(_ error: VarlinkRemoteError) -> SettingError? {
        error.as(Filters.SettingInvalid.self).map { SettingError($0.setting, $0.reason) }
    }

    static var settings: [AtriumKit.Setting] { Program.current?.settings ?? [] }

    init(context: ComponentContext) throws {
        let program = try Program.started()
        self.program = program
        self.context = context
        fields = Set(context.fields.map(\.name))
        do {
            let reply = try program.ask(
                Filters.Start.self,
                .init(
                    container: context.container, component: context.component,
                    settings: JSONObject(context.settings),
                    fields: context.fields.map(PluginInterfaces.Field.init)), for: Self.self)
            terms = try Terms(reply, fields, to: "Start")
            sections = try [FilterSection](reply.sections ?? [], fields)
        } catch let failure as ProgramFailure {
            throw program.launchFailure(failure)
        }
    }

    var observedFields: [String] { terms.observedFields }

    var preselection: Selection { terms.preselection }

    func didDetach() { program.stop(Filters.Stop.self, .init()) }

    func canTake(_ settings: Settings) -> Bool {
        program.canTake(settings, inPlaceOf: context.settings)
    }

    func settingsDidChange(from before: Settings) {
        let reply = Filters.Start.Reply(
            program.sure(
                Filters.ChangeSettings.self, .init(settings: JSONObject(context.settings))))
        do throws(ProgramFailure) {
            terms = try Terms(reply, fields, to: "ChangeSettings")
            sections = try [FilterSection](reply.sections ?? [], fields)
        } catch {
            program.end(error.reason)
        }
    }

    func fieldValuesDidChange(_ values: [String: [Value]], cut: Set<String>) {
        let reply = program.sure(
            Filters.Values.self,
            .init(
                values: Wire.encode(values),
                cut: cut.sorted()), within: ProgramProcess.listenDeadline)
        do throws(ProgramFailure) {
            sections = try [FilterSection](reply.sections, fields)
        } catch {
            program.end(error.reason)
        }
    }

    func filter(_ id: String, in section: String) throws(Refusal) -> AtriumKit.Filter {
        guard let offered = sections.first(where: { $0.id == section }) else {
            let known = sections.map { "'\($0.id)'" }.joined(separator: ", ")
            throw Refusal(
                .filterNotFound,
                "There is no section '\(section)'; there are: \(known.isEmpty ? "none" : known).",
                evidence: ["section": section, "filter": id])
        }
        if let filter = offered.filters.first(where: { $0.id == id }) { return filter }
        let reply = try program.judge(
            Filters.Find.self, .init(section: section, id: id)
        ) { error in
            error.as(Filters.FilterNotFound.self).map {
                Refusal(
                    .filterNotFound, String($0.reason.prefix(1_000)),
                    evidence: ["section": section, "filter": id])
            }
        }
        guard let reply else {
            let known = offered.filters.prefix(20).map { "'\($0.id)'" }.joined(separator: ", ")
            throw Refusal(
                .filterNotFound,
                "There is no filter '\(id)' in '\(section)'; there are: \(known.isEmpty ? "none" : known).",
                evidence: ["section": section, "filter": id])
        }
        do throws(ProgramFailure) {
            let found = try AtriumKit.Filter(reply.filter, fields, in: section)
            guard found.id == id || offered.filters.contains(where: { $0.id == found.id }) else {
                throw ProgramFailure(
                    "the filter '\(found.id.prefix(100))' of '\(section)', which is neither the one that was "
                        + "asked for nor offered")
            }
            return found
        } catch {
            throw program.invalid("Find", error.reason)
        }
    }
}

extension ProgramFilters.Terms {
    fileprivate init(
        _ reply: Filters.Start.Reply, _ fields: Set<String>, to method: String
    ) throws(ProgramFailure) {
        observedFields = reply.observe ?? []
        if let field = observedFields.first(where: { !fields.contains($0) }) {
            throw ProgramFailure(
                "wants to observe the field '\(field.prefix(100))', which the container does not have"
            )
        }
        preselection = try Selection(preselected: reply.preselection, to: method)
    }
}

extension Filters.Start.Reply {
    /// The reply to other settings, which has the same members.
    fileprivate init(_ reply: Filters.ChangeSettings.Reply) {
        self.init(
            sections: reply.sections, observe: reply.observe, preselection: reply.preselection)
    }
}

extension PluginInterfaces.Field {
    /// A field as programs are sent it.
    init(_ field: AtriumKit.Field) {
        self.init(name: field.name, type: field.type.rawValue, title: field.title)
    }
}

extension Selection {
    /// The selection that a program returns from `Start` or `ChangeSettings`.
    fileprivate init(
        preselected object: JSONObject?, to method: String
    ) throws(ProgramFailure) {
        guard let object else {
            self.init()
            return
        }
        var sections: [String: [String]] = [:]
        for (section, filters) in try object.values("answered '\(method)' with a preselection") {
            guard let list = filters.list, list.allSatisfy({ $0.text != nil }) else {
                throw ProgramFailure(
                    "answered '\(method)' with a preselection of '\(section.prefix(100))' that is no list of filters"
                )
            }
            sections[section] = list.compactMap(\.text)
        }
        self.init(sections)
    }
}

extension [FilterSection] {
    /// The sections that a program offers; throws the first that is invalid, and why.
    fileprivate init(
        _ sections: [Section], _ fields: Set<String>
    ) throws(ProgramFailure) {
        self = []
        guard sections.count <= AnswerCheck.sections else {
            throw ProgramFailure(
                "offers \(sections.count) sections, where \(AnswerCheck.sections) are allowed")
        }
        var known: Set<String> = []
        for section in sections {
            guard section.id.isSectionID else {
                throw ProgramFailure(
                    "offers the section '\(section.id.prefix(100))': an id is a lower-case letter, then at most "
                        + "62 lower-case letters, digits, '-' and '_'")
            }
            guard known.insert(section.id).inserted else {
                throw ProgramFailure("offers the section '\(section.id)' twice")
            }
            var filters: [AtriumKit.Filter] = []
            for filter in section.filters ?? [] {
                do throws(ProgramFailure) {
                    filters.append(try AtriumKit.Filter(filter, fields, in: section.id))
                } catch {
                    throw ProgramFailure("offers \(error.reason)")
                }
            }
            if let problem = AnswerCheck.problem(inIDsOf: filters) {
                throw ProgramFailure("offers \(problem) in '\(section.id)'")
            }
            var made = FilterSection(
                id: section.id, title: section.title, input: SectionInput(section.input),
                filters: filters)
            made.hasMore = section.more ?? false
            append(made)
        }
    }
}

extension String {
    /// Whether it can be the id of a section.
    fileprivate var isSectionID: Bool {
        let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        return utf8.first.map(letters.contains) == true && utf8.count <= 63
            && utf8.allSatisfy {
                letters.contains($0) || digits.contains($0) || "-_".utf8.contains($0)
            }
    }
}

extension SectionInput {
    fileprivate init(_ input: Section.Input) {
        switch input {
        case .several: self = .several
        case .single: self = .single
        case .range: self = .range
        case .text: self = .text
        }
    }
}

extension AtriumKit.Filter {
    /// Converts a filter of a program; the error has the filter and its problem.
    fileprivate init(
        _ filter: PluginInterfaces.Filter, _ fields: Set<String>, in section: String
    ) throws(ProgramFailure) {
        func predicates(_ matches: [Match]?) throws(ProgramFailure) -> [Predicate] {
            var predicates: [Predicate] = []
            for match in matches ?? [] {
                guard let predicate = Predicate(match), fields.contains(match.field) else {
                    throw ProgramFailure(
                        "the filter '\(filter.id.prefix(100))' of '\(section.prefix(100))', which matches "
                            + "the field '\(match.field.prefix(100))': the container has to have the field, and one of "
                            + "text, number, boolean, contains, or least and most has to be given")
                }
                predicates.append(predicate)
            }
            return predicates
        }
        var all = try predicates(filter.all)
        let any = try predicates(filter.any)
        if !any.isEmpty { all.append(any.count == 1 ? any[0] : .or(any)) }
        all += try predicates(filter.none).map { .not($0) }
        let predicate: Predicate = all.isEmpty ? .all : all.count == 1 ? all[0] : .and(all)
        self.init(id: filter.id, title: filter.title, predicate: predicate)
    }
}

extension Predicate {
    /// Converts a program's match to a predicate; nil: it does not have exactly one condition.
    fileprivate init?(_ match: Match) {
        var found: [Predicate] = []
        if let text = match.text { found.append(.equals(field: match.field, value: .text(text))) }
        if let number = match.number {
            found.append(.equals(field: match.field, value: .number(number)))
        }
        if let boolean = match.boolean {
            found.append(.equals(field: match.field, value: .bool(boolean)))
        }
        if let text = match.contains { found.append(.contains(field: match.field, text: text)) }
        if match.least != nil || match.most != nil {
            found.append(
                .range(
                    field: match.field, lower: match.least.map { Bound($0) },
                    upper: match.most.map { Bound($0) }))
        }
        guard found.count == 1 else { return nil }
        self = found[0]
    }
}
