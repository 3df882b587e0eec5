import JSONCodec

extension IndexedItem {
    /// Returns some of its fields, as the bytes of a JSON object, keys sorted.
    ///
    /// Names of fields that the item does not have are ignored.
    public func fields(named names: Set<String>) -> [UInt8] {
        fields.withUnsafeBytes { bytes in
            var reader = JSONReader(bytes)
            var writer = JSONWriter()
            writer.beginObject()
            do throws(JSONError) {
                try reader.beginObject()
                while let key = try reader.nextKey() {
                    let name = key.string
                    guard names.contains(name) else {
                        try reader.skipValue()
                        continue
                    }
                    writer.key(name)
                    writer.raw(try reader.rawValue())
                }
            } catch {
                // The index wrote these bytes itself; all the same, a reader that stops leaves a
                // whole object of what came before.
            }
            writer.endObject()
            return writer.bytes
        }
    }
}
