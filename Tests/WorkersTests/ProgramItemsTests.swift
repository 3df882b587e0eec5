import AtriumKit
import Glibc
import Host
import PluginLoader
import TestSupport
import Testing

@testable import Workers

/// Programs that decide by the items of their container, in real workers.
@Suite(
    .timeLimit(.minutes(3)),
    .enabled(if: access("/usr/bin/python3", X_OK) == 0, "the programs are in Python"))
struct `A program decides by items` {
    private let folder: TemporaryDirectory
    private static let fields = [
        Field(name: "year", type: .integer), Field(name: "rating", type: .number),
        Field(name: "plot", type: .markdown),
    ]
    private static let alien = Item(
        id: "alien", fields: ["year": 1979, "rating": 8.0, "plot": "Long."])

    init() throws { folder = try TemporaryDirectory() }

    /// Starts a component, in a container with a film that has all fields, and one that has none.
    private func start(_ kind: Kind, _ methods: String) async throws -> WorkerComponent {
        let component = Installed.component(of: try .python(kind, methods, in: folder))
        _ = try await component.start(settings: [:], fields: Self.fields)
        await component.provide([Self.alien, Item(id: "plain", fields: [:])])
        return component
    }

    private func refusal(of call: () async throws -> Void) async -> String {
        do {
            try await call()
            return "none"
        } catch { return (error as? Refusal)?.reason ?? "\(error)" }
    }

    /// Refuses all that it is asked by what it was sent.
    private static let votes = """
        def refuse(call): raise Error("Refused", {"reason": json.dumps(call.get("fields", "no fields"), sort_keys=True)})

        def Start(container, component, settings): return {"itemFields": ["rating", "year"]}
        def Restore(ballots): return {}
        def Restored(subjects): return {"scores": [None for _ in subjects]}
        def Apply(actor, item=None, vote=None, previous=None): return {}

        def Cast(**call): return {} if call["ballot"]["value"] == 1 else refuse(call)
        def Retract(**call): refuse(call)
        """

    @Test func `of votes is sent the fields that it named, of an item that is there`()
        async throws
    {
        let component = try await start(.votes, Self.votes)
        for (subject, expected) in [
            (Subject.item("alien"), #"{"rating": 8.0, "year": 1979}"#), (.item("plain"), "{}"),
            (.item("gone"), #""no fields""#), (.container, #""no fields""#),
        ] {
            _ = try await component.cast(1, on: subject, by: 1)
            let cast = await refusal { _ = try await component.cast(2, on: subject, by: 1) }
            #expect(cast == expected)
            let retracted = await refusal { _ = try await component.retract(from: subject, by: 1) }
            #expect(retracted == expected)
        }
        // As it is by then.
        await component.provide([Item(id: "alien", fields: ["year": 2079])])
        let cast = await refusal { _ = try await component.cast(2, on: .item("alien"), by: 2) }
        #expect(cast == #"{"year": 2079}"#)
        await component.stop()
        #expect(await component.deaths.isEmpty)
    }

    @Test func `of comments is sent them with each text`() async throws {
        let component = try await start(
            .comments,
            """
            def refuse(call): raise Error("Refused", {"reason": json.dumps(call.get("fields", "no fields"), sort_keys=True)})

            def Start(container, component, settings): return {"itemFields": ["year"]}
            def Post(**call): return {} if call["draft"]["text"] == "taken" else refuse(call)
            def Edit(**call): refuse(call)
            """)
        await component.provide([Item(id: "film", fields: Self.alien.fields)])
        _ = try await component.post("a", "taken", by: 1)
        let posted = await refusal { _ = try await component.post("b", "another", by: 1) }
        let edited = await refusal { _ = try await component.edit("a", "another", by: 1) }
        #expect([posted, edited] == Array(repeating: #"{"year": 1979}"#, count: 2))
        await component.stop()
        #expect(await component.deaths.isEmpty)
    }

    @Test func `or by none, and is sent none`() async throws {
        let component = try await start(
            .votes, Self.votes.replacing(#"{"itemFields": ["rating", "year"]}"#, with: "{}"))
        let cast = await refusal { _ = try await component.cast(2, on: .item("alien"), by: 1) }
        #expect(cast == #""no fields""#)
        await component.stop()
    }

    @Test(arguments: [Kind.votes, .comments])
    func `but not by fields that the container does not have`(kind: Kind) async throws {
        let failure = await #expect(throws: LaunchFailure.self) {
            _ = try await start(
                kind,
                "def Start(container, component, settings): return {\"itemFields\": [\"month\"]}")
        }
        #expect(
            "\(String(describing: failure))".contains(
                "wants the field 'month' of items, which the container does not have"))
    }

    @Test(arguments: [Kind.votes, .comments])
    func `by others once settings say so`(kind: Kind) async throws {
        let component = try await start(
            kind,
            """
            def Hello(protocols):
                return {"protocol": 1, "settings": [{"name": "by", "type": "text", "live": True, "summary": "a field"}]}

            def ChangeSettings(settings): return {"itemFields": [settings["by"]]}
            """ + "\n\n" + Self.votes + "\n\ndef Post(**call): refuse(call)")
        await component.provide([Item(id: "film", fields: Self.alien.fields)])
        func decide() async -> String {
            await refusal {
                if kind == .votes {
                    _ = try await component.cast(2, on: .item("film"), by: 1)
                } else {
                    _ = try await component.post("a", "text", by: 1)
                }
            }
        }
        #expect(await decide() == #"{"rating": 8.0, "year": 1979}"#)
        #expect(try await component.change(settings: ["by": "plot"]))
        #expect(await decide() == #"{"plot": "Long."}"#)
        await #expect(throws: PortFailure.self) {
            _ = try await component.change(settings: ["by": "month"])
        }
        #expect(await component.deaths.first?.contains("the field 'month' of items") == true)
    }

    @Test func `as its examples say`() async throws {
        let checked = try await run([
            Installed.worker, "--check", Checkout.root + "/Tests/Fixtures/Programs/premieres",
        ])
        #expect(checked.status == 0, "\(checked)")
        #expect(checked.output.contains("✓ 1 example of what it does"), "\(checked)")
    }
}
