import Host
import Interfaces
import JSONCodec
import Testing
import Varlink
import VarlinkIDL

@testable import Control

/// Errors go over the wire by name: nothing but these tests holds them to what the interfaces declare.
@Suite struct HostErrorReplyTests {
    /// One of each case.
    static let errors: [HostError] = [
        .containerNotFound("c"), .componentNotFound(container: "c", component: "p"),
        .componentExists(container: "c", component: "p"), .pluginNotFound("p", known: ["q"]),
        .settingInvalid(component: "p", setting: "s", reason: "r"),
        .definitionInvalid(container: "c", reason: "r"),
        .itemsUnfit(container: "c", field: "f", reason: "r", items: ["i"]),
        .itemNotFound(container: "c", item: "i"), .itemInvalid(item: "i", reason: "r"),
        .fieldInvalid(item: "i", field: "f", expected: "e", found: "g"),
        .fieldUnknown(field: "f", known: ["g"]),
        .revisionMismatch(item: "i", expected: 1, found: 2),
        .readOnly(component: "p", reason: "r"),
        .scopeNotFound("s", known: ["t"]),
        .componentNotInScope(component: "p", scope: "s", shown: ["q"]),
        .filterNotFound(section: "s", filter: "f", known: ["g"]), .commentNotFound("c"),
        .actorNotFound("web:42"),
        .conflict(comment: "c", reason: "r"), .refused(reason: "r", retryAfter: 1),
        .cursorInvalid("r"), .limitExceeded(limit: "l", value: 1, retryAfter: 1),
        .parameterInvalid(parameter: "p", reason: "r"),
        .topicInvalid(topic: "t", reason: "r"), .screenNotFound("s"),
        .storeUnavailable(reason: "r", retryAfter: 1), .noSpace(path: "p", needed: 2, free: 1),
        .componentUnavailable(component: "p", reason: "r", retryAfter: 1),
    ]

    @Test func `every error has the members that each interface declares under its name`() throws {
        for interface in ControlRouter.interfaces {
            let definition = try InterfaceDefinition(interface.description)
            for error in Self.errors {
                let (name, members) = error.parts
                guard let declared = definition.errors.first(where: { $0.name == name }) else {
                    continue
                }
                // What an error of the text adds, a hint, the host has not.
                let required = declared.parameters.fields.map(\.name).filter { $0 != "hint" }
                #expect(Set(members.map(\.name)) == Set(required), "\(interface.name).\(name)")
            }
        }
    }

    @Test(arguments: errors)
    func `every error is declared by some interface`(_ error: HostError) throws {
        let declaring = try ControlRouter.interfaces.filter { interface in
            try InterfaceDefinition(interface.description).errors.contains {
                $0.name == error.parts.name
            }
        }
        #expect(!declaring.isEmpty)
    }

    @Test func `a component outside the scope is a parameter that can't be, in every interface`() {
        let error = HostError.componentNotInScope(component: "list", scope: "past", shown: ["old"])
        let reply = error.reply(of: Contents.self)
        #expect(reply.name == "org.atrium.Daemon.ParameterInvalid")
        #expect(
            reply.parameters.value["reason"]?.string
                == "The scope 'past' does not show 'list', but old: leave one of both out.")
    }

    @Test func `a parameter that makes no sense has one error in all interfaces`() {
        let reply = HostError.parameterInvalid(parameter: "limit", reason: "no").reply(
            of: Screens.self)
        #expect(reply.name == Interfaces.Daemon.ParameterInvalid.name)
    }

    @Test func `what an error leaves out is absent and not null`() {
        let reply = HostError.refused(reason: "no", retryAfter: nil).reply(of: Votes.self)
        #expect(reply.name == "org.atrium.Votes.Refused")
        #expect(reply.parameters.text == #"{"reason":"no"}"#)
    }
}
