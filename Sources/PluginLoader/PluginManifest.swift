internal import JSONCodec

/// The contents of a plugin's `manifest.json`.
struct PluginManifest: Sendable {
    let id: String
    let version: String
    let order: SemanticVersion
    let kind: PluginKind
    /// The library or the program; its path from the manifest's folder.
    let code: PluginCode
    let title: String
    let description: String
    /// The settings that name the paths that its components may read.
    let paths: [String]
    /// The process in which its components live, unless their definition names another; nil: the default of its folder.
    let isolation: Isolation?
    /// The time that a worker may take for a call of its components, in seconds; nil: the daemon's limit.
    let callSeconds: Int?

    /// The range of ``callSeconds``.
    private static let callRange = 1...3_600
    /// The largest manifest that is read, in bytes.
    private static let maxSize: UInt64 = 1 << 20
    /// The known keys; `conformance` is read only by programs that check plugins.
    static let known = [
        "id", "version", "kind", "library", "program", "title", "description", "isolation", "paths",
        "callSeconds", "conformance",
    ]

    /// Reads a manifest; the error has the file, the member, what is expected, and what was found.
    init(_ path: String) throws(PluginProblem) {
        let file = try RegularFile(ofPlugin: path)
        guard file.size <= Self.maxSize, let bytes = file.read(at: 0, count: file.size) else {
            throw .refused("\(path) has \(file.size) bytes; at most \(Self.maxSize) are read.")
        }
        let value: JSONValue
        do throws(JSONError) {
            value = try JSON.decode(from: bytes)
        } catch {
            throw .refused("\(path): \(error).")
        }
        guard case .object(let members) = value else {
            throw .refused("\(path): expected an object.")
        }
        try self.init(members, path)
    }

    private init(_ members: [JSONValue.Member], _ path: String) throws(PluginProblem) {
        let unknown = members.first { !Self.known.contains($0.name) }
        if let unknown {
            throw .refused(
                "\(path): '\(unknown.name)' is unknown; known are: "
                    + Self.known.joined(separator: ", ") + ".")
        }
        let values = MemberTexts(path: path, object: .object(members))
        id = try values.text("id", "dotted words of letters, digits and '-'") {
            Self.isIdentifier($0) ? $0 : nil
        }
        let version = try values.text("version", "a version, as 1.2.3") { text in
            SemanticVersion(text).map { (text, $0) }
        }
        (self.version, order) = version
        let kinds = PluginKind.all.map(\.rawValue).joined(separator: ", ")
        kind = try values.text("kind", "one of \(kinds)", PluginKind.init(rawValue:))
        code = try Self.code(in: values)
        title = try values.text("title", "a text") { $0.isEmpty ? nil : $0 }
        let hasDescription = members.contains { $0.name == "description" }
        description = hasDescription ? try values.text("description", "a text") { $0 } : ""
        paths = try values.texts("paths", "a list of names of settings")
        let hasIsolation = members.contains { $0.name == "isolation" }
        // A manifest may ask for less than its folder allows, never for more.
        isolation =
            hasIsolation
            ? try values.text("isolation", "'process'") { $0 == "process" ? .process : nil } : nil
        callSeconds = try values.integer("callSeconds", "a whole number of seconds", Self.callRange)
        guard callSeconds == nil || kind != .delegate else {
            throw .refused("\(path): 'callSeconds': no worker is called for a delegate.")
        }
        guard isolation == nil || kind != .delegate else {
            throw .refused("\(path): 'isolation': a delegate lives in the daemon.")
        }
        if case .program = code, kind == .delegate {
            throw .refused(
                "\(path): 'program': a delegate lives in the daemon, and is made by a library.")
        }
    }

    private static func code(in values: MemberTexts) throws(PluginProblem) -> PluginCode {
        let expected = "a path within the manifest's folder"
        func path(_ name: String) throws(PluginProblem) -> String {
            try values.text(name, expected) { isInside($0) ? $0 : nil }
        }
        switch (values.object["library"], values.object["program"]) {
        case (_?, nil): return .library(try path("library"))
        case (nil, _?): return .program(try path("program"))
        case (nil, nil):
            throw .refused(
                "\(values.path): a plugin is a 'library' or a 'program': name one of them, as "
                    + "\(expected).")
        case (_?, _?):
            throw .refused(
                "\(values.path): a plugin is a 'library' or a 'program': leave one of them out.")
        }
    }

    private static func isIdentifier(_ text: String) -> Bool {
        let words = text.split(separator: ".", omittingEmptySubsequences: false)
        return text.utf8.count <= 200
            && words.allSatisfy { word in
                !word.isEmpty
                    && word.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }
            }
    }

    private static func isInside(_ path: String) -> Bool {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        return !path.contains("\0") && parts.allSatisfy { !$0.isEmpty && $0 != ".." }
    }
}

/// Reads the members of a manifest, and makes the errors for those that are missing or wrong.
private struct MemberTexts {
    let path: String
    let object: JSONValue

    /// The texts of a list; none where it is missing.
    func texts(_ name: String, _ expected: String) throws(PluginProblem) -> [String] {
        guard let value = object[name] else { return [] }
        let texts = value.array?.map(\.string) ?? [nil]
        guard texts.allSatisfy({ $0 != nil }) else {
            throw .refused("\(path): '\(name)': expected \(expected).")
        }
        return texts.compactMap(\.self)
    }

    /// A whole number within a range; nil where it is missing.
    func integer(
        _ name: String, _ what: String, _ range: ClosedRange<Int>
    ) throws(PluginProblem) -> Int? {
        guard let value = object[name] else { return nil }
        guard let number = value.int.flatMap({ Int(exactly: $0) }), range.contains(number) else {
            let found = String(decoding: JSON.encode(value).prefix(100), as: UTF8.self)
            throw .refused(
                "\(path): '\(name)': expected \(what) from \(range.lowerBound) to "
                    + "\(range.upperBound), found \(found).")
        }
        return number
    }

    func text<T>(
        _ name: String, _ expected: String, _ read: (String) -> T?
    ) throws(PluginProblem) -> T {
        guard let value = object[name] else {
            throw .refused("\(path): '\(name)' is missing: expected \(expected).")
        }
        guard let text = value.string, let result = read(text) else {
            let found = String(decoding: JSON.encode(value).prefix(100), as: UTF8.self)
            throw .refused("\(path): '\(name)': expected \(expected), found \(found).")
        }
        return result
    }
}
