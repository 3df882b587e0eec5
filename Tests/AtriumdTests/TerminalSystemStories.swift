import Foundation
import TestSupport
import Testing

extension Stories {
    /// The systems of the examples, worked by keys.
    @Suite struct SystemsAtTerminal {
        private func ready(_ daemon: DaemonUnderTest, _ count: Int) async throws {
            try await until {
                try await daemon.type("atriumctl containers").lines.count { $0.contains(" ready ") }
                    == count
            }
        }

        @Test func `the directory: tabs, into an organisation and back, and on to a person`()
            async throws
        {
            try await withDaemon { daemon in
                let copied = try await daemon.type("cp -r $EXAMPLES/directory directory")
                #expect(copied.status == 0, "\(copied)")
                // The shell is its parent, with which it ends.
                try await daemon.follow("bash -c 'directory/service 0 & wait'") { lines in
                    let address = try await lines.next()
                    let applied = try await daemon.type(
                        "sed -i s,http://127.0.0.1:8471,\(address), directory/*.yaml && "
                            + "atriumctl apply -f directory")
                    #expect(applied.status == 0, "\(applied)")
                    try await ready(daemon, 2)
                    try await Tmux.run("atriumctl open directory", on: daemon) { one in
                        try await one.shows("Amélie Roux")
                        try await one.press("Tab")
                        try await one.shows("City Clinic")
                        try await one.press("Enter")
                        try await one.shows("Directory › City Clinic")
                        try await one.shows("Pharmacy")
                        try await one.drops("Tram Works")
                        try await one.press("Escape")
                        try await one.shows("Tram Works")
                        try await one.drops("› City Clinic")
                        try await one.type("/ar")
                        try await one.shows("Archive")
                        try await one.press("Escape")
                        try await one.shows("Tram Works")
                        try await one.press("BTab")
                        try await one.shows("Jonas Weber")
                        try await one.type("o")
                        try await one.shows("── Amélie Roux")
                        try await one.type("cKnows the maps.")
                        try await one.press("Enter")
                        try await one.shows("· 1 comment ")
                    }
                }
            }
        }

        @Test func `people: who is found and chosen is led to`() async throws {
            try await withDaemon { daemon in
                let applied = try await daemon.type(
                    "cp -r $EXAMPLES/people people && sed -i s,/srv/people,$PWD/people, "
                        + "people/*.yaml && atriumctl apply -f people")
                #expect(applied.status == 0, "\(applied)")
                try await ready(daemon, 4)
                try await Tmux.run("atriumctl open search", on: daemon) { one in
                    try await one.shows("Zofia Król, née Żak")
                    try await one.type("/meli")
                    try await one.shows("Melina Papadaki")
                    try await one.drops("Zofia")
                    try await one.press("Enter")
                    try await one.type("jjo")
                    try await one.shows("led to person")
                    try await one.shows("── Melina Papadaki")
                    try await one.shows("Person")
                }
            }
        }

        @Test func `a day: a date is chosen above its parts, which are gone through`() async throws
        {
            try await withDaemon { daemon in
                let applied = try await daemon.type(
                    "cp -r $EXAMPLES/day day && sed -i s,/srv/day,$PWD/day, day/*.yaml && "
                        + "day/make-days day && atriumctl apply -f day")
                #expect(applied.status == 0, "\(applied)")
                try await ready(daemon, 6)
                let weekday = try await daemon.type("date -u +%u").output.prefix(1)
                try await Tmux.run("atriumctl open day", on: daemon) { one in
                    try await one.shows("My day › Sleep")
                    try await one.shows("Day: Today")
                    try await one.shows("Night")
                    try await one.type("p")
                    try await one.shows("My day › Walks")
                    try await one.shows("4200 steps")
                    try await one.type("f")
                    try await one.shows("[✓] Today")
                    // Seven days of the week, and what clears them; the first and the last are not both today.
                    try await one.type(weekday == "1" ? "G" : "gj")
                    try await one.press("Enter")
                    try await one.shows("[ ] Today")
                    try await one.press("Escape")
                    try await one.drops("4200 steps")
                    try await one.type("x")
                    try await one.shows("9800 steps")
                    try await one.shows("4200 steps")
                    try await one.type("P")
                    try await one.shows("My day › Sleep")
                }
            }
        }

        @Test func `a compilation: its delegate says what was chosen, and a track has details`()
            async throws
        {
            try await withDaemon { daemon in
                let applied = try await daemon.type(
                    "$EXAMPLES/compilation/make-tracks tracks && "
                        + "sed s,/srv/compilation,$PWD/tracks, "
                        + "$EXAMPLES/compilation/compilation.yaml | atriumctl apply -f -")
                #expect(applied.status == 0, "\(applied)")
                try await Tmux.run("atriumctl open compilation", columns: 100, on: daemon) { one in
                    try await one.shows("1 of 9")
                    try await one.type("f")
                    try await one.shows("[ ] Folk")
                    try await one.press("Enter")
                    try await one.shows("You chose Folk.")
                    try await one.press("Escape")
                    try await one.shows("1 of 3")
                    try await one.type("x")
                    try await one.shows("All tracks.")
                    try await one.shows("1 of 9")
                    try await one.type("jjj")
                    try await one.shows("4 of 9")
                    try await one.press("Enter")
                    try await one.shows("── Two Notes")
                    try await one.shows("Nine Tones")
                    try await one.type("5")
                    try await one.shows("5 from 1 vote")
                }
            }
        }
    }
}
