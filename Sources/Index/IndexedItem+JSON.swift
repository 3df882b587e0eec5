import JSONCodec

extension IndexedItem {
    /// Only these of its fields, as the bytes of a JSON object, keys sorted.
    ///
    /// Names that the item has no field for are passed over.
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
