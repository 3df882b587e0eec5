internal import AtriumKit
internal import CTags

/// The cover that an audio file has in its tags.
enum Cover {
    /// Reads the front cover, or else the first picture, of a file below `root`; throws why it can't be had.
    static func read(of path: FilePath, below root: String) throws -> [UInt8] {
        let file: OpenFile
        do throws(OpenFile.Problem) {
            file = try OpenFile(path, below: root)
        } catch {
            throw Refusal("The file '\(path.shown)' can't be read: \(error.reason).")
        }
        var bytes: [UInt8] = []
        let outcome = withUnsafeMutablePointer(to: &bytes) { bytes in
            tags_read_cover(
                file.descriptor, file.path,
                { context, _, picture, length in
                    // One more than is sent, so that a longer one is recognised.
                    let most = min(length, ItemImage.mostBytes + 1)
                    context?.assumingMemoryBound(to: [UInt8].self).pointee = Array(
                        UnsafeRawBufferPointer(start: picture, count: most))
                }, bytes)
        }
        guard outcome == TAGS_READ, !bytes.isEmpty else {
            throw Refusal("The file '\(path.shown)' has no cover any more.")
        }
        return bytes
    }
}
