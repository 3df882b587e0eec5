/// Sentences for the daemon's limits.
enum LimitWording {
    /// What a limit allows; one that this client does not know is named.
    static func sentence(_ limit: String, _ value: Int) -> String {
        switch limit {
        case "pageItems": "a page holds 1 to \(value)"
        case "batchItems": "one call takes at most \(value) items"
        case "batchBytes": "one call takes items of at most \(value) bytes"
        case "entryBytes": "one call writes at most \(value) bytes: send fewer at once, or less"
        case "payloadBytes": "a notification holds at most \(value) bytes"
        case "topics": "one subscription names at most \(value) topics"
        case "screensPerUser":
            "you have \(Wording.count(value, "screen")) open already, and no more are taken"
        case "screenBytesPerUser":
            "what your screens show takes more than the \(value) bytes of memory that it may"
        case "searchBytes": "a text to search for has at most \(value) bytes"
        case "writesPerMinute": "one person writes at most \(value) times in a minute"
        case "bytesPerMinute": "one person writes at most \(value) bytes in a minute"
        case "frontendWritesPerMinute": "a front end writes at most \(value) times in a minute"
        case "frontendBytesPerMinute": "a front end writes at most \(value) bytes in a minute"
        case "frontendPeople":
            "\(value) people of the front end are known already, and nobody new may write"
        case "sortFields": "a list is sorted by at most \(value) fields"
        case "selectedFilters": "at most \(value) filters are selected at a time"
        case "countedFilters": "at most \(value) written texts and ranges are counted at a time"
        case "filterBytes":
            "a filter's id, or the text that it looks for, has at most \(value) bytes"
        case "selectionBytes": "all selected filters together have at most \(value) bytes"
        case "waitingQueries": "\(value) of your queries that take long wait for their turn already"
        // One call may ask for more than the limit, however many there are already.
        case "containers": "the daemon takes at most \(Wording.count(value, "container"))"
        case "components": "a container has at most \(Wording.count(value, "component"))"
        case "screens", "exports", "backups", "erasures", "verifications":
            "there \(value == 1 ? "is" : "are") \(Wording.count(value, String(limit.dropLast()))) "
                + "already, and no more are taken"
        case "maxLength": "a comment has at most \(Wording.count(value)) characters"
        case "reasonLength": "a reason has at most \(Wording.count(value)) characters"
        case "idBytes": "an id has at most \(value) bytes"
        default: "the limit \(limit) (\(value)) is exceeded"
        }
    }

    /// What to do once a limit was exceeded that a setting raises, or after some seconds; nil where there is nothing
    /// to do.
    static func hint(setting: String?, retryAfter seconds: Double?) -> String? {
        let wait = seconds.map { Wording.retry(after: $0) }
        guard let setting else { return wait.map { $0 + "." } }
        return (wait.map { $0 + "; " } ?? "")
            + "an administrator can raise \(setting) in the daemon's atrium.yaml."
    }
}
