import JSONCodec

/// A call, as it goes over the wire.
struct Call: Sendable {
    let method: String
    var parameters: JSONValue
    var flag: String?

    init(_ method: String, _ parameters: JSONValue = .object([]), flag: String? = nil) {
        self.method = method
        self.parameters = parameters
        self.flag = flag
    }

    /// The message, for a run of this name.
    func message(run: String) -> [UInt8] {
        var parameters = parameters
        parameters["client_id"] = .string(run)
        var message: JSONValue = ["method": .string("org.varlink.certification.\(method)")]
        message["parameters"] = method == "Start" ? nil : parameters
        if let flag { message[flag] = true }
        return JSON.encode(message) + [0]
    }
}

/// What is said in a run after `Start`.
enum Script {
    private static let scalars: JSONValue = [
        "bool": false, "int": 2, "float": .double(.pi), "string": "a lot of string",
    ]
    private static let map: JSONValue = ["foo": "Foo", "bar": "Bar"]
    private static let strings: JSONValue = ["one": [:], "two": [:], "three": [:]]
    private static let everything: JSONValue = [
        "object": ["method": "org.varlink.certification.Test09", "parameters": ["map": map]],
        "enum": "two",
        "struct": ["first": 1, "second": "2"],
        "array": ["one", "two", "three"],
        "dictionary": map,
        "stringset": strings,
        "interface": [
            "foo": [nil, ["foo": "foo", "bar": "bar"], nil, ["one": "foo", "two": "bar"]],
            "anon": ["foo": true, "bar": false],
        ],
    ]

    /// All calls, as they should be.
    static let right: [Call] = [
        Call("Test01"),
        Call("Test02", ["bool": true]),
        Call("Test03", ["int": 1]),
        Call("Test04", ["float": .double(1)]),
        Call("Test05", ["string": "ping"]),
        Call("Test06", scalars),
        Call("Test07", ["struct": scalars]),
        Call("Test08", ["map": map]),
        Call("Test09", ["set": strings]),
        Call("Test10", ["mytype": everything], flag: "more"),
        Call(
            "Test11",
            ["last_more_replies": .array((1...10).map { .string("Reply number \($0)") })],
            flag: "oneway"),
        Call("End"),
    ]

    /// A change that makes a call wrong, by its method: the types stay right.
    private static let mistakes: [(method: String, change: @Sendable (inout JSONValue) -> Void)] = [
        ("Test02", { $0["bool"] = false }),
        ("Test03", { $0["int"] = -9_007_199_254_740_993 }),
        ("Test04", { $0["float"] = 1.0000000001 }),
        ("Test05", { $0["string"] = "ping\u{0}\"\u{1F4A5}" }),
        ("Test06", { $0["float"] = 3.14 }),
        ("Test07", { $0["struct"]?["bool"] = true }),
        ("Test08", { $0["map"]?["more"] = "More" }),
        ("Test09", { $0["set"]?["two"] = nil }),
        ("Test10", { $0["mytype"]?["enum"] = "three" }),
    ]

    /// A run that is right to its end, and for each method one that ends with a wrong call of it.
    static let all: [[Call]] =
        [right]
        + mistakes.map { mistake in
            let place = right.firstIndex { $0.method == mistake.method } ?? 0
            var calls = Array(right[...place])
            mistake.change(&calls[place].parameters)
            return calls
        }
}
