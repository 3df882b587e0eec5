/// A definition and what is generated from it, side by side.
///
/// After a change of the generator that is meant, write its new output here, and read the difference.
enum Golden {
    static let definition = ##"""
        # How a jukebox is asked.
        interface org.example.Jukebox

        # A song. default: where it is a keyword.
        type Song (
          # What it is called.
          title: string,
          default: bool,
          source: (disk, radio),
          marks: [](at: int, key: ?any)
        )

        # Plays a song. A song is a type too.
        method Song(song: Song, json: ?[string][]int) -> ()

        error Broken (parts: []string)

        """##

    static let interfaceFile = ##"""
        // Generated from org.example.Jukebox.varlink.

        public import JSONCodec
        public import Varlink

        /// How a jukebox is asked.
        public enum Jukebox: VarlinkInterface {
            /// The interface's name.
            public static let name = "org.example.Jukebox"

            /// Its definition.
            public static let description = #"""
                # How a jukebox is asked.
                interface org.example.Jukebox

                # A song. default: where it is a keyword.
                type Song (
                  # What it is called.
                  title: string,
                  default: bool,
                  source: (disk, radio),
                  marks: [](at: int, key: ?any)
                )

                # Plays a song. A song is a type too.
                method Song(song: Song, json: ?[string][]int) -> ()

                error Broken (parts: []string)

                """#

            /// Its methods, in the order of the definition.
            public static let methods: [any VarlinkMethod.Type] = [Song.self]

            /// Their full names.
            public static let methodNames: [String] = [Song.name]

            /// Plays a song. A song is a type too.
            public enum Song: VarlinkMethod {
                /// The method's full name.
                public static let name = "org.example.Jukebox.Song"

                /// What a call carries.
                public struct Parameters: VarlinkCodable, Hashable {
                    /// `song`
                    public var song: Sample.Song

                    /// `json`
                    public var json: [String: [Int]]?

                    /// Makes a value; what may be absent is nil by default.
                    public init(song: Sample.Song, json: [String: [Int]]? = nil) {
                        self.song = song
                        self.json = json
                    }

                    /// Reads an object with these members.
                    public init(json json_: inout JSONReader) throws(JSONError) {
                        var song: Sample.Song?
                        var json: [String: [Int]]?
                        var seen = JSONMemberSet()
                        var others = JSONKeySet()
                        try json_.beginObject()
                        while let key = try json_.nextKey() {
                            switch key {
                            case "song":
                                try seen.insert(0, named: key, in: json_)
                                song = try Sample.Song(json: &json_)
                            case "json":
                                try seen.insert(1, named: key, in: json_)
                                if try !json_.readNull() { json = try [String: [Int]](json: &json_) }
                            default: try json_.skipUnknownMember(key, among: &others)
                            }
                        }
                        guard let song else { throw json_.missingMember("song") }
                        self.song = song
                        self.json = json
                    }

                    /// Writes an object with these members, without those that are nil.
                    public func write(to json: inout JSONWriter) {
                        json.beginObject()
                        json.key("song")
                        self.song.write(to: &json)
                        if let value = self.json {
                            json.key("json")
                            value.write(to: &json)
                        }
                        json.endObject()
                    }
                }

                /// What a reply carries.
                public struct Reply: VarlinkCodable, Hashable {
                    /// Makes the only value.
                    public init() {}

                    /// Reads an object with these members.
                    public init(json: inout JSONReader) throws(JSONError) {
                        var others = JSONKeySet()
                        try json.beginObject()
                        while let key = try json.nextKey() {
                            try json.skipUnknownMember(key, among: &others)
                        }
                    }

                    /// Writes an object with these members, without those that are nil.
                    public func write(to json: inout JSONWriter) {
                        json.beginObject()
                        json.endObject()
                    }
                }
            }

            /// The error `org.example.Jukebox.Broken`.
            public struct Broken: VarlinkErrorReply, Hashable {
                /// The error's full name.
                public static let name = "org.example.Jukebox.Broken"

                /// `parts`
                public var parts: [String]

                /// Makes a value; what may be absent is nil by default.
                public init(parts: [String]) {
                    self.parts = parts
                }

                /// Reads an object with these members.
                public init(json: inout JSONReader) throws(JSONError) {
                    var parts: [String]?
                    var seen = JSONMemberSet()
                    var others = JSONKeySet()
                    try json.beginObject()
                    while let key = try json.nextKey() {
                        switch key {
                        case "parts":
                            try seen.insert(0, named: key, in: json)
                            parts = try [String](json: &json)
                        default: try json.skipUnknownMember(key, among: &others)
                        }
                    }
                    guard let parts else { throw json.missingMember("parts") }
                    self.parts = parts
                }

                /// Writes an object with these members, without those that are nil.
                public func write(to json: inout JSONWriter) {
                    json.beginObject()
                    json.key("parts")
                    self.parts.write(to: &json)
                    json.endObject()
                }
            }
        }

        /// What implements `org.example.Jukebox`: a function for each method.
        ///
        /// Each runs on the server's loop and answers by its call, at once or later.
        public protocol JukeboxService: Sendable {
            /// Plays a song. A song is a type too.
            func song(
                _ parameters: Jukebox.Song.Parameters,
                call: VarlinkCall<Jukebox.Song.Reply>
            )
        }

        extension JukeboxService {
            /// Makes a router answer `org.example.Jukebox` by this service.
            public func register(in router: inout VarlinkRouter) {
                router.add(Jukebox.self)
                router.handle(Jukebox.Song.self) { parameters, call in
                    song(parameters, call: call)
                }
            }
        }

        """##

