/// A new plugin of the kind `filters`: a section of filters.
enum FiltersTemplate {
    /// The component.
    static let source = ##"""
        public import AtriumKit

        /// One section with a filter for each value of a field.
        public final class {{Name}}: Filtering {
            public weak var delegate: (any FilteringDelegate)?
            private let field: Field
            private var values: [Value] = []

            /// What a definition may set; anything else is refused before `init`.
            public static var settings: [Setting] { [offered.setting] }
            static let offered = Setting.text("field", "the field whose values are offered")
                .defaulting(to: "title")

            public init(context: ComponentContext) throws {
                let name = context.settings[Self.offered]
                guard let field = context.field(name) else {
                    throw SettingError("field", "the container has no field '\(name)'")
                }
                self.field = field
            }

            public var observedFields: [String] { [field.name] }

            public func fieldValuesDidChange(_ values: [String: [Value]]) {
                self.values = values[field.name] ?? []
            }

            public var sections: [FilterSection] {
                let filters = values.compactMap(\.plainText).map(filter)
                return [
                    FilterSection(
                        id: "values", title: field.name, input: .several, filters: filters)
                ]
            }

            public func filter(_ id: String, in section: String) throws(Refusal) -> Filter {
                guard section == "values", values.contains(where: { $0.plainText == id }) else {
                    throw Refusal(
                        .filterNotFound, "There is no \(section)=\(id).",
                        evidence: ["section": section, "filter": id])
                }
                return filter(id)
            }

            private func filter(_ id: String) -> Filter {
                let value = values.first { $0.plainText == id } ?? .text(id)
                return Filter(id: id, title: id, predicate: .equals(field: field.name, value: value))
            }
        }

        /// Exports the class; the host finds the function by its name.
        @c({{entry}})
        public func exported() -> UnsafeMutableRawPointer { exportPlugin({{Name}}.self) }
        """##

    static let test = ##"""
            @Test func `it offers the values that items have`() throws {
                let host = try MemoryHost({{Name}}.self, settings: ["field": "genres"])
                host.report(["genres": ["crime", "drama"]])
                guard case .sections(let sections) = try host.ask(.sections) else { return }
                #expect(sections.map { $0.filters.map(\.id) } == [["crime", "drama"]])
            }
        """##
}
