import AtriumKit
import AtriumKitTesting
import Host
import TestSupport

@testable import Workers

/// Makes messages that can't be told from real ones by their shape, and whose content is as odd as a
/// client may send.
struct RandomMessages {
    private var random: RepeatableRandom
    private var depth = 0

    init(seed: Int) { random = RepeatableRandom(UInt64(seed)) }

    mutating func number(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

    mutating func bool() -> Bool { Bool.random(using: &random) }

    mutating func int() -> Int64 {
        switch number(3) {
        case 0: Int64(number(10))
        case 1: Int64.random(in: .min ... .max, using: &random)
        default: [Int64.min, Int64.max, 0, -1, 1 << 53][number(5)]
        }
    }

    mutating func double() -> Double {
        switch number(4) {
        case 0: Double(number(10))
        case 1: Double.random(in: -1e6...1e6, using: &random)
        case 2:
            [
                0, -0.0, 4, 0.1, 1e21, .leastNonzeroMagnitude, .greatestFiniteMagnitude, 0x1p53,
                -1e16,
                .infinity, -.infinity,
            ][number(11)]
        default: Double(bitPattern: random.next() & 0xbfff_ffff_ffff_ffff)
        }
    }

    mutating func finite() -> Double {
        let double = double()
        return double.isFinite ? double : 1.5
    }

    mutating func text() -> String {
        [
            "", "drama", "Amélie", "8½", "東京物語", "👩‍👩‍👧", "\u{0}", "\n\t\"\\/", "\u{1f}\u{7f}",
            "\u{2028}", "case", "e\u{301}", "item-\(number(100))",
        ][number(13)]
    }

    mutating func optional<T>(_ make: (inout Self) -> T) -> T? { bool() ? make(&self) : nil }

    mutating func list<T>(_ make: (inout Self) -> T) -> [T] {
        (0..<number(4)).map { _ in make(&self) }
    }

    mutating func object<T>(_ make: (inout Self) -> T) -> [String: T] {
        Dictionary(list { ($0.text(), make(&$0)) }) { _, last in last }
    }

    mutating func value() -> Value {
        depth += 1
        defer { depth -= 1 }
        switch number(depth > 4 ? 5 : 7) {
        case 0: return .null
        case 1: return .bool(bool())
        case 2: return .int(int())
        case 3: return .number(finite())
        case 4: return .text(text())
        case 5: return .list(list { $0.value() })
        default: return .object(object { $0.value() })
        }
    }
}

// MARK: The kit's types

extension RandomMessages {
    mutating func subject() -> Subject { bool() ? .container : .item(text()) }
    mutating func actor() -> ActorID { ActorID(int()) }
    mutating func time() -> Timestamp { Timestamp(milliseconds: int()) }

    mutating func item() -> Item {
        Item(id: text(), fields: object { $0.value() }, parent: optional { $0.text() })
    }

    mutating func change() -> Change {
        bool() ? .put(key: text(), value: value()) : .removed(key: text())
    }

    mutating func tally() -> Tally {
        Tally(
            count: number(100), score: optional { $0.double() },
            histogram: object { $0.number(9) })
    }

    mutating func ballot() -> Ballot {
        Ballot(subject: subject(), actor: actor(), value: double(), cast: time())
    }

    mutating func comment() -> Comment {
        var comment = Comment(
            id: text(), subject: subject(), parent: optional { $0.text() },
            author: optional { $0.actor() }, text: optional { $0.text() },
            state: [.shown, .pending, .removed][number(3)], created: time(),
            order: int(), edited: optional { $0.time() }, fingerprint: text())
        comment.reason = optional { $0.text() }
        comment.moderator = optional { $0.actor() }
        return comment
    }

    mutating func draft() -> CommentDraft {
        CommentDraft(
            id: text(), subject: subject(), parent: optional { $0.text() }, text: text())
    }

    mutating func entry() -> ThreadPage.Entry {
        ThreadPage.Entry(
            comment: comment(), depth: number(9), replies: number(9),
            more: optional { $0.text() })
    }

    mutating func page() -> ThreadPage {
        var page = ThreadPage(
            entries: list { $0.entry() }, total: number(9), next: optional { $0.text() })
        page.held = list { $0.entry() }
        return page
    }

    mutating func predicate() -> Predicate {
        depth += 1
        defer { depth -= 1 }
        switch number(depth > 3 ? 4 : 7) {
        case 0: return .all
        case 1: return .equals(field: text(), value: value())
        case 2:
            return .range(
                field: text(), lower: optional { .init($0.double(), isIncluded: $0.bool()) },
                upper: optional { .init($0.double(), isIncluded: $0.bool()) })
        case 3: return .contains(field: text(), text: text())
        case 4: return .and(list { $0.predicate() })
        case 5: return .or(list { $0.predicate() })
        default: return .not(predicate())
        }
    }

    mutating func filter() -> Filter {
        bool()
            ? Filter(id: text(), title: text(), predicate: predicate())
            : Filter(id: text(), title: text(), presentOf: text())
    }

    mutating func section() -> FilterSection {
        var section = FilterSection(
            id: text(), title: text(), input: SectionInput.allCases[number(4)],
            filters: list { $0.filter() })
        section.hasMore = bool()
        section.weekOf = optional { $0.text() }
        return section
    }

    mutating func selection() -> Selection { Selection(object { $0.list { $0.text() } }) }

    mutating func field() -> Field {
        var field = Field(
            name: text(), type: Field.FieldType.allCases[number(10)], required: bool(),
            search: bool(), min: optional { $0.double() }, max: optional { $0.double() },
            title: optional { $0.text() }, unit: optional { $0.text() },
            summary: optional { $0.text() }, details: bool())
        field.derivation = optional {
            .init(of: $0.text(), by: Field.Bucket.allCases[$0.number(3)], zone: $0.text())
        }
        field.zone = optional { $0.text() }
        return field
    }

    mutating func context() -> CommandContext {
        CommandContext(
            actor: actor(), time: time(), freshID: text(), isModerator: bool(), order: int())
    }

    mutating func notification() -> Notification {
        Notification(
            sequence: optional { $0.int() }, time: time(), topic: text(),
            payload: object { $0.value() })
    }

    mutating func refusal() -> Refusal {
        let codes: [Refusal.Code] = [
            .refused, .fieldInvalid, .readOnly, .itemNotFound, .commentNotFound,
            .filterNotFound, .conflict, .cursorInvalid, .limitExceeded,
        ]
        return Refusal(
            codes[number(9)], text(), retryAfter: optional { $0.double() },
            evidence: object { $0.text() })
    }
}
