public import AtriumKit
import Index
import JSONCodec

// Pictures of items.
extension Container {
    /// Reads the picture that a field of an item names.
    ///
    /// - Parameters:
    ///   - item: the item's id.
    ///   - component: the list; nil: the first.
    ///   - field: a field of the type `image`.
    ///   - user: whose call it is; the number of calls that wait is limited for each user.
    ///   - reply: the picture; fails with `itemNotFound`, `fieldUnknown`, `refused` or `componentUnavailable`.
    public func image(
        of item: String, in component: String?, field: String, by user: String = "",
        _ reply: @escaping Answer<ItemImage>
    ) {
        do throws(HostError) {
            let (slot, list) = try list(component)
            let known = definition.fields.filter { $0.type == .image }.map(\.name)
            guard known.contains(field) else { throw .fieldUnknown(field: field, known: known) }
            guard let row = list.item(item) else {
                throw .itemNotFound(container: name, item: item)
            }
            guard let text = row.text(of: field) else {
                throw .refused(
                    reason: "The item '\(item)' has no picture in '\(field)'.", retryAfter: nil)
            }
            if text.hasPrefix(PictureText.sourceScheme) {
                return slot.readImage(of: item, field: field, by: user) { [self] result in
                    reply(result.flatMap { present($0, of: item, in: slot.name, field, text) })
                }
            }
            guard text.prefix(5).lowercased() == "data:", let comma = text.firstIndex(of: ",")
            else {
                throw .refused(
                    reason: "The picture in '\(field)' is elsewhere, and is to be read from there: "
                        + "\(text)", retryAfter: nil)
            }
            do throws(Refusal) {
                let image = try ItemImage(base64: String(text[text.index(after: comma)...]))
                reply(.success(image))
            } catch {
                throw .refused(reason: error.reason, retryAfter: nil)
            }
        } catch {
            reply(.failure(error))
        }
    }

    /// A picture that was read, if its item still exists and still names it.
    private func present(
        _ image: ItemImage, of item: String, in component: String, _ field: String, _ text: String
    ) -> Result<ItemImage, HostError> {
        guard let row = slot(component)?.list?.item(item) else {
            return .failure(.itemNotFound(container: name, item: item))
        }
        guard row.text(of: field) == text else {
            return .failure(
                .refused(
                    reason: "The picture in '\(field)' was replaced while it was read.",
                    retryAfter: 0))
        }
        return .success(image)
    }
}

extension IndexedItem {
    /// The text in a field; nil if there is none.
    fileprivate func text(of field: String) -> String? {
        let value = try? JSON.decode(Value.self, from: fields(named: [field]))
        return value?.object?[field]?.text
    }
}
