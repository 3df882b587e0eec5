import Host
import Interfaces
import JSONCodec
import Testing
import Varlink
import VarlinkIDL

@testable import Control

/// Every error of the host as the interfaces declare it.
@Suite struct HostErrorReplyTests {
    /// One of each case.
    static let errors = Array(
        sequence(first: HostError.containerNotFound("c"), next: { next(after: $0) }))

    /// The cases one after the other: a new one does not compile until it has its place here.
    private static func next(after error: HostError) -> HostError? {
        switch error {
        case .containerNotFound: .componentNotFound(container: "c", component: "p")
        case .componentNotFound: .componentExists(container: "c", component: "p")
        case .componentExists: .pluginNotFound("p", known: ["q"])
        case .pluginNotFound: .settingInvalid(component: "p", setting: "s", reason: "r")
        case .settingInvalid: .definitionInvalid(container: "c", reason: "r")
        case .definitionInvalid:
            .itemsUnfit(container: "c", field: "f", reason: "r", items: ["i"])
        case .itemsUnfit: .recordInvalid(component: "p", key: "k", reason: "r")
        case .recordInvalid: .itemNotFound(container: "c", item: "i")
        case .itemNotFound: .itemInvalid(item: "i", reason: "r")
        case .itemInvalid: .fieldInvalid(item: "i", field: "f", expected: "e", found: "g")
        case .fieldInvalid: .fieldUnknown(field: "f", known: ["g"])
        case .fieldUnknown: .revisionMismatch(item: "i", expected: 1, found: 2)
        case .revisionMismatch: .readOnly(component: "p", reason: "r")
        case .readOnly: .filterNotFound(section: "s", filter: "f", known: ["g"], reason: "r")
        case .filterNotFound: .scopeNotFound("s", known: ["t"])
        case .scopeNotFound: .componentNotInScope(component: "p", scope: "s", shown: ["q"])
        case .componentNotInScope: .actorNotFound("web:42")
        case .actorNotFound: .commentNotFound("c")
        case .commentNotFound: .conflict(comment: "c", reason: "r")
        case .conflict: .refused(reason: "r", retryAfter: 1)
        case .refused: .closed(container: "c", reason: "r")
        case .closed: .cursorInvalid("r")
        case .cursorInvalid: .limitExceeded(limit: "screens", value: 1, retryAfter: 1)
        case .limitExceeded: .parameterInvalid(parameter: "p", reason: "r")
        case .parameterInvalid: .topicInvalid(topic: "t", reason: "r")
        case .topicInvalid: .screenNotFound("s")
        case .screenNotFound: .storeUnavailable(reason: "r", retryAfter: 1)
        case .storeUnavailable: .noSpace(path: "p", needed: 2, free: 1)
        case .noSpace: .componentUnavailable(component: "p", reason: "r", retryAfter: 1)
        case .componentUnavailable:
            .componentFailed(
                ComponentFailure(component: "p", reason: "r", details: "d", retryAfter: 1))
        case .componentFailed: nil
        }
    }

    @Test func `every error has the members that each interface declares under its name`() throws {
        for interface in ControlRouter.interfaces {
            let definition = try InterfaceDefinition(interface.description)
            for error in Self.errors {
                let reply = error.reply(of: interface)
                guard
                    let declared = definition.errors.first(where: {
                        "\(interface.name).\($0.name)" == reply.name
                    })
                else { continue }
                // What an error of the text adds, a hint, the host has not.
                let required = declared.parameters.fields.map(\.name).filter { $0 != "hint" }
                guard case .object(let members) = reply.parameters.value else {
                    Issue.record("\(reply) carries no object")
                    continue
                }
                #expect(Set(members.map(\.name)) == Set(required), "\(reply.name)")
            }
        }
    }

    @Test(arguments: errors)
    func `every error is read by a client as what it is, whichever interface replies with it`(
        _ error: HostError
    ) {
        let declared = Set(ControlRouter.interfaces.flatMap { $0.errorNames })
        for interface in ControlRouter.interfaces {
            let reply = error.reply(of: interface)
            #expect(declared.contains(reply.name))
            #expect(InterfaceError(reply) == error.published())
        }
    }

    @Test(arguments: errors)
    func `every error has a sentence`(_ error: HostError) {
        #expect(!error.sentence.isEmpty)
        #expect(error.sentence != String(describing: error))
    }

    @Test(arguments: [false, true])
    func `how a component failed is for those who look after it, others read what to do`(
        isOfCall: Bool
    ) {
        let error = HostError.componentFailed(
            ComponentFailure(
                component: "stars", reason: "Try again.", details: "The worker 7 ended.",
                retryAfter: 2, isOfCall: isOfCall))
        #expect(error.sentence == "The worker 7 ended.", "for the log")
        for (hasDetails, words) in [(false, "Try again."), (true, "The worker 7 ended.")] {
            let reply = error.reply(of: Votes.self, hasDetails: hasDetails)
            let name = isOfCall ? "Refused" : "ComponentUnavailable"
            #expect(reply.name == "org.atrium.Votes.\(name)")
            #expect(reply.parameters.value["reason"]?.string == words)
            #expect(reply.parameters.value["retryAfter"]?.int == 2)
        }
    }

    @Test func `a component outside the scope is a parameter that can't be, in every interface`() {
        let error = HostError.componentNotInScope(component: "list", scope: "past", shown: ["old"])
        let reply = error.reply(of: Contents.self)
        #expect(reply.name == "org.atrium.Daemon.ParameterInvalid")
        #expect(
            reply.parameters.value["reason"]?.string
                == "The scope 'past' does not show 'list', but old: omit the scope or the component."
        )
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
