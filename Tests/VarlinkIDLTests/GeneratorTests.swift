import Foundation
import Testing

@testable import VarlinkGenerator

@Suite struct GeneratorTests {
    private func refusal(_ texts: String...) -> String? {
        let sources = texts.enumerated().map {
            Source(path: "\($0.offset).varlink", text: $0.element)
        }
        do throws(GeneratorError) {
            _ = try Generator(sources: sources, module: "Sample")
            return nil
        } catch {
            return error.description
        }
    }

    /// The definition that is compiled with these tests, and what is generated from it.
    ///
    /// After a change of the generator that is meant, write its new output there, and read the difference:
    /// `VarlinkGenerator --module Sample --output /tmp/new FILE`, the files one after the other.
    private enum Golden {
        static let tests = URL(filePath: #filePath).deletingLastPathComponent()
        static let definition = tests.appending(
            path: "../Fixtures/Constructs/org.example.Everything.varlink")
        static let output = tests.appending(path: "Golden/org.example.Everything.golden")
    }

    @Test func `every construct becomes the Swift that stands in the golden file`() throws {
        let source = Source(
            path: "org.example.Everything.varlink",
            text: try String(contentsOf: Golden.definition, encoding: .utf8))
        let files = try Generator(sources: [source], module: "Sample").makeFiles()
        #expect(
            files.map(\.name) == ["Everything.swift", "SharedTypes.swift", "SharedErrors.swift"])
        let golden = try String(contentsOf: Golden.output, encoding: .utf8)
        let made = files.map(\.text).joined()
        // The first line that differs says more than two long texts.
        for (made, golden) in zip(made.split(separator: "\n"), golden.split(separator: "\n")) {
            try #require(made == golden)
        }
        #expect(made.count == golden.count)
    }

    @Test func `an interface whose last part begins with a digit has a name all the same`() throws {
        let files = try Generator(
            sources: [Source(path: "0", text: "interface com.0day-b\nmethod Do() -> ()\n")],
            module: "Sample"
        ).makeFiles()
        #expect(files.first?.name == "Interface0dayB.swift")
        #expect(files.first?.text.contains("public enum Interface0dayB: ") == true)
    }

    @Test func `a type of two interfaces is generated once, with the documentation of either`()
        throws
    {
        let files = try Generator(
            sources: [
                Source(path: "0", text: "interface a.One\ntype T (x: int)\n"),
                Source(path: "1", text: "interface a.Two\n# Said once.\ntype T (\n  x: int\n)\n"),
            ], module: "Sample"
        ).makeFiles()
        #expect(
            files.map(\.name) == [
                "One.swift", "Two.swift", "SharedTypes.swift", "SharedErrors.swift",
            ])
        #expect(files[2].text.split(separator: "public struct T:").count == 2)
        #expect(files[2].text.contains("/// Said once.\npublic struct T:"))
        #expect(!files[0].text.contains("JSONCodec"), "an import that is not used is a warning")
    }

    @Test func `a type that differs between interfaces is refused, naming both places`() {
        #expect(
            refusal("interface a.One\ntype T (x: int)", "interface a.Two\n\ntype T (x: ?int)")
                == "1.varlink:3:6: error: T is (x: ?int) here, and (x: int) in 0.varlink:2:6")
    }

    @Test func `an error of two interfaces is one case, which is read under both names`() throws {
        let files = try Generator(
            sources: [
                Source(path: "0", text: "interface a.One\nerror Gone (id: string)\n"),
                Source(
                    path: "1",
                    text: "interface a.Two\nerror Gone (id: string)\n"
                        + "error Odd (interface: ?object)\n"),
            ], module: "Sample"
        ).makeFiles()
        let text = try #require(files.last?.text)
        #expect(text.split(separator: "case gone(id: String)").count == 2)
        #expect(text.contains(#"case "a.One.Gone", "a.Two.Gone":"#))
        #expect(text.contains("public import JSONCodec"), "an object is of that module")
        #expect(text.contains("VarlinkRemoteError(Two.Odd(interface: interface), of: interface_)"))
    }

    @Test func `an error that differs between interfaces is refused, naming both places`() {
        #expect(
            refusal("interface a.One\nerror Gone ()", "interface a.Two\nerror Gone (id: string)")
                == "1.varlink:2:7: error: Gone is (id: string) here, and () in 0.varlink:2:7")
    }

    @Test func `names that are the same in Swift are refused`() {
        #expect(
            refusal("interface a.One\ntype A ()", "interface b.One\ntype A ()")
                == "1.varlink:1:1: error: One would be generated for 0.varlink too")
        #expect(
            refusal("interface a.One\ntype OneService ()")
                == "0.varlink:2:6: error: the type OneService is called like what is generated for "
                + "0.varlink")
        #expect(
            refusal("interface a.InterfaceError\ntype A ()")
                == "0.varlink:1:1: error: InterfaceError would be generated for all errors too")
        #expect(
            refusal("interface a.One\nmethod String() -> ()")
                == "0.varlink:2:8: error: the generated code needs Swift's own String: choose another "
                + "name")
        #expect(
            refusal("interface a.One\nmethod Break() -> ()\nerror Break ()")
                == "0.varlink:3:7: error: the error Break is called like the method on line 2")
        #expect(
            refusal("interface a.One\ntype T (a_b: (x: int), aB: (x: int))")
                == "0.varlink:2:24: error: AB would be generated for a_b too")
        #expect(refusal("interface a.One\ntype T (a_b: int, aB: (x: int))") == nil)
    }

    @Test func `a broken definition is refused the way compilers say it`() {
        #expect(
            refusal("interface a.One\ntype T (x: inf)")
                == "0.varlink:2:12: error: expected a type, found 'inf'")
        let fields = (0...64).map { "f\($0): int" }.joined(separator: ", ")
        #expect(
            refusal("interface a.One\ntype T (\(fields))")
                == "0.varlink:2:6: error: 65 fields are more than 64")
    }

    @Test func `any text of a definition survives as a constant`() throws {
        let text = "# \"\"\"# \\#(x) \\n\r\ninterface a.One\ntype A () # \u{7}\u{0}"
        let files = try Generator(sources: [Source(path: "0", text: text)], module: "Sample")
            .makeFiles()
        #expect(files[0].text.contains("description = ##\"\"\"\n"))
        #expect(
            files[0].text.contains(###"        # """# \#(x) \n\##u{d}"### + "\n"))
        #expect(files[0].text.contains(###"        type A () # \##u{7}\##u{0}"###))
        let documented = try Generator(
            sources: [Source(path: "0", text: "# A \u{7}bell.\ninterface a.One\ntype A ()")],
            module: "Sample"
        ).makeFiles()
        #expect(documented[0].text.contains("\n/// A bell.\n"))
    }

    @Test func `a type that holds itself has an end, or is refused`() {
        #expect(
            refusal("interface a.One\ntype T (x: int, t: T)")
                == "0.varlink:2:6: error: T holds itself: no value has an end without a '?'")
        #expect(
            refusal("interface a.One\ntype A (b: (c: B))\ntype B (x: ?A, a: A)")
                == "0.varlink:2:6: error: A holds itself: no value has an end without a '?'")
        #expect(refusal("interface a.One\ntype A (b: B)\ntype B (a: ?A)") == nil)
        #expect(refusal("interface a.One\ntype A (b: []A, c: [string]A)") == nil)
    }
}
