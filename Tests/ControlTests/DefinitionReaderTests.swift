import AtriumKit
import Control
import Foundation
import Host
import Testing

/// Golden cases: each file below `Definitions` holds a definition, a line `# expect`, and what
/// reading it gives: a summary, or the problem as a person reads it.
@Suite struct DefinitionReaderTests {
    static let cases: [URL] = {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "Definitions")
        let files = try? FileManager.default.contentsOfDirectory(
            at: folder, includingPropertiesForKeys: nil)
        return (files ?? []).sorted { $0.lastPathComponent < $1.lastPathComponent }
    }()

    @Test func `there are golden cases`() {
        #expect(Self.cases.count > 10)
    }

    @Test(arguments: cases)
    func `a definition is read, or refused with its place, as its golden case says`(
        _ file: URL
    ) throws {
        let parts = try String(contentsOf: file, encoding: .utf8).components(
            separatedBy: "\n# expect\n")
        try #require(parts.count == 2)
        let expected = parts[1].split(separator: "\n").map { String($0.dropFirst(2)) }
        #expect(outcome(of: parts[0] + "\n", file: file.lastPathComponent) == expected)
    }

    @Test func `a byte order mark before a definition is no part of it`() throws {
        let text = "atrium: 1\ncontainer: films\n"
        #expect(outcome(of: "\u{FEFF}" + text, file: "a.yaml") == outcome(of: text, file: "a.yaml"))
    }

    @Test(arguments: [
        ("container.delegate", "least", 9), ("scopes.a.delegate", "day", 6),
        ("scopes.b.delegate", "day", 7),
    ])
    func `a delegate's setting is found where the text has it`(
        delegate: String, setting: String, line: Int
    ) throws {
        let text = """
            atrium: 1
            container: week
            components:
              - { name: list, plugin: org.atrium.catalog }
            scopes:
              - { name: a, contents: [list], delegate: { plugin: a.b, settings: { day: monday } } }
              - { name: b, contents: [list], delegate: a.c }
            delegate:
              { plugin: a.d, settings: { least: 3 } }
            """
        let definition = try #require(try DefinitionReader.read(text, file: "w.yaml").first)
        let problem = DefinitionReader.problem(
            in: definition, file: "w.yaml", at: .setting(component: delegate, setting: setting),
            "no")
        #expect(problem.line == line)
        let missing = DefinitionReader.problem(
            in: definition, file: "w.yaml", at: .plugin("a.c"), "no")
        #expect(missing.line == 7)
    }

    private static let head = "atrium: 1\ncontainer: w\n"

    @Test func `a text of more than a mebibyte is refused before it is parsed`() {
        let comment = String(repeating: "#", count: (1 << 20) - Self.head.utf8.count)
        #expect(outcome(of: Self.head + comment, file: "w.yaml") == ["container w"])
        #expect(
            outcome(of: Self.head + comment + "#", file: "w.yaml").first?.contains(
                "it has 1048577 bytes, and a definition at most 1048576") == true)
    }

    @Test func `what aliases expand to is counted over all components`() {
        let text =
            Self.head + "components:\n- { name: a, plugin: x, settings: &s { list: ["
            + [String](repeating: "1", count: 9_000).joined(separator: ",") + "] } }\n"
        func component(_ number: Int) -> String {
            "- { name: b\(number), plugin: x, settings: *s }\n"
        }
        let few = (0..<9).map(component).joined()
        #expect(outcome(of: text + few, file: "w.yaml").count == 11)
        let many = (0..<12).map(component).joined()
        #expect(
            outcome(of: text + many, file: "w.yaml").first?.contains("more than 100,000 values")
                == true)
    }

    @Test(arguments: ["? *x12\n: 1\n", "a: { *x12 : 1 }\n", "a: *x12\n"])
    func `aliases of aliases are refused, also as keys, before they are parsed`(end: String) {
        let laughs = (1..<13).map { number in
            let nine = [String](repeating: "*x\(number - 1)", count: 9).joined(separator: ", ")
            return "x\(number): &x\(number) [\(nine)]\n"
        }
        let text = Self.head + "x0: &x0 [1]\n" + laughs.joined() + end
        #expect(outcome(of: text, file: "w.yaml").first?.contains("its aliases stand for") == true)
    }

    @Test func `an anchor that many aliases name is read`() {
        let text =
            Self.head + "components:\n- { name: a, plugin: x, settings: &s { deep: &t [1, 2] } }\n"
            + (0..<500).map { "- { name: b\($0), plugin: x, settings: *s }\n" }.joined()
            + "- { name: c, plugin: x, settings: { deep: *t } }\n"
        #expect(outcome(of: text, file: "w.yaml").count == 503)
    }

    @Test func `nesting without end is refused`() {
        let text = Self.head + "title: " + String(repeating: "[", count: 500_000)
        #expect(outcome(of: text, file: "w.yaml").first?.contains("not YAML") == true)
        let deep = String(repeating: "[", count: 900) + String(repeating: "]", count: 900)
        #expect(outcome(of: Self.head + "title: \(deep)", file: "w.yaml").count == 1)
        let settings = "components: [{ name: a, plugin: x, settings: { a: \(deep) } }]\n"
        #expect(outcome(of: Self.head + settings, file: "w.yaml").count == 2)
    }

    private func outcome(of text: String, file: String) -> [String] {
        do {
            return try DefinitionReader.read(text, file: file).flatMap(summary)
        } catch {
            return ["\(error)"]
        }
    }

    private func summary(_ definition: ContainerDefinition) -> [String] {
        ["container \(definition.name)" + (definition.title.map { " '\($0)'" } ?? "")]
            + definition.fields.map { field in
                "field \(field.name) \(field.type)" + (field.required ? " required" : "")
                    + (field.search ? " search" : "") + (field.min.map { " min \($0)" } ?? "")
                    + (field.max.map { " max \($0)" } ?? "")
                    + (field.zone.map { " zone \($0)" } ?? "")
                    + (field.derivation.map { " of \($0.of) by \($0.by) in \($0.zone)" } ?? "")
                    + (field.title.map { " '\($0)'" } ?? "")
                    + (field.unit.map { " in \($0)" } ?? "")
                    + (field.summary.map { ": \($0)" } ?? "")
            }
            + definition.components.map { component in
                "component \(component.name) \(component.plugin)"
                    + (component.isolation.map { " \($0)" } ?? "")
                    + (component.callSeconds.map { " \($0) s a call" } ?? "")
                    + (component.isHidden ? " hidden" : "")
                    + (component.hidesEmpty ? " hidden while empty" : "")
                    + (component.empty.map { " or '\($0)'" } ?? "")
                    + (component.settings.isEmpty
                        ? "" : " settings \(component.settings.keys.sorted())")
                    + (component.present.map { " shows \(summary($0))" } ?? "")
                    + (component.sort.isEmpty ? "" : " by \(component.sort)")
            }
            + definition.scopes.map { scope in
                "scope \(scope.name)" + (scope.title.map { " '\($0)'" } ?? "")
                    + " \(summary(scope.lists))" + (scope.activate.map { " activate \($0)" } ?? "")
                    + (scope.delegate.map { " \(summary($0))" } ?? "")
            } + (definition.lists.map { ["shows \(summary($0))"] } ?? [])
            + (definition.activate.map { ["activate \($0)"] } ?? [])
            + (definition.delegate.map { [summary($0)] } ?? [])
            + (definition.present.map { ["shows \(summary($0))"] } ?? [])
    }

    private func summary(_ present: Presentation) -> String {
        let names = [present.title, present.subtitle, present.image].map { $0 ?? "-" }
        return "\(names.joined(separator: " "))" + (present.columns.map { " \($0)" } ?? "")
    }

    private func summary(_ modes: ListModes) -> String {
        "\(modes.contents)" + (modes.entered.isEmpty ? "" : " entered \(modes.entered)")
            + (modes.searched.isEmpty ? "" : " searched \(modes.searched)")
    }

    private func summary(_ delegate: DelegateDefinition) -> String {
        "delegate \(delegate.plugin)"
            + (delegate.settings.isEmpty ? "" : " settings \(delegate.settings.keys.sorted())")
    }
}
