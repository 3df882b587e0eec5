import AtriumKit
import AtriumKitTesting
import Testing

private enum Flavour: String, CaseIterable, Sendable {
    case sweet, sour
}

/// One setting of each type, with and without a default.
private enum Cake {
    static let note = Setting.text("note", "A text.")
    static let flavour = Setting.choice("flavour", of: Flavour.self, "A word.").defaulting(
        to: .sour)
    static let weight = Setting.number("weight", in: 0...9.5, "A number.").defaulting(to: 1)
    static let pieces = Setting.integer("pieces", in: 1...12, "A whole number.").required()
    static let isCut = Setting.boolean("isCut", "Whether it is.").defaulting(to: false)
    static let guests = Setting.list("guests", "Who comes.")
    static let prices = Setting.object("prices", "What it costs.").defaulting(to: ["all": 3])
    static let recipe = Setting.secret("recipe", "How it is made.")
    static let shelf = Setting.path("shelf", "Where it is.").defaulting(to: "/cakes")

    static let all = [
        note.setting, flavour.setting, weight.setting, pieces.setting, isCut.setting,
        guests.setting, prices.setting, recipe.setting, shelf.setting,
    ]

    static func settings(
        _ values: [String: Value], secrets: [String: String] = [:]
    ) throws(SettingError) -> Settings {
        try Settings(values, declared: all, secrets: secrets)
    }
}

@Suite struct `Settings with types` {
    @Test func `what is not given is the default, or nil`() throws {
        let settings = try Cake.settings(["pieces": 8])
        #expect(settings[Cake.note] == nil)
        #expect(settings[Cake.flavour] == .sour)
        #expect(settings[Cake.weight] == 1)
        #expect(settings[Cake.pieces] == 8)
        #expect(!settings[Cake.isCut])
        #expect(settings[Cake.guests] == nil)
        #expect(settings[Cake.prices] == ["all": 3])
        #expect(settings[Cake.recipe] == nil)
        #expect(settings[Cake.shelf] == "/cakes")
    }

    @Test func `what is given is read as it is`() throws {
        let settings = try Cake.settings(
            [
                "note": "n", "flavour": "sweet", "weight": 2, "pieces": 12, "isCut": true,
                "guests": ["ann"], "prices": [:], "recipe": ["secretFile": "/r"], "shelf": "/s",
            ], secrets: ["recipe": "eggs"])
        #expect(settings[Cake.note] == "n")
        #expect(settings[Cake.flavour] == .sweet)
        #expect(settings[Cake.weight] == 2)
        #expect(settings[Cake.pieces] == 12)
        #expect(settings[Cake.isCut])
        #expect(settings[Cake.guests] == ["ann"])
        #expect(settings[Cake.prices] == [:])
        #expect(settings[Cake.recipe] == "eggs")
        #expect(settings[Cake.shelf] == "/s")
    }

    @Test func `what breaks a declaration is refused, with the range or the words`() throws {
        for (name, value, expected) in [
            ("pieces", 13, "expected a whole number from 1 to 12, found 13"),
            ("weight", 9.6, "expected a number from 0 to 9.5, found 9.6"),
            ("flavour", "salty", "expected one of sweet, sour, found 'salty'"),
            ("isCut", "yes", "expected true or false, found text"),
        ] as [(String, Value, String)] {
            let error = #expect(throws: SettingError.self) {
                try Cake.settings(["pieces": 8].merging([name: value]) { $1 })
            }
            #expect(error?.setting == name)
            #expect(error?.reason == expected)
        }
        #expect(throws: SettingError("pieces", "required: A whole number.")) {
            try Cake.settings([:])
        }
    }

    @Test func `a default that its declaration does not allow is refused where it would be used`()
        throws
    {
        let pieces = Setting.integer("pieces", in: 1...12, "A whole number.").defaulting(to: 13)
        let shelf = Setting.path("shelf", "Where it is.").defaulting(to: "cakes")
        let recipe = Setting.secret("recipe", "How it is made.").defaulting(to: "eggs")
        for (setting, evidence) in [
            (pieces.setting, "from 1 to 12, found 13"), (shelf.setting, "begins with /"),
            (recipe.setting, "does not stand in a definition"),
        ] {
            let error = #expect(throws: SettingError.self) {
                try Settings([:], declared: [setting])
            }
            #expect(error?.setting == setting.name)
            #expect(error?.reason.hasPrefix("the plugin declares a default") == true)
            #expect(error?.reason.contains(evidence) == true, "\(error?.reason ?? "")")
        }
        #expect(try Settings(["pieces": 2], declared: [pieces.setting])[pieces] == 2)
    }

    @Test func `values can be compared by their declarations, whatever their type`() throws {
        let (one, other) = (try Cake.settings(["pieces": 8]), try Cake.settings(["pieces": 9]))
        #expect(Cake.all.filter { one[$0] != other[$0] }.map(\.name) == ["pieces"])
    }

    @Test func `the declarations say the defaults`() {
        #expect(
            Cake.all.map(\.defaultValue) == [
                nil, "sour", .number(1), nil, false, nil, ["all": 3], nil, "/cakes",
            ])
        #expect(Cake.all.filter(\.required).map(\.name) == ["pieces"])
    }

    @Test func `reading a required setting that was not declared ends with its name`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            let settings = try Settings([:], declared: [])
            _ = settings[Setting.text("lost", "A text.").required()]
        }
        let said = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(said.contains("'lost'"), "\(said)")
    }
}
