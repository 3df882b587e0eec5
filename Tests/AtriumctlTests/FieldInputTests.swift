import ArgumentParser
import AtriumFormats
import Glibc
import Interfaces
import JSONCodec
import TestSupport
import Testing

@testable import atriumctl

@Suite struct `FIELD=VALUE` {
    private let fields = [
        Field(name: "title", type: "text", required: true, search: true),
        Field(name: "genres", type: "keywords", required: false, search: false),
        Field(name: "rating", type: "number", required: false, search: false),
        Field(name: "year", type: "integer", required: false, search: false),
        Field(name: "seen", type: "boolean", required: false, search: false),
        Field(name: "duration", type: "duration", required: false, search: false),
        Field(name: "released", type: "time", required: false, search: false),
    ]

    private func object(_ words: String...) throws -> JSONObject {
        JSONObject(try FieldInput.members(words, fields: fields))
    }

    @Test func `is typed as the container declares its fields`() throws {
        let object = try object(
            "title=1984", "genres=drama, crime", "rating=8.5", "year=1984", "seen=yes",
            "duration=1h57m", "released=1984-10-10")
        #expect(
            object.text
                == #"{"title":"1984","genres":["drama","crime"],"rating":8.5,"year":1984,"#
                + #""seen":true,"duration":7020,"released":"1984-10-10"}"#)
    }

    @Test func `keywords add up when they stand several times`() throws {
        #expect(
            try object("genres=a", "genres=b,c").text == #"{"genres":["a","b","c"]}"#)
    }

    @Test func `any other field stands once`() throws {
        let failure = #expect(throws: CommandFailure.self) { try object("title=A", "title=B") }
        #expect(failure?.sentence == "the field 'title' has two values")
        #expect(failure?.status == .usage)
    }

    @Test func `an equals sign may stand in the value`() throws {
        #expect(try object("title=a=b").text == #"{"title":"a=b"}"#)
    }

    @Test func `no value takes the field away`() throws {
        #expect(try object("rating=").text == #"{"rating":null}"#)
    }

    @Test(arguments: [
        "rating=high", "year=19.5", "seen=maybe", "duration=soon", "duration=1:99", "rating=nan",
        "title", "=x", "titel=x", "rating=inf", "rating=0x1F", "year=0x7", "duration=0x10",
        "rating=9007199254740993", "duration=9007199254740993", "duration=9007199254740993s",
        "rating=12345678901234567890", "rating=-9223372036854775809",
    ])
    func `what does not fit is wrong usage`(word: String) throws {
        let failure = try #require(
            #expect(throws: CommandFailure.self) { try object(word) })
        #expect(failure.status == .usage)
    }

    @Test func `a whole number that is not kept exactly is refused, and text is advised`() throws {
        let failure = #expect(throws: CommandFailure.self) { try object("rating=9007199254740993") }
        #expect(
            failure?.sentence
                == "rating: expected a number that a 64-bit float holds exactly "
                + "(a field of the type text keeps every digit), found '9007199254740993'")
        #expect(
            try object("rating=9007199254740994", "duration=-0").text
                == #"{"rating":9007199254740994,"duration":0}"#)
        #expect(
            try object("rating=+1e3", "duration=9007199254740992").text
                == #"{"rating":1000,"duration":9007199254740992}"#)
    }

    @Test func `an unknown field names the nearest, and all`() throws {
        let failure = try #require(
            #expect(throws: CommandFailure.self) { try object("raiting=8") })
        #expect(failure.sentence == "there is no field 'raiting'")
        #expect(failure.hint?.hasPrefix("did you mean 'rating'? There are: title, genres,") == true)
    }

    @Test(arguments: [
        ("7020", 7020), ("1h57m", 7020), ("117m", 7020), ("1:57:00", 7020), ("2:30", 150),
        ("1.5h", 5400), ("90s", 90), ("999999999999999999:00", 6e19),
    ])
    func `durations`(text: String, seconds: Double) {
        #expect(FieldValues.duration(text) == seconds)
    }

    @Test(arguments: [
        "", "h", "5x", "-3", "1:2:3:4", "12m5", String(repeating: "9", count: 400) + "h",
        String(repeating: "9", count: 400) + ":00",
    ])
    func `what is no duration`(text: String) {
        #expect(FieldValues.duration(text) == nil)
    }
}

@Suite struct `Words of the command line` {
    @Test func `a target is a container, or an item whose id may hold slashes`() {
        #expect(Target(argument: "films")?.item == nil)
        #expect(Target(argument: "films/alien-1979")?.item == "alien-1979")
        #expect(Target(argument: "debian/a/b")?.item == "a/b")
        let item = Target(argument: "films/cafe\u{301}")?.item
        #expect(item?.utf8.elementsEqual("caf\u{E9}".utf8) == true, "ids are in NFC")
        #expect(Target(argument: "/x") == nil)
        #expect(Target(argument: "films/") == nil)
    }

