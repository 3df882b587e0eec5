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

    @Test func `a definition becomes the Swift that stands beside it`() throws {
        let source = Source(path: "org.example.Jukebox.varlink", text: Golden.definition)
        let files = try Generator(sources: [source], module: "Sample").makeFiles()
        #expect(files.map(\.name) == ["Jukebox.swift", "SharedTypes.swift"])
        #expect(files[0].text == Golden.interfaceFile)
        #expect(files[1].text == Golden.sharedTypesFile)
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
        #expect(files.map(\.name) == ["One.swift", "Two.swift", "SharedTypes.swift"])
        #expect(files[2].text.split(separator: "public struct T:").count == 2)
        #expect(files[2].text.contains("/// Said once.\npublic struct T:"))
        #expect(!files[0].text.contains("JSONCodec"), "an import that is not used is a warning")
    }

    @Test func `a type that differs between interfaces is refused, naming both places`() {
        #expect(
            refusal("interface a.One\ntype T (x: int)", "interface a.Two\n\ntype T (x: ?int)")
                == "1.varlink:3:6: error: T is (x: ?int) here, and (x: int) in 0.varlink:2:6")
    }

    @Test func `names that Swift could not tell apart are refused`() {
        #expect(
            refusal("interface a.One", "interface b.One")
                == "1.varlink:1:1: error: One would be generated for 0.varlink too")
        #expect(
            refusal("interface a.One\ntype OneService ()")
                == "0.varlink:2:6: error: the type OneService is called like what is generated for "
                + "0.varlink")
        #expect(
            refusal("interface a.One\nmethod String() -> ()")
                == "0.varlink:2:8: error: the generated code needs Swift's own String: choose another "
                + "name")
        #expect(
            refusal("interface a.One\nmethod Break() -> ()\nerror Break ()")
                == "0.varlink:3:7: error: the error Break is called like a method")
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
        let text = "# \"\"\"# \\#(x) \\n\ninterface a.One\n"
        let files = try Generator(sources: [Source(path: "0", text: text)], module: "Sample")
            .makeFiles()
        #expect(files[0].text.contains("description = ##\"\"\"\n"))
    }
}
