import AtriumKit
import Host

@testable import Workers

// What a host and a worker say to each other: each case, at random.

extension RandomMessages {
    mutating func command() -> ComponentCommand {
        switch number(9) {
        case 8: .restoreRecords(list { $0.change() })
        case 0: .putItems(list { $0.item() })
        case 1: .removeItems(list { $0.text() })
        case 2: .castBallot(subject: subject(), value: double())
        case 3: .retractBallot(subject: subject())
        case 4: .postComment(draft())
        case 5: .editComment(id: text(), text: text())
        case 6: .deleteComment(id: text())
        default:
            .moderateComment(
                id: text(), state: [.shown, .pending, .removed][number(3)],
                reason: optional { $0.text() }, seen: optional { $0.text() })
        }
    }

    mutating func query() -> ComponentQuery {
        switch number(14) {
        case 13: .canTake(object { $0.value() })
        case 0: .details(item: text())
        case 1: .sections
        case 2: .filters(list { $0.filterID() })
        case 3: .select(filterID(), of: selection(), screen: text())
        case 4: .deselect(filterID(), of: selection(), screen: text())
        case 5: .clear(selection(), screen: text())
        case 6: .ballotsOf(actor(), subjects: list { $0.subject() })
        case 7: .ballots(subject(), after: optional { $0.actor() }, limit: number(99))
        case 8: .comment(id: text())
        case 9:
            .thread(threadQuery())
        case 10: .pendingComments(limit: number(99), cursor: optional { $0.text() })
        case 11: .recordKeys(list { $0.subject() })
        default:
            .recordKeyPage(
                list { $0.subject() }, after: optional { $0.text() }, limit: number(99))
        }
    }

    private mutating func threadQuery() -> ThreadQuery {
        var query = ThreadQuery(
            subject: subject(), root: optional { $0.text() }, order: bool() ? .oldest : .newest,
            depth: optional { $0.number(9) }, limit: number(99), cursor: optional { $0.text() })
        query.tellsHeld = bool()
        return query
    }

    mutating func filterID() -> ComponentQuery.FilterID {
        ComponentQuery.FilterID(section: text(), filter: text())
    }

    mutating func answer() -> ComponentAnswer {
        switch number(10) {
        case 9: .canTake(bool())
        case 0: .details(optional { $0.object { $0.value() } })
        case 1: .sections(list { $0.section() })
        case 2: .filters(list { $0.filter() })
        case 3: .selection(selection(), events: list { $0.event() })
        case 4: .ballotsOf(list { $0.optional { $0.ballot() } })
        case 5: .ballots(list { $0.ballot() })
        case 6: .comment(optional { $0.entry() })
        case 7: .thread(page())
        default: .recordKeys(list { $0.text() })
        }
    }

    mutating func decision() -> Decision {
        let answer: Decision.Answer =
            switch number(5) {
            case 4: .restored(number(99))
            case 0:
                .items(
                    inserted: list { $0.text() }, updated: list { $0.text() },
                    unchanged: number(9))
            case 1: .removed(list { $0.text() })
            case 2:
                .ballot(
                    tally: tally(), previous: optional { $0.double() },
                    current: optional { $0.double() })
            default: .comment(entry())
            }
        return Decision(
            changes: list { $0.change() }, answer: answer, events: list { $0.event() })
    }

    mutating func event() -> ComponentEvent {
        switch number(9) {
        case 0:
            switch number(4) {
            case 0: .contents(.insert(list { $0.item() }))
            case 1: .contents(.update(list { $0.item() }))
            case 2: .contents(.remove(list { $0.text() }))
            default: .contents(.replaceAll)
            }
        case 1:
            .didSelect(filter: text(), section: text(), selection: selection(), screen: text())
        case 2:
            .didDeselect(
                filter: text(), section: text(), selection: selection(), screen: text())
        case 3: .didClear(screen: text())
        case 4: .tally(subject(), tally())
        case 5: .didPost(comment())
        case 6: .didEdit(comment())
        case 7: .didRemove(comment())
        default: .commentCount(subject(), number(99))
        }
    }

