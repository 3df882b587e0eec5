internal import JSONCodec

/// What stands in the later calls and replies.
enum Values {
    static let map = ["foo": "Foo", "bar": "Bar"]

    static let replies = (1...10).map { "Reply number \($0)" }

    static var everything: MyType {
        MyType(
            object: JSONObject([
                .init("method", "org.varlink.certification.Test09"),
                .init("parameters", ["map": ["foo": "Foo", "bar": "Bar"]]),
            ]),
            enum: .two,
            struct: .init(first: 1, second: "2"),
            array: ["one", "two", "three"],
            dictionary: map,
            stringset: ["one": .init(), "two": .init(), "three": .init()],
            interface: Interface(
                foo: [nil, ["foo": .foo, "bar": .bar], nil, ["one": .foo, "two": .bar]],
                anon: .init(foo: true, bar: false)))
    }
}
