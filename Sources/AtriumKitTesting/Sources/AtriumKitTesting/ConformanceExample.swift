public import AtriumKit

/// An example that a plugin's author gives: settings, calls, and their expected results.
///
/// The suite checks the rules of a kind, but not a plugin's own formulas, such as its mean score or its filters. A
/// manifest names a file of examples for these: `"conformance": {"examples": "examples.json"}`. `docs/plugins.md`
/// describes the file.
public struct ConformanceExample: Sendable {
    /// The purpose of the example, in a sentence.
    public let title: String
    /// The settings of the component.
    let settings: [String: Value]
    /// The container's fields; nil: those of the suite.
    let fields: [Field]?
    /// The setting for which the component must not start, and words of the reason; nil: it must start.
    let refused: (setting: String, because: String?)?
    let steps: [ExampleStep]
    /// Its place in the file.
    private let path: String

    /// Reads a file of examples.
    ///
    /// - Parameter file: an object with `examples`, a list.
    /// - Returns: the examples, in order.
    /// - Throws: ``ExampleProblem``, with the place of the mistake.
    public static func read(_ file: Value) throws(ExampleProblem) -> [ConformanceExample] {
        guard let list = file.object?["examples"]?.list else {
            throw ExampleProblem("expected an object with 'examples', a list")
        }
        var examples: [ConformanceExample] = []
        for (place, value) in list.enumerated() {
            examples.append(try ConformanceExample(value, at: "examples[\(place)]"))
        }
        return examples
    }

    /// Reads the fields of a container, as an example or a manifest has them.
    ///
    /// - Parameters:
    ///   - list: a list of objects with `name` and `type`.
    ///   - path: its place, for errors.
    /// - Returns: the fields, in order.
    /// - Throws: ``ExampleProblem``, with the place of the mistake.
    public static func fields(_ list: Value, at path: String) throws(ExampleProblem) -> [Field] {
        guard let list = list.list else { throw ExampleProblem("\(path): expected a list") }
        var fields: [Field] = []
        for (place, value) in list.enumerated() {
            let field = try Field(value, at: "\(path)[\(place)]")
            guard !fields.contains(where: { $0.name == field.name }) else {
                throw ExampleProblem("\(path)[\(place)]: '\(field.name)' is there twice")
            }
            fields.append(field)
        }
        return fields
    }

    private init(_ value: Value, at path: String) throws(ExampleProblem) {
        let members = try ExampleMembers(
            value, at: path, known: ["title", "settings", "fields", "refused", "because", "steps"])
        self.path = path
        title = try members.text("title") ?? path
        settings = try members.object("settings") ?? [:]
        fields = try members.all["fields"].map { value throws(ExampleProblem) in
            try Self.fields(value, at: "\(path).fields")
        }
        let because = try members.text("because")
        refused = try members.text("refused").map { ($0, because) }
        var steps: [ExampleStep] = []
        let listed = try members.list("steps")
        for (place, step) in (listed ?? []).enumerated() {
            steps.append(try ExampleStep(step, at: "\(path).steps[\(place)]"))
        }
        self.steps = steps
        guard (listed == nil) != (refused == nil) else {
            throw ExampleProblem("\(path): expected either 'steps' or 'refused'")
        }
        guard refused != nil || because == nil else {
            throw ExampleProblem("\(path).because: expected 'refused' beside it")
        }
    }

    /// Throws unless components of a kind have its calls, and these settings where the declared ones are known.
    fileprivate func check(_ kind: Kind, declared: [Setting]?) throws(ExampleProblem) {
        for step in steps { try step.check(kind) }
        guard let known = declared?.map(\.name) else { return }
        for name in settings.keys.sorted() where !known.contains(name) && name != refused?.setting {
            throw ExampleProblem("\(path).settings: \(SettingError.unknown(name, known: known))")
        }
    }

    /// Runs the example on a component.
    ///
    /// - Parameters:
    ///   - kind: the component's kind.
    ///   - others: the container's fields, unless the example has its own.
    ///   - makeDriver: returns a driver for the component.
    /// - Throws: ``ConformanceFailure`` if a result differs, ``ExampleProblem`` for a step that is a call of another
    ///   kind and for settings that the component does not take, or the errors of a driver.
    public func run(
        _ kind: Kind, fields others: [Field] = Conformance.fields,
        driver makeDriver: @escaping @Sendable () async throws -> any ConformanceDriver
    ) async throws {
        for step in steps { try step.check(kind) }
        var source = try ExampleSource(settings, fields ?? others, makeDriver)
        defer { source.removeFolder() }
        let component = try await makeDriver()
        var files: Set<Value> = []
        let first = steps.prefix { $0.verb == .write && files.insert($0.argument).inserted }
        do {
            for step in first { try source.prepare(step) }
            _ = try await component.start(settings: source.settings, fields: source.fields)
            await component.settle()
        } catch {
            await component.stop()
            let found = "\(error)"
            guard let refused else {
                guard found.hasPrefix("setting '") else { throw error }
                throw ExampleProblem("\(path).settings: \(found)")
            }
            guard found.hasPrefix("setting '\(refused.setting)'"),
                refused.because.map(found.contains) ?? true
            else { throw failure(kind, "the settings are refused with \(found)", refused) }
            return
        }
        var run = ExampleRun(component, source)
        do {
            guard refused == nil else { throw failure(kind, "the settings are taken", refused) }
            for step in steps.dropFirst(first.count) {
                if let difference = try await run.difference(step) {
                    throw ConformanceFailure(
                        kind: kind, seed: nil, rule: title,
                        difference: "\(step.path): \(difference)")
                }
            }
            await run.component.stop()
        } catch {
            await run.component.stop()
            throw error
        }
    }

