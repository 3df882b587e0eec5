import Index

/// A search for a text in titles, regardless of case and accents, in steps of about the same work.
///
/// Use it in slices: ``step()`` until that returns false, and then ``matches``.
struct TitleSearch<Element> {
    /// The number of bytes of titles after which a step ends.
    static var bytesInStep: Int { 16 << 10 }
    /// What a title costs beside its bytes, in bytes.
    static var bytesOfTitle: Int { 32 }

    /// Made once: making it takes as long as the text is.
    private let needle: Needle?
    private let title: (Element) -> String
    private var rest: ArraySlice<Element>
    /// Those of the elements looked at so far whose titles contain the text, in their order.
    private(set) var matches: [Element] = []

    /// A search for a text; nil or empty: every title matches.
    init(_ elements: [Element], titled title: @escaping (Element) -> String, for text: String?) {
        needle = Needle(Folding.fold(text ?? ""))
        self.title = title
        rest = elements[...]
    }

    /// Looks at some more titles, and returns whether any are left.
    mutating func step() -> Bool {
        var left = Self.bytesInStep
        while left > 0, let element = rest.popFirst() {
            left -= Self.bytesOfTitle
            guard let needle else {
                matches.append(element)
                continue
            }
            let title = title(element)
            left -= title.utf8.count
            if needle.isIn(Folding.fold(title)) { matches.append(element) }
        }
        return !rest.isEmpty
    }
}
