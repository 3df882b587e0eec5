import Interfaces
import JSONCodec
import Testing
import Varlink

/// What was generated from the real definitions, at work.
@Suite struct GeneratedTypesTests {
    private func text(_ value: some JSONWritable) -> String {
        String(decoding: JSON.encode(value), as: UTF8.self)
    }

    @Test func `parameters are read by name, and what may be absent is nil`() throws {
        let cast = try JSON.decode(
            Votes.Cast.Parameters.self, from: #"{"value": 4, "container": "films", "item": null}"#)
        #expect(cast == Votes.Cast.Parameters(container: "films", value: 4))
        #expect(text(cast) == #"{"container":"films","value":4}"#)
    }

    @Test func `a wrong, missing or undeclared parameter is named`() {
        func member(_ text: String) -> String? {
            do throws(JSONError) {
                _ = try JSON.decode(Votes.Cast.Parameters.self, from: text)
                return nil
            } catch {
                return error.member
            }
        }
        #expect(member(#"{"container": "films", "value": "4"}"#) == "value")
        #expect(member(#"{"container": "films"}"#) == "value")
        #expect(member(#"{"container": "films", "value": 4, "itme": "x"}"#) == "itme")
        #expect(member(#"{"container": "films", "value": 4, "value": 5}"#) == "value")
        #expect(member(#"{"container": "films", "value": null}"#) == "value")
    }

    @Test func `a reply of a newer daemon is understood`() throws {
        let reply = try JSON.decode(
            Votes.Cast.Reply.self,
            from:
                #"{"tally": {"count": 1, "histogram": {"4": 1}, "new": []}, "sequence": 7, "more": 1}"#,
            allowsUnknownMembers: true)
        #expect(reply.tally == VoteTally(count: 1, histogram: ["4": 1]))
        #expect(reply.sequence == 7)
    }

    @Test func `types shared by interfaces and types without names go there and back`() throws {
        let section = Section(
            id: "genre", title: "Genre", input: .several,
            filters: [.init(id: "drama", title: "Drama", count: 3, selected: true)])
        let reply = Contents.List.Reply(
            items: [Item(id: "a", fields: ["year": 1972], comments: 0)], total: 1,
            sections: [section], sequence: 9)
        let written = text(reply)
        #expect(
            written
                == #"{"items":[{"id":"a","fields":{"year":1972},"comments":0}],"total":1,"sections":[{"#
                + #""id":"genre","title":"Genre","input":"several","filters":[{"id":"drama","#
                + #""title":"Drama","count":3,"selected":true}]}],"sequence":9}"#)
        #expect(try JSON.decode(Contents.List.Reply.self, from: written) == reply)
        let counts = Filters.List.Reply(sections: [section], total: 1, sequence: 9)
        #expect(try JSON.decode(Filters.List.Reply.self, from: text(counts)) == counts)
    }

    @Test func `an unknown value of an enumeration is refused with the known ones`() {
        let error = #expect(throws: JSONError.self) {
            try JSON.decode(
                Comments.Thread.Parameters.self, from: #"{"container": "films", "order": "best"}"#)
        }
        #expect(
            error?.description
                == "order: expected one of oldest, newest, found 'best' (at byte 32)")
    }

    @Test func `an error is read under the name of every interface that declares it`() {
        let error = InterfaceError.limitExceeded(
            limit: "screens", value: 9, retryAfter: nil, setting: "limits.screens")
        for interface in PublishedInterfaces.all {
            let reply = error.reply(of: interface)
            #expect(InterfaceError(reply) == error)
            let own = interface.name + ".LimitExceeded"
            #expect(interface.errorNames.contains(own) == (reply.name == own))
        }
        // Plugins declares none.
        #expect(error.reply(of: Plugins.self).name == Comments.LimitExceeded.name)
    }

    @Test func `an error of a newer service is read, but for one without its parameters`() {
        let name = Votes.Refused.name
        #expect(
            InterfaceError(
                VarlinkRemoteError(name: name, parameters: ["reason": "no", "new": [1]]))
                == .refused(reason: "no", retryAfter: nil))
        #expect(InterfaceError(VarlinkRemoteError(name: name)) == nil)
        #expect(InterfaceError(VarlinkRemoteError(name: "org.atrium.Votes.New")) == nil)
        #expect(
            InterfaceError(VarlinkRemoteError(name: Metrics.NoSuchMetric.name)) == .noSuchMetric)
    }

    @Test func `every interface has its name, text and methods`() {
        for interface in PublishedInterfaces.all {
            #expect(interface.description.contains("\ninterface \(interface.name)\n"))
            #expect(interface.methodNames.allSatisfy { $0.hasPrefix(interface.name + ".") })
            #expect(!interface.methodNames.isEmpty)
        }
        #expect(!PublishedInterfaces.all.contains { $0.name == Worker.name })
        #expect(Votes.methods.map { $0.name } == Votes.methodNames)
    }
}