    mutating func image() -> Result<ItemImage, Refusal> {
        let refusal = Refusal(text())
        guard bool() else { return .failure(refusal) }
        let bytes = Array("GIF89a".utf8) + (0..<number(9)).map { _ in UInt8(number(256)) }
        return Result { () throws(Refusal) in try ItemImage(bytes) }
    }

    mutating func call() -> WorkerCall {
        switch number(18) {
        case 17: .take(object { $0.value() })
        case 16: .keptPart((0..<number(9)).map { _ in UInt8(number(256)) })
        case 0:
            .start(
                WorkerStart(
                    kind: Kind.allCases[number(4)], container: text(), component: text(),
                    settings: object { $0.value() }, secrets: object { $0.text() },
                    fields: list { $0.field() }, callMilliseconds: number(100_000),
                    keptBytes: number(99)))
        case 1: .restore(list { $0.change() })
        case 2: .finishRestore
        case 3: .decide(command(), context())
        case 4: .answer(query())
        case 5: .undo(list { $0.change() })
        case 6: .report(object { $0.list { $0.value() } }, cut: Set(list { $0.text() }))
        case 7: .deliver(notification())
        case 8: .pass([.willAttach, .didAttach, .willDetach, .didDetach][number(4)])
        case 9: .giveMore
        case 10: .reportPart(object { $0.list { $0.value() } })
        case 11: .reload
        case 12: .audience(number(99))
        case 13: .ask(number(99), question())
        case 14: .readImage(number(99), item: text(), field: text())
        default: .close
        }
    }

    mutating func question() -> ContentQuestion {
        ContentQuestion(
            search: text(), selection: selection(), path: list { $0.text() },
            sort: list { $0.text() }, limit: number(1_000), cursor: optional { $0.text() })
    }

    mutating func workerAnswer() -> WorkerAnswer {
        switch number(10) {
        case 0:
            .started(
                Kind.allCases[number(4)], observedFields: list { $0.text() },
                preselection: selection(),
                facts: optional { $0.facts() }, asks: bool())
        case 1: .notStarted(.setting(SettingError(text(), text())))
        case 2: .notStarted(.failed(reason: text()))
        case 3: .notStarted(.unavailable(reason: text()))
        case 4: .restored(list { $0.event() }, isLast: bool())
        case 5: .decided(decision())
        case 6: .answered(answer())
        case 7: .refused(refusal())
        case 8: .tooLong(bytes: number(1 << 30))
        default: .done
        }
    }

    mutating func facts() -> ComponentFacts {
        let subjects = Set(list { SubjectKind.allCases[$0.number(2)] })
        if bool() {
            var facts = VoteFacts(
                min: optional { $0.double() }, max: optional { $0.double() },
                step: optional { $0.double() }, subjects: subjects)
            facts.isClosed = bool()
            return .votes(facts)
        }
        var facts = CommentFacts(
            maxLength: optional { $0.number(100) }, moderated: bool(), subjects: subjects)
        facts.isClosed = bool()
        return .comments(facts)
    }

    mutating func message() -> ComponentMessage {
        switch number(9) {
        case 7: .keeps(optional { Array($0.text().utf8) })
        case 0: .raised(list { $0.event() })
        case 1: .publishes(text(), object { $0.value() })
        case 2: .observes(text())
        case 3: .reports(problem: optional { $0.text() })
        case 4:
            .answers(
                number(99),
                .success(
                    ContentAnswer(
                        items: list { $0.item() }, total: optional { $0.number(99) },
                        next: optional { $0.text() })))
        case 5: .answers(number(99), .failure(refusal()))
        case 6: .image(number(99), image())
        default: .logs([.debug, .info, .warning, .error][number(4)], text())
        }
    }
}
