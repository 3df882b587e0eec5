import AtriumKit

/// Which values a vote may have: 1 to a number of stars, in whole steps or in fractions of a star.
///
/// A value is kept as a whole number of steps, so that sums are exact and the mean does not depend
/// on the order in which ballots came.
struct Scale {
    static let most = Setting.integer(
        "scale", in: 2...100, "the most stars a vote may give"
    ).defaulting(to: 5)
    static let step = Setting.number(
        "step", in: 0.01...1, "what votes are multiples of: 1 for whole stars, 0.5 for halves"
    ).defaulting(to: 1)
    static let score = Setting.choice(
        "score", of: Score.self,
        "mean of the votes; or bayesian: with priorWeight votes of the value prior among them, so that few votes do not "
            + "outrank many"
    ).defaulting(to: .mean)
    static let prior = Setting.number(
        "prior", in: 1...100,
        "with score: bayesian, the value that few votes stay near; absent: the middle of the scale")
    static let priorWeight = Setting.number(
        "priorWeight", in: 0.1...1_000, "with score: bayesian, how many votes prior counts as"
    ).defaulting(to: 5)

    /// All that it follows from.
    static var settings: [Setting] {
        [most.setting, step.setting, score.setting, prior.setting, priorWeight.setting]
    }

    enum Score: String, CaseIterable {
        case mean, bayesian
    }

    /// The most stars.
    let stars: Int
    /// How many steps make a star.
    let stepsPerStar: Int
    /// What a score leans on: so many ballots of that value, which nobody cast; nil: on none, it is the mean.
    let prior: (value: Double, weight: Double)?

    init(_ settings: Settings) throws(SettingError) {
        stars = settings[Self.most]
        let step = settings[Self.step]
        let steps = Int(1 / step + 0.5)
        guard abs(1 / step - Double(steps)) < 1e-6 else {
            throw SettingError(
                "step",
                "expected a part of a star that makes a whole one, such as 1, 0.5, 0.25, 0.2 or "
                    + "0.1, found \(step)")
        }
        stepsPerStar = steps
        guard settings[Self.score] == .bayesian else {
            prior = nil
            return
        }
        let value = settings[Self.prior] ?? Double(1 + stars) / 2
        guard value >= 1, value <= Double(stars) else {
            throw SettingError("prior", "expected a value from 1 to \(stars), found \(value)")
        }
        prior = (value, settings[Self.priorWeight])
    }

    /// The value as a whole number of steps; nil when it is not on the scale.
    func units(_ value: Double) -> Int? {
        guard value >= 1, value <= Double(stars) else { return nil }
        let units = Int(value * Double(stepsPerStar) + 0.5)
        return self.value(units) == value ? units : nil
    }

    /// The value of a whole number of steps.
    func value(_ units: Int) -> Double { Double(units) / Double(stepsPerStar) }

    /// The score of ballots, given the sum of their steps: their mean, or that with the ``prior`` among them.
    ///
    /// It follows from the subject's own ballots alone, so that a vote on one item moves no other. The mean of all
    /// ballots as the prior, as film sites with millions of them have it, would fail where there are few: of the ballots
    /// 5 on one item, and 5, 5, 4 and 4 on another, it is 4.6, and ranks the one (4.67) above the other (4.56). The middle
    /// of the scale ranks them 3.33 and 3.67.
    func score(_ sum: Int, of count: Int) -> Double {
        guard let prior else { return Double(sum) / Double(stepsPerStar * count) }
        return (Double(sum) / Double(stepsPerStar) + prior.value * prior.weight)
            / (Double(count) + prior.weight)
    }

    /// The scale in words: `1 to 5, in whole steps`.
    var title: String {
        let steps =
            stepsPerStar == 1
            ? "in whole steps" : "in steps of \(Value.number(value(1)).plainText ?? "")"
        return "1 to \(stars), \(steps)"
    }
}
