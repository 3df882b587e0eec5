import AtriumFormats
import JSONCodec
import Testing

/// Places in JSON, as RFC 6901 has them.
struct JSONPointerTests {
    /// The examples of RFC 6901, section 5.
    @Test func `a pointer leads to what RFC 6901 says`() throws {
        let text = #"""
            {"foo": ["bar", "baz"], "": 0, "a/b": 1, "c%d": 2, "e^f": 3, "g|h": 4, "i\\j": 5, "k\"l": 6,
             " ": 7, "m~n": 8}
            """#
        let whole = try JSON.decode(JSONValue.self, from: text)
        let places: [(String, JSONValue)] = [
            ("", whole), ("/foo", ["bar", "baz"]), ("/foo/0", "bar"), ("/", 0), ("/a~1b", 1),
            ("/c%d", 2), ("/e^f", 3), ("/g|h", 4), ("/i\\j", 5), ("/k\"l", 6), ("/ ", 7),
            ("/m~0n", 8),
        ]
        for (place, value) in places {
            let pointer = try #require(JSONPointer(place))
            #expect(pointer.value(in: whole) == value, "\(place)")
            #expect(pointer.description == place)
        }
    }

    @Test(arguments: ["/foo/2", "/foo/01", "/foo/-", "/foo/+1", "/foo/bar", "/bar", "/foo/0/x"])
    func `where nothing stands a pointer finds nothing`(place: String) throws {
        let whole: JSONValue = ["foo": ["bar", "baz"]]
        #expect(try #require(JSONPointer(place)).value(in: whole) == nil)
    }

    @Test(arguments: ["foo", "/a~", "/a~2", "#/foo", " /foo"])
    func `what is no pointer is refused`(text: String) {
        #expect(JSONPointer(text) == nil)
    }

    @Test func `the pointer to a member needs no escapes`() {
        #expect(JSONPointer(member: "a/b~c").value(in: ["a/b~c": 1]) == 1)
        #expect(JSONPointer(member: "a/b~c").description == "/a~1b~0c")
    }
}
