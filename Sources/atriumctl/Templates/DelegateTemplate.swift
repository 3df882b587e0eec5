/// A new plugin of the kind `delegate`: a container that takes no low votes, and says why.
enum DelegateTemplate {
    static let source = ##"""
        public import AtriumKit

        /// Refuses votes below a value, and sends who searches a hint how to search better.
        ///
        /// It overrides what it cares for, and inherits the rest: the default wiring.
        public final class {{Name}}: ContainerDelegate {
            private let least: Double

            /// What a definition may set; anything else is refused before `init`.
            override public class var settings: [Setting] { [lowest.setting] }
            static let lowest = Setting.number("least", in: -1000...1000, "the lowest vote that is taken")
                .defaulting(to: 1)

            public required init(context: DelegateContext) throws {
                least = context.settings[Self.lowest]
                try super.init(context: context)
            }

            /// Asked before the votes component is; nil lets the ballot through.
            override public func votes(
                _ component: ComponentReference, shouldAccept ballot: Ballot
            ) -> Refusal? {
                ballot.value < least ? Refusal("A vote is \(least) or more here.") : nil
            }

            /// What a screen is to show: the same question has the same answer.
            override public func screen(
                _ screen: ScreenReference, willShow next: ScreenChoices, after shown: ScreenChoices?
            ) -> ScreenChoices {
                if next.search.count == 1 {
                    container?.message("Search for two letters or more.", on: screen.id)
                    var next = next
                    next.search = ""
                    return next
                }
                return next
            }
        }

        /// Exports the class; the host finds the function by its name.
        @c({{entry}})
        public func exported() -> UnsafeMutableRawPointer { exportPlugin({{Name}}.self) }
        """##

    /// What runs the suite of delegates.
    static let suite = "try DelegateSuite.run({{Name}}.self, seed: UInt64(seed))"

    static let test = ##"""
            @Test func `a single letter is not searched`() throws {
                let host = try DelegateHost({{Name}}.self)
                #expect(host.show(ScreenChoices(search: "a"), on: "s").search == "")
                #expect(host.messages["s"] == "Search for two letters or more.")
                #expect(host.show(ScreenChoices(search: "al"), on: "s").search == "al")
            }
        """##

    static let readme = ##"""
        # {{Name}}

        A plugin for Atrium of the kind `delegate`: `{{id}}`. It decides what the events of a container mean.

            swift test                      # build it, run the suite of delegates

        A delegate lives in the daemon, so the administrator has to name it, in `atrium.yaml`:

            pluginPath: [{{folder}}]
            delegates: [{{id}}]

        The daemon finds it at its next start, and `atriumctl plugins` lists it. A container has it once its
        definition says so, at the top or in a scope:

            delegate: {{id}}                # or { plugin: {{id}}, settings: { least: 2 } }

        `make install` builds it for release and puts it into `/usr/local/lib/atrium/plugins/{{id}}`.

        What it must keep: `should…` and `screen(_:willShow:after:)` answer the same question the same way, and
        at once; asked about its own answer, it gives just that. The suite checks it, and names the seed with
        which a failure happens again.
        """##
}