    @Test func `filters of a section stay together, in order`() {
        let choices = ["genre=drama", "rating=8+", "genre=crime"]
            .compactMap(FilterChoice.init(argument:))
        #expect(
            FilterChoice.selection(choices)
                == ["genre": ["drama", "crime"], "rating": ["8+"]])
        #expect(FilterChoice(argument: "genre") == nil)
        #expect(FilterChoice(argument: "=x") == nil)
        #expect(FilterChoice(argument: "range=1..5=")?.filter == "1..5=")
    }

    @Test func `options before the command go where the command takes them`() {
        #expect(
            CommandLineWords.arrange(["--socket", "/s", "--json", "list", "films"])
                == ["list", "films", "--socket", "/s", "--json"])
        #expect(
            CommandLineWords.arrange(["--json", "comment", "films", "--", "-1"])
                == ["comment", "films", "--json", "--", "-1"])
        #expect(CommandLineWords.arrange(["list", "--json"]) == ["list", "--json"])
        #expect(CommandLineWords.arrange(["--help"]) == ["--help"])
    }

    @Test func `a descending sort is no option`() throws {
        let command = try #require(
            try Atriumctl.parseAsRoot([
                "list", "films", "--sort", "-rating", "--filter", "genre=drama", "--limit", "5",
            ]) as? ListCommand)
        #expect(command.order.fields == ["-rating"])
        #expect(command.page.limit == 5)
    }

    @Test func `a setting is JSON, or else a text`() throws {
        #expect(try AttachCommand.member("scale=10").value == 10)
        #expect(try AttachCommand.member("field=genres").value == "genres")
        #expect(try AttachCommand.member(#"subjects=["items"]"#).value == ["items"])
    }

    @Test func `names of the protocol may be short`() {
        #expect(InterfaceName.full(interface: "Contents") == "org.atrium.Contents")
        #expect(InterfaceName.full(method: "Contents.List") == "org.atrium.Contents.List")
        #expect(
            InterfaceName.full(method: "org.varlink.service.GetInfo")
                == "org.varlink.service.GetInfo")
    }

    @Test func `parameters are sent as they are written`() throws {
        let text = #"{"big":12345678901234567890,"float":1.50}"#
        #expect(try JSONArgument.object(" \(text)\n", "the parameters").text == text)
    }

    @Test(arguments: [
        ("[1]", "the parameters: expected a JSON object, found JSON, but no object"),
        ("nojson", "the parameters: expected a JSON object, found what is no JSON"),
        ("{", "the parameters: expected a JSON object, found what is no JSON: "),
        ("", "the parameters: expected a JSON object, found what is no JSON"),
    ])
    func `parameters that are no object are named as what they are`(text: String, problem: String) {
        let failure = #expect(throws: CommandFailure.self) {
            try JSONArgument.object(text, "the parameters")
        }
        #expect(failure?.sentence.hasPrefix(problem) == true, "\(failure as Any)")
        #expect(failure?.sentence.contains("null") == false, "\(failure as Any)")
    }

    @Test func `the socket is the named one, the environment's, the user's own, or the machine's`()
        throws
    {
        var isTrusted = true
        let find = { (given: String?, variables: [String: String], there: Set<String>) in
            try SocketPath.find(
                given: given, environment: { variables[$0] }, exists: there.contains, uid: 7,
                check: { folder, _ throws(CommandFailure) in
                    if !isTrusted { throw CommandFailure(folder) }
                })
        }
        let user = "/run/user/7/atrium/atrium.sock"
        let system = "/run/atrium/atrium.sock"
        let runtime = ["XDG_RUNTIME_DIR": "/run/user/7"]
        #expect(try find("/x", ["ATRIUM_SOCKET": "/y"], []) == "/x")
        #expect(try find(nil, ["ATRIUM_SOCKET": "/y"], []) == "/y")
        #expect(try find(nil, runtime, [user, system]) == user)
        #expect(try find(nil, runtime, [system]) == system)
        let temporary = "/tmp/atrium-7/atrium.sock"
        #expect(try find(nil, [:], [temporary]) == temporary)
        #expect(try find(nil, [:], [temporary, system]) == temporary)
        #expect(try find(nil, runtime, [user, temporary, system]) == user)
        isTrusted = false
        #expect(try find(nil, [:], [temporary, system]) == system)
        #expect(throws: CommandFailure.self) { try find(nil, [:], [temporary]) }
        #expect(try find(nil, runtime, []) == user)
    }

    @Test func `a folder below /tmp that is not the user's own is refused`() throws {
        let home = try TemporaryDirectory()
        let folder = home.path + "/atrium-7"
        func problem(of uid: uid_t = getuid()) -> String? {
            do throws(CommandFailure) {
                try SocketPath.checkOwner(of: folder, uid: uid)
                return nil
            } catch {
                #expect(error.status == .unreachable)
                return error.sentence
            }
        }
        #expect(problem()?.contains("can't be looked at") == true)
        mkdir(folder, 0o700)
        #expect(problem() == nil)
        chmod(folder, 0o720)
        #expect(problem()?.contains("may be written to by others (mode 720)") == true)
        chmod(folder, 0o700)
        if getuid() == 0 {
            chown(folder, 7, 7)
            #expect(problem(of: 7) == nil)
            #expect(problem(of: 8)?.contains("belongs to") == true)
        }
        symlink(folder, folder + "-link")
        let linked = #expect(throws: CommandFailure.self) {
            try SocketPath.checkOwner(of: folder + "-link", uid: 7)
        }
        #expect(linked?.sentence.contains("is no folder") == true)
    }
}
