import AtriumKit
import Index
import NIOCore

/// The dates that a container's filters use as the present ones: a day, week or month, and the days of a week.
///
/// Each is filled into the sections when they are resolved. When one of them is over, the version changes, so that
/// screens resolve theirs again.
final class PresentDates {
    /// Changes when one of these dates is over.
    private(set) var version: UInt64 = 0
    /// When the first of them is over, in seconds since 1970; nil: none was used since the last one was over.
    private var end: Int64?
    private unowned let container: Container

    init(of container: Container) { self.container = container }

    private var domain: Domain { container.domain }

    private var fields: [Field] { container.definition.fields }

    /// Fills the present date into the sections' filters, and schedules an update for when that date is over.
    func fill(_ sections: [ResolvedSection]) -> [ResolvedSection] {
        guard fields.contains(where: { $0.derivation != nil }) else { return sections }
        let now = domain.now()
        return sections.map { section in
            var section = section
            for place in section.section.filters.indices {
                date(&section.section.filters[place], at: now)
            }
            for place in section.selected.indices { date(&section.selected[place], at: now) }
            addWeek(to: &section.section, at: now)
            return section
        }
    }

    private func date(_ filter: inout Filter, at now: Timestamp) {
        guard let name = filter.presentOf, let bucket = bucket(of: name) else { return }
        let seconds = now.milliseconds / 1_000
        filter.predicate = .equals(field: name, value: bucket.value(at: seconds))
        schedule(after: bucket.end(after: seconds))
    }

    /// Adds the days of the present week if the section asks for them.
    private func addWeek(to section: inout FilterSection, at now: Timestamp) {
        guard let name = section.weekOf, let bucket = bucket(of: name) else { return }
        let week = bucket.week(at: now.milliseconds / 1_000)
        let offered = Set(section.filters.map(\.id))
        section.filters += week.days.compactMap { day in
            guard let text = day.text, !offered.contains(text) else { return nil }
            return Filter(id: text, title: text, predicate: .equals(field: name, value: day))
        }
        schedule(after: week.end)
    }

    private func bucket(of field: String) -> DateBucket? {
        fields.first { $0.name == field }.flatMap(DateBucket.init)
    }

    private func schedule(after end: Int64) {
        guard self.end.map({ end < $0 }) ?? true else { return }
        self.end = end
        waitForEnd(end)
    }

    /// Updates screens when a date is no longer the present one.
    private func waitForEnd(_ end: Int64) {
        let rest = end * 1_000 - domain.now().milliseconds
        // Checked every hour: the clock may be set, and the timer does not advance while the machine sleeps.
        let delay = TimeAmount.milliseconds(min(max(rest, 5), 3_600_000))
        domain.timers.after(delay) { [weak self] in
            guard let self, self.end == end else { return }
            guard domain.now().milliseconds >= end * 1_000 else { return waitForEnd(end) }
            self.end = nil
            version += 1
            container.screens?.changed()
        }
    }
}