    private func failure(
        _ kind: Kind, _ found: String, _ expected: (setting: String, because: String?)?
    ) -> ConformanceFailure {
        let words = expected?.because.map { ", because '\($0)'" } ?? ""
        return ConformanceFailure(
            kind: kind, seed: nil, rule: title,
            difference: "\(found); expected was that "
                + "'\(expected?.setting ?? "")' is refused\(words)")
    }
}

extension Conformance {
    /// Checks an author's examples, and runs none.
    ///
    /// - Parameters:
    ///   - examples: the examples.
    ///   - kind: the kind that the component is of.
    ///   - declared: the settings of the component; nil: they are not known.
    /// - Throws: ``ExampleProblem`` for a step that is a call of another kind, and for an unknown setting.
    public static func check(
        _ examples: [ConformanceExample], _ kind: Kind, declared: [Setting]? = nil
    ) throws(ExampleProblem) {
        for example in examples { try example.check(kind, declared: declared) }
    }

    /// Runs an author's examples.
    ///
    /// - Parameters:
    ///   - examples: the examples.
    ///   - kind: the kind that the component is of.
    ///   - fields: the container's fields, unless an example has its own.
    ///   - makeDriver: returns a driver for one more component; called once for each example.
    /// - Throws: ``ExampleProblem`` for what ``check(_:_:declared:)`` finds, before any is run, ``ConformanceFailure`` for
    ///   the first example that fails, or the errors of a driver.
    public static func run(
        _ examples: [ConformanceExample], _ kind: Kind, fields: [Field] = Conformance.fields,
        driver makeDriver: @escaping @Sendable () async throws -> any ConformanceDriver
    ) async throws {
        try check(examples, kind)
        for example in examples {
            try await example.run(kind, fields: fields, driver: makeDriver)
        }
    }
}

/// A mistake in a file of examples, and its place.
public struct ExampleProblem: Error, Sendable, Hashable, CustomStringConvertible {
    /// A sentence.
    public let description: String

    init(_ description: String) { self.description = description }
}

/// The members of an object in a file of examples.
struct ExampleMembers {
    let path: String
    let all: [String: Value]

    init(_ value: Value, at path: String, known: Set<String>) throws(ExampleProblem) {
        guard let members = value.object else {
            throw ExampleProblem("\(path): expected an object")
        }
        if let unknown = members.keys.sorted().first(where: { !known.contains($0) }) {
            throw ExampleProblem(
                "\(path): '\(unknown)' is unknown; known are \(known.sorted().joined(separator: ", "))"
            )
        }
        self.path = path
        all = members
    }

    func text(_ name: String) throws(ExampleProblem) -> String? {
        try read(name, "a text") { $0.text }
    }

    func int(_ name: String) throws(ExampleProblem) -> Int? {
        try read(name, "a whole number") { $0.int.map { Int($0) } }
    }

    func boolean(_ name: String) throws(ExampleProblem) -> Bool? {
        try read(name, "true or false") { $0.bool }
    }

    /// Throws unless a member is missing or valid.
    func check(
        _ name: String, _ expected: String, _ fits: (Value) -> Bool
    ) throws(ExampleProblem) {
        _ = try read(name, expected) { fits($0) ? true : nil }
    }

    func object(_ name: String) throws(ExampleProblem) -> [String: Value]? {
        try read(name, "an object") { $0.object }
    }

    func list(_ name: String) throws(ExampleProblem) -> [Value]? {
        try read(name, "a list") { $0.list }
    }

    /// One of some words.
    func choice<Choice: RawRepresentable>(
        _ name: String, of choices: [Choice]
    ) throws(ExampleProblem) -> Choice? where Choice.RawValue == String {
        let words = choices.map(\.rawValue).joined(separator: ", ")
        return try read(name, "one of \(words)") { value in
            choices.first { $0.rawValue == value.text }
        }
    }

    private func read<Content>(
        _ name: String, _ expected: String, _ content: (Value) -> Content?
    ) throws(ExampleProblem) -> Content? {
        guard let value = all[name] else { return nil }
        guard let content = content(value) else {
            throw ExampleProblem("\(path).\(name): expected \(expected)")
        }
        return content
    }
}

extension Field {
    /// Reads a field: `name`, `type`, and of a date `of`, `by` and `zone`.
    fileprivate init(_ value: Value, at path: String) throws(ExampleProblem) {
        let members = try ExampleMembers(
            value, at: path, known: ["name", "type", "title", "of", "by", "zone"])
        guard let name = try members.text("name"),
            let type = try members.text("type").flatMap(FieldType.init)
        else { throw ExampleProblem("\(path): expected 'name' and 'type', one of a field's types") }
        self.init(name: name, type: type, title: try members.text("title"))
        let (of, zone) = (try members.text("of"), try members.text("zone"))
        let by = try members.choice("by", of: Bucket.allCases)
        if let of, let by {
            derivation = Derivation(of: of, by: by, zone: zone ?? "UTC")
        } else if of != nil || by != nil || zone != nil {
            throw ExampleProblem("\(path): a date has both 'of' and 'by'")
        }
    }
}
