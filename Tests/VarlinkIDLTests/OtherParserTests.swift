import Foundation
import Interfaces
import TestSupport
import Testing
import Varlink
import VarlinkIDL

/// Our parser beside the one of PyPI's varlink: both read the same, but for known differences.
///
/// There is no third one: asyncvarlink derives its definitions from Python's types.
@Suite(
    .timeLimit(.minutes(3)),
    .enabled(if: Checkout.python != nil, "run 'make test-deps' for Python's varlink"))
struct OtherParserTests {
    @Test func `what the daemon publishes is read by others, and read alike`() async throws {
        let all: [any VarlinkInterface.Type] = [VarlinkService.self] + PublishedInterfaces.all
        var texts: [String] = []
        for interface in all { texts.append(interface.description) }
        let readings = try await PythonParser.read(texts)
        #expect(readings.count == all.count)
        for (text, reading) in zip(texts, readings) {
            let definition = try InterfaceDefinition(text)
            #expect(reading.error == nil, "\(definition.name)")
            #expect(reading.name == definition.name)
            #expect(reading.members == definition.lines)
        }
    }

    @Test func `an interface that others can't read would be noticed`() async throws {
        let text = Contents.description
        let broken = [
            text.replacing("\n", with: "\r\n"),
            text.replacing("object", with: "any"),
            text + "type One (one)\n",
            text + "error Bare\n",
        ]
        for (text, reading) in zip(broken, try await PythonParser.read(broken)) {
            #expect(text != Contents.description)
            #expect(reading.error != nil)
        }
    }

    @Test func `definitions that keep to what both know are read alike`() async throws {
        let texts = (0..<300).map { seed in
            var random = RandomDefinition(seed: UInt64(seed), isPlain: true)
            return random.make().formatted
        }
        for (text, reading) in zip(texts, try await PythonParser.read(texts)) {
            let definition = try InterfaceDefinition(text)
            #expect(reading.name == definition.name)
            #expect(reading.members == definition.lines, "\(text)")
        }
    }

    @Test func `both read, and refuse, the same texts`() async throws {
        for (text, reading) in zip(
            Corpus.readByBoth, try await PythonParser.read(Corpus.readByBoth.map(Corpus.complete)))
        {
            let definition = try InterfaceDefinition(Corpus.complete(text))
            #expect(reading.name == definition.name, "\(text): \(reading)")
            #expect(reading.members == definition.lines, "\(text)")
        }
        for (text, reading) in zip(
            Corpus.refusedByBoth,
            try await PythonParser.read(Corpus.refusedByBoth.map(Corpus.complete)))
        {
            #expect(throws: DefinitionError.self, "\(text)") {
                try InterfaceDefinition(Corpus.complete(text))
            }
            #expect(reading.error != nil, "\(text)")
        }
    }

    @Test func `what only we read is in the standard, what only they read is not`() async throws {
        let ours = Corpus.readByUs.map { Corpus.complete($0.text) }
        for (index, reading) in try await PythonParser.read(ours).enumerated() {
            let why = Corpus.readByUs[index].why
            #expect(throws: Never.self, "\(why)") { try InterfaceDefinition(ours[index]) }
            #expect(reading.error != nil, "\(why)")
        }
        let theirs = Corpus.readByThem.map { Corpus.complete($0.text) }
        for (index, reading) in try await PythonParser.read(theirs).enumerated() {
            let why = Corpus.readByThem[index].why
            #expect(throws: DefinitionError.self, "\(why)") {
                try InterfaceDefinition(theirs[index])
            }
            #expect(reading.error == nil, "\(why)")
        }
    }
}
