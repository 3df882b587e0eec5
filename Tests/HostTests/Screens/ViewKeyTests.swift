import AtriumKit
import Testing

@testable import Host

/// The choices by which screens share a view: copies share memory, but no change.
struct ViewKeyTests {
    @Test func `a change of one copy is in no other, and decides what is equal`() {
        let key = ViewKey(ViewKey.Members(search: "heat", limits: ["list": 3]))
        let views = [key: "view"]
        let changes: [(inout ViewKey) -> Void] = [
            { $0.scope = "new" }, { $0.selection["genre"] = ["drama"] }, { $0.search = "alien" },
            { $0.sort.append("-year") }, { $0.limit = 7 }, { $0.limits["list"] = 4 },
            { $0.path.append(ViewKey.PathItem(component: "list", item: "heat")) },
            { $0.hidden.insert("talk") },
        ]
        for change in changes {
            var copy = key
            #expect(copy == key && views[copy] == "view")
            change(&copy)
            #expect(copy != key && views[copy] == nil)
            #expect(key.search == "heat" && key.mostEntries(of: "list") == 3)
            var again = key
            change(&again)
            #expect(again == copy && again.hashValue == copy.hashValue)
        }
    }
}
