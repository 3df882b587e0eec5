import Constructs
import Foundation
import JSONCodec
import Testing
import Varlink
import VarlinkIDL

/// What was generated from the definition of every construct, at work.
@Suite struct GeneratedConstructsTests {
    private func text(_ value: some JSONWritable) -> String {
        String(decoding: JSON.encode(value), as: UTF8.self)
    }

    private func problem<Value: JSONReadable>(_ type: Value.Type, _ text: String) -> String? {
        do throws(JSONError) {
            _ = try JSON.decode(type, from: text)
            return nil
        } catch {
            return "\(error.path) \(error.found)"
        }
    }

    @Test func `the definition is published as it was written, comments included`() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../Fixtures/Constructs/org.example.Everything.varlink")
        let written = try String(contentsOf: file, encoding: .utf8)
        #expect(Everything.description == written)
        #expect(try InterfaceDefinition(Everything.description).name == Everything.name)
        #expect(
            Everything.methodNames == [
                "org.example.Everything.Hold", "org.example.Everything.Init",
            ])
    }

    @Test func `names that Swift has other uses for go there and back`() throws {
        let json =
            #"{"self":true,"init":1,"default":2.5,"Type":"t","hashValue":{"a":1},"any":[null],"#
            + #""String":"rawValue","Nested":{"x":3}}"#
        let value = try JSON.decode(Swift.self, from: json)
        #expect(value.self_ == true)
        #expect(value.String_ == .rawValue_)
        #expect(value.Nested == .init(x: 3))
        #expect(text(value) == json)
        for name in ["Int", "self", "init", "rawValue", "allCases", "hashValue", "default"] {
            let changed = json.replacing("\"rawValue\"", with: "\"\(name)\"")
            #expect(text(try JSON.decode(Swift.self, from: changed)) == changed)
        }
    }

    @Test func `any is anything but null`() throws {
        let json =
            #"{"json":[],"key":{},"seen":[1,[null]],"others":{"a":null},"value":{"a":[true]},"#
            + #""start":[{"a":"b"}],"set":{},"one":"slow"}"#
        #expect(text(try JSON.decode(Everything.Hold.Parameters.self, from: json)) == json)
        for (right, wrong, found) in [
            (#""seen":[1,[null]]"#, #""seen":[null]"#, "seen null"),
            (#""value":{"a":[true]}"#, #""value":{"a":[true,null]}"#, "value null"),
            (#""start":[{"a":"b"}]"#, #""start":[{"a":null}]"#, "start null"),
        ] {
            let changed = json.replacing(right, with: wrong)
            #expect(changed != json)
            #expect(problem(Everything.Hold.Parameters.self, changed) == found)
        }
        let swift = #"{"init":1,"default":2,"Type":"","hashValue":{},"any":null}"#
        #expect(problem(Swift.self, swift) == "any null")
        for absent in ["seen", "others", "start"] {
            let changed = json.replacing("\"\(absent)\":", with: "\"\(absent)\":null,\"x.\":")
            #expect(changed != json)
            let value = try JSON.decode(
                Everything.Hold.Parameters.self, from: changed, allowsUnknownMembers: true)
            #expect(!text(value).contains(absent))
        }
    }

    @Test func `nullable elements of arrays and maps stay where they are`() throws {
        let json =
            #"{"json":[{"a":1,"b":null},{}],"key":{"k":[{"at":1,"kind":"b_2"},null]},"#
            + #""value":{},"set":{"one":{}},"one":"fast"}"#
        let value = try JSON.decode(Everything.Hold.Parameters.self, from: json)
        #expect(value.json == [["a": 1, "b": nil], [:]])
        #expect(value.key["k"] == [.init(at: 1, kind: .b_2), nil])
        #expect(value.set == ["one": .init()])
        #expect(value.seen == nil)
        #expect(text(value) == json)
    }

    @Test func `a type that holds itself goes there and back`() throws {
        let leaf = #"{"name":"leaf","pair":{},"branches":[],"by_name":{}}"#
        let json =
            #"{"name":"root","left":\#(leaf),"pair":{"right":\#(leaf),"#
            + #""twig":{"tree":\#(leaf),"length":2}},"branches":[\#(leaf)],"by_name":{"a":\#(leaf)}}"#
        var tree = try JSON.decode(Tree.self, from: json)
        #expect(text(tree) == json)
        let first = tree
        tree.left?.name = "new"
        #expect(tree.left == Tree(name: "new", pair: .init(), branches: [], by_name: [:]))
        #expect(tree != first)
        #expect(first.left?.name == "leaf")
        tree.left = nil
        tree.pair.twig = Twig(length: 3)
        #expect(!text(tree).contains("left"))
        #expect(text(tree).contains(#""twig":{"length":3}"#))
    }

    @Test func `errors and empty structures go there and back`() throws {
        #expect(Everything.Full.name == "org.example.Everything.Full")
        #expect(text(Everything.Full(name: 3)) == #"{"name":3}"#)
        #expect(text(Everything.Silent()) == "{}")
        #expect(text(Nothing()) == "{}")
        #expect(problem(Everything.Silent.self, #"{"x":1}"#) == "x one that is not")
    }

    @Test func `a service of every construct answers`() {
        var router = VarlinkRouter(vendor: "", product: "", version: "", url: "")
        Keeper().register(in: &router)
    }
}
