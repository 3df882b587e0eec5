/// A new plugin of the kind `contents`: a source of items.
enum ContentsTemplate {
    /// The component.
    static let source = ##"""
        public import AtriumKit

        /// A source of items: it keeps what clients put in.
        public final class {{Name}}: ContentListing {
            public weak var delegate: (any ContentListingDelegate)?
            private var itemsByID: [String: Item] = [:]

            public init(context: ComponentContext) {}

            public var items: some Sequence<Item> { itemsByID.values }

            /// State changes here alone: when a command was accepted, and when the host restarts.
            public func apply(_ change: Change) {
                if let item = change.value.flatMap({ Item(key: change.key, value: $0) }) {
                    let isNew = itemsByID.updateValue(item, forKey: item.id) == nil
                    delegate?.contentListing(self, didChange: isNew ? .insert([item]) : .update([item]))
                } else if itemsByID.removeValue(forKey: change.key) != nil {
                    delegate?.contentListing(self, didChange: .remove([change.key]))
                }
            }

            /// Says what would change, and changes nothing.
            public func put(
                _ items: [Item], _ context: CommandContext
            ) throws(Refusal) -> ContentDecision {
                var decision = ContentDecision()
                for item in items {
                    if itemsByID[item.id] == item {
                        decision.unchanged += 1
                        continue
                    }
                    if itemsByID[item.id] == nil {
                        decision.inserted.append(item.id)
                    } else {
                        decision.updated.append(item.id)
                    }
                    decision.changes.append(item.record)
                }
                return decision
            }

            public func remove(
                _ ids: [String], _ context: CommandContext
            ) throws(Refusal) -> [Change] {
                ids.filter { itemsByID[$0] != nil }.map { .removed(key: $0) }
            }
        }

        /// Exports the class; the host finds the function by its name.
        @c({{entry}})
        public func exported() -> UnsafeMutableRawPointer { exportPlugin({{Name}}.self) }
        """##

    static let test = ##"""
            @Test func `it reports what it took in`() throws {
                let host = try MemoryHost({{Name}}.self)
                let item = Item(id: "a", fields: ["title": "A"])
                let decision = try host.run(.putItems([item]))
                #expect(decision.answer == .items(inserted: ["a"], updated: [], unchanged: 0))
                #expect(host.events == [.contents(.insert([item]))])
            }
        """##
}