    static let sharedTypesFile = ##"""
        // Generated from the interface definitions: the types that they name.

        public import JSONCodec
        public import Varlink

        /// A song. default: where it is a keyword.
        public struct Song: VarlinkCodable, Hashable {
            /// What it is called.
            public var title: String

            /// `default`
            public var `default`: Bool

            /// `source`
            public var source: Source

            /// `marks`
            public var marks: [Marks]

            /// Makes a value; what may be absent is nil by default.
            public init(title: String, `default`: Bool, source: Source, marks: [Marks]) {
                self.title = title
                self.`default` = `default`
                self.source = source
                self.marks = marks
            }

            /// Reads an object with these members.
            public init(json: inout JSONReader) throws(JSONError) {
                var title: String?
                var `default`: Bool?
                var source: Source?
                var marks: [Marks]?
                var seen = JSONMemberSet()
                var others = JSONKeySet()
                try json.beginObject()
                while let key = try json.nextKey() {
                    switch key {
                    case "title":
                        try seen.insert(0, named: key, in: json)
                        title = try json.readString()
                    case "default":
                        try seen.insert(1, named: key, in: json)
                        `default` = try json.readBool()
                    case "source":
                        try seen.insert(2, named: key, in: json)
                        source = try Source(json: &json)
                    case "marks":
                        try seen.insert(3, named: key, in: json)
                        marks = try [Marks](json: &json)
                    default: try json.skipUnknownMember(key, among: &others)
                    }
                }
                guard let title else { throw json.missingMember("title") }
                guard let `default` else { throw json.missingMember("default") }
                guard let source else { throw json.missingMember("source") }
                guard let marks else { throw json.missingMember("marks") }
                self.title = title
                self.`default` = `default`
                self.source = source
                self.marks = marks
            }

            /// Writes an object with these members, without those that are nil.
            public func write(to json: inout JSONWriter) {
                json.beginObject()
                json.key("title")
                json.string(self.title)
                json.key("default")
                json.bool(self.`default`)
                json.key("source")
                self.source.write(to: &json)
                json.key("marks")
                self.marks.write(to: &json)
                json.endObject()
            }

            /// What `source` holds.
            public enum Source: String, VarlinkCodable, Hashable, CaseIterable {
                /// `disk`
                case disk
                /// `radio`
                case radio

                /// Reads one of the values.
                public init(json: inout JSONReader) throws(JSONError) {
                    self = try json.readCase(of: Self.self)
                }

                /// Writes the value.
                public func write(to json: inout JSONWriter) {
                    json.string(rawValue)
                }
            }

            /// What `marks` holds.
            public struct Marks: VarlinkCodable, Hashable {
                /// `at`
                public var at: Int

                /// `key`
                public var key: JSONValue?

                /// Makes a value; what may be absent is nil by default.
                public init(at: Int, key: JSONValue? = nil) {
                    self.at = at
                    self.key = key
                }

                /// Reads an object with these members.
                public init(json: inout JSONReader) throws(JSONError) {
                    var at: Int?
                    var key: JSONValue?
                    var seen = JSONMemberSet()
                    var others = JSONKeySet()
                    try json.beginObject()
                    while let key_ = try json.nextKey() {
                        switch key_ {
                        case "at":
                            try seen.insert(0, named: key_, in: json)
                            at = try json.readInt()
                        case "key":
                            try seen.insert(1, named: key_, in: json)
                            if try !json.readNull() { key = try JSONValue(json: &json) }
                        default: try json.skipUnknownMember(key_, among: &others)
                        }
                    }
                    guard let at else { throw json.missingMember("at") }
                    self.at = at
                    self.key = key
                }

                /// Writes an object with these members, without those that are nil.
                public func write(to json: inout JSONWriter) {
                    json.beginObject()
                    json.key("at")
                    json.int(self.at)
                    if let value = self.key {
                        json.key("key")
                        value.write(to: &json)
                    }
                    json.endObject()
                }
            }
        }

        """##
}
