import Glibc

/// A folder of music, and the definition of a jukebox for it.
struct MusicFolder {
    /// The endings of the files that `org.atrium.music` reads.
    private static let endings: Set = [
        "mp3", "mp2", "flac", "ogg", "oga", "opus", "spx", "m4a", "m4b", "wav", "aif", "aiff",
        "aifc", "wma", "ape", "mpc", "wv", "tta",
    ]
    /// How many folders are looked through for music.
    private static let mostFolders = 10_000

    /// The absolute path.
    let path: String
    /// The path as it was typed.
    private let typed: String
    private let files: Int

    /// Counts the music below a folder; throws for one that can't be read, or has no music.
    init(_ typed: String) throws {
        guard let found = realpath(typed, nil) else {
            throw CommandFailure("\(typed): \(String(cString: strerror(errno)))")
        }
        defer { free(found) }
        path = String(cString: found)
        self.typed = typed
        files = try Self.count(below: path)
        guard files > 0 else {
            throw CommandFailure(
                "the folder \(typed) holds no music",
                hint:
                    "init makes a jukebox of a folder of audio files; of a CSV or JSON file in it "
                    + "it makes a list: 'atriumctl init FILE'.")
        }
    }

    private static func count(below path: String) throws -> Int {
        var (folders, looked, files) = ([path], 0, 0)
        while let folder = folders.popLast(), looked < mostFolders {
            looked += 1
            // A folder that can't be read is left out, as the list leaves it out.
            guard let names = try? InputFile.names(in: folder) else {
                if looked == 1 { _ = try InputFile.names(in: folder) }
                continue
            }
            for name in names {
                if endings.contains(name.split(separator: ".").last?.lowercased() ?? "") {
                    files += 1
                } else {
                    let inside = "\(folder)/\(name)"
                    if InputFile.isFolder(inside), !InputFile.isLink(inside) {
                        folders.append(inside)
                    }
                }
            }
        }
        return files
    }

    /// The definition of a container, with comments.
    func definition(name: String, output: String) -> String {
        let title = DefinitionText.capitalized(name.replacing("-", with: " "))
        return """
            # What 'atriumctl init' made of \(PrintableText.line(typed)), \(Wording.count(files, "file")) of music. Change what is not right, then:
            #
            #     atriumctl apply -f \(DefinitionText.shell(output))
            #     atriumctl open \(name)
            #
            # The list is the folder: files that come, go or are retagged do so on open screens. The service sees
            # folders in homes only with share/atrium/drop-ins/home.conf.
            atrium: 1
            container: \(DefinitionText.key(name))
            title: \(DefinitionText.quoted(title))
            activate: played                             # who plays what is chosen follows \(name).items.played
            fields:
              title:    { type: text, required: true, search: true }
              artist:   { type: text, search: true }
              album:    { type: text, search: true }
              genre:    { type: keywords }
              disc:     { type: integer, details: true }  # comes with the track that is chosen
              track:    { type: integer }
              year:     { type: integer, details: true }
              duration: { type: duration }
              cover:    { type: image }
            present: { title: title, subtitle: artist, image: cover, columns: [artist, album, duration, votes.score] }
            components:
              - name: filters
                plugin: org.atrium.facets
                settings:
                  sections:
                    - { id: artist, title: Artist, field: artist, input: several }
                    - { id: genre, title: Genre, field: genre, input: several }
              - name: list
                plugin: org.atrium.music
                settings: { folder: \(DefinitionText.quoted(path)) }
                sort: [album, track, title]
              - { name: stars, plugin: org.atrium.stars, settings: { scale: 5, score: bayesian, subjects: [items] } }
              - { name: talk, plugin: org.atrium.threads, settings: { subjects: [items] } }

            """
    }
}
