import AtriumKit
import AtriumKitTesting
import CompilationDelegate
import PeopleDelegate
import StaffDelegate
import Testing
import UnitsDelegate

/// The delegates that come with the examples.
@Suite struct ExampleDelegateTests {
    @Test(arguments: 1...3)
    func `the compilation's delegate conforms`(seed: Int) throws {
        try DelegateSuite.run(CompilationDelegate.self, seed: UInt64(seed))
    }

    @Test(arguments: 1...3)
    func `the delegate of people conforms`(seed: Int) throws {
        try DelegateSuite.run(
            PeopleDelegate.self, settings: ["person": "person"], seed: UInt64(seed))
    }

    @Test func `the delegate of people hears of typing, and leads on to who is chosen`() throws {
        let host = try DelegateHost(
            PeopleDelegate.self, settings: ["person": "person"], container: "search")
        host.show(ScreenChoices(), on: "s")
        host.show(ScreenChoices(search: "am"), on: "s")
        host.show(ScreenChoices(search: "am", sort: ["title"]), on: "s")
        #expect(host.published.map(\.name) == ["typed"])
        #expect(host.published.first?.payload == ["letters": 2])
        host.delegate.contents(
            ComponentReference(name: "found", kind: .contents), didSelect: "amelie", on: "s",
            by: ActorID(1))
        #expect(host.leads["s"]?.container == "person" && host.leads["s"]?.item == "amelie")
        #expect(throws: SettingError.self) { try DelegateHost(PeopleDelegate.self) }
    }

    @Test(arguments: 1...3)
    func `the delegates of the directory conform`(seed: Int) throws {
        try DelegateSuite.run(
            StaffDelegate.self, settings: ["person": "colleague"], seed: UInt64(seed))
        try DelegateSuite.run(UnitsDelegate.self, seed: UInt64(seed))
    }

    @Test func `the delegates of the directory lead on, and post that somebody came back`() throws {
        let staff = try DelegateHost(StaffDelegate.self, settings: ["person": "colleague"])
        staff.delegate.contents(
            ComponentReference(name: "people", kind: .contents), didSelect: "bao", on: "s",
            by: ActorID(1))
        #expect(staff.leads["s"]?.container == "colleague" && staff.leads["s"]?.item == "bao")
        #expect(throws: SettingError.self) { try DelegateHost(StaffDelegate.self) }

        let units = try DelegateHost(UnitsDelegate.self, settings: [:])
        var inside = ScreenChoices()
        inside.path = ["clinic"]
        units.show(ScreenChoices(), on: "s")
        units.show(inside, on: "s")
        #expect(units.published.isEmpty)
        units.show(ScreenChoices(), on: "s")
        #expect(units.published.map(\.name) == ["back"])
    }
}
