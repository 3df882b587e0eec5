/// Lines of Swift, indented as deep as they are nested.
struct SourceText {
    private(set) var text = ""
    private var indent = ""

    /// Adds a line; an empty one is not indented.
    mutating func line(_ line: String) {
        text += (line.isEmpty ? "" : indent + line) + "\n"
    }

    /// Adds a documentation comment.
    mutating func documentation(_ documentation: String) {
        for line in documentation.split(separator: "\n", omittingEmptySubsequences: false) {
            self.line(line.isEmpty ? "///" : "/// \(line)")
        }
    }

    /// Adds a line that ends in a brace, what is in it, and the closing brace.
    ///
    /// - Parameters:
    ///   - head: What stands before the brace.
    ///   - parameters: Those of a closure, such as `a, b in`; none by default.
    ///   - body: Adds what is in it.
    mutating func block(
        _ head: String, parameters: String = "", _ body: (inout SourceText) -> Void
    ) {
        line(head + " {" + (parameters.isEmpty ? "" : " " + parameters))
        indented(body)
        line("}")
    }

    /// Adds lines one level deeper.
    mutating func indented(_ body: (inout SourceText) -> Void) {
        indent += "    "
        body(&self)
        indent.removeLast(4)
    }

    /// Adds a string constant of several lines, as it is.
    mutating func literal(_ head: String, _ content: String) {
        // As many number signs as it takes that nothing in the content ends or escapes.
        var fence = "#"
        while content.contains("\"\"\"" + fence) || content.contains("\\" + fence) { fence += "#" }
        line("\(head) = \(fence)\"\"\"")
        indented { source in
            for line in content.split(separator: "\n", omittingEmptySubsequences: false) {
                source.line(String(line))
            }
            source.line("\"\"\"" + fence)
        }
    }
}
