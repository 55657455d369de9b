"""Compares winners and orders with those that pref_voting finds, profile by profile.

Input: JSON lines, one file. {"kind": "ranking", "options": n, "ballots": [[count, [rank or null, ...]], ...],
"winners": {rule: [option, ...]}, "orders": {rule: [[option, ...], ...]}}; of kind "score" the lists hold grades, of kind "approval" 0 or 1. A rule's
name may end in "/margins". Prints the first differences and how many results were compared; exit code 1
if any differs.
"""

import json
import math
import sys

from pref_voting.grade_methods import approval, score_voting
from pref_voting.grade_profiles import GradeProfile
from pref_voting.profiles_with_ties import ProfileWithTies
from pref_voting.voting_methods import (
    beat_path,
    beat_path_defeat,
    borda_for_profile_with_ties,
    condorcet,
    copeland,
    minimax,
    minimax_scores,
    plurality,
    ranked_pairs,
    split_irv_put,
    symmetric_borda_scores,
)


# pref_voting goes through every order of equally strong victories one by one, level pairs among them.
MOST_ORDERS = 24


def orders_of_equals(profile, strength):
    """How many orders of equally strong victories there are; too many where a pair is level."""
    pairs = [(a, b) for a in profile.candidates for b in profile.candidates if a < b]
    if any(profile.margin(a, b) == 0 for a, b in pairs):
        return MOST_ORDERS + 1
    victories = [strength(a, b) for a in profile.candidates for b in profile.candidates if profile.margin(a, b) > 0]
    return math.prod(math.factorial(victories.count(strength)) for strength in set(victories))


def by_score(scores):
    """Options in groups, the highest score first."""
    return [[o for o in sorted(scores) if scores[o] == score] for score in sorted(set(scores.values()), reverse=True)]


def by_removing(options, winners):
    """Options in groups: those who win, then those who win among the rest, and so on."""
    left, order = list(options), []
    while left:
        won = sorted(int(option) for option in winners(left))
        order.append(won)
        left = [option for option in left if option not in won]
    return order


def by_layers(options, defeats):
    """Options in groups: those whom none left defeats, again and again."""
    beats = set(defeats.edges())
    return by_removing(options, lambda left: [a for a in left if not any((b, a) in beats for b in left)])


def ranking(case):
    options = list(range(case["options"]))
    ballots = [{o: r for o, r in enumerate(ranks) if r is not None} for _, ranks in case["ballots"]]
    counts = [count for count, _ in case["ballots"]]
    profile = ProfileWithTies(ballots, counts, candidates=options)
    profile.use_extended_strict_preference()
    votes = profile.support
    rules = {
        "borda": lambda: borda_for_profile_with_ties(profile),
        "condorcet": lambda: condorcet(profile) if profile.condorcet_winner() is not None else [],
        "copeland": lambda: copeland(profile),
        "minimax": lambda: minimax(profile, strength_function=votes),
        "minimax/margins": lambda: minimax(profile),
        "schulze": lambda: beat_path(profile, strength_function=votes),
        "schulze/margins": lambda: beat_path(profile),
        "irv": lambda: split_irv_put(profile),
    }
    if orders_of_equals(profile, profile.margin) <= MOST_ORDERS:
        rules["ranked-pairs/margins"] = lambda: ranked_pairs(profile)
    if orders_of_equals(profile, votes) <= MOST_ORDERS:
        rules["ranked-pairs"] = lambda: ranked_pairs(profile, strength_function=votes)
    if all(sum(rank == min(ballot.values()) for rank in ballot.values()) == 1 for ballot in ballots):
        rules["plurality"] = lambda: plurality(profile)
    pairs_won = {a: sum(profile.margin(a, b) > 0 for b in options) for a in options}
    defeats = {  # minimax_scores are negative, the smallest defeat highest
        "minimax": lambda: minimax_scores(profile, score_method="winning"),
        "minimax/margins": lambda: minimax_scores(profile, score_method="margins"),
    }
    orders = {
        "borda": lambda: by_score(symmetric_borda_scores(profile)),
        "condorcet": lambda: by_score(pairs_won),
        "copeland": lambda: by_score(profile.copeland_scores()),
        "minimax": lambda: by_score({o: min(score, 0) for o, score in defeats["minimax"]().items()}),
        "minimax/margins": lambda: by_score({o: min(score, 0) for o, score in defeats["minimax/margins"]().items()}),
        "schulze": lambda: by_layers(options, beat_path_defeat(profile, strength_function=votes)),
        "schulze/margins": lambda: by_layers(options, beat_path_defeat(profile)),
        "irv": lambda: by_removing(options, lambda left: split_irv_put(profile, curr_cands=left)),
        "ranked-pairs": lambda: by_removing(
            options, lambda left: ranked_pairs(profile, curr_cands=left, strength_function=votes)
        ),
        "ranked-pairs/margins": lambda: by_removing(options, lambda left: ranked_pairs(profile, curr_cands=left)),
        "plurality": lambda: by_score(profile.plurality_scores()),
    }
    return rules, {rule: order for rule, order in orders.items() if rule in rules}


def majority_judgment(case):
    """pref_voting breaks ties once, by the gauge; here medians are taken away one by one, as published."""
    taken = medians_taken(case)
    return [option for option, medians in enumerate(taken) if medians == max(taken)]


def medians_taken(case):
    taken = []
    for option in range(case["options"]):
        grades = sorted(marks[option] for count, marks in case["ballots"] for _ in range(count))
        taken.append([grades.pop((len(grades) - 1) // 2) for _ in range(len(grades))])
    return taken


def score(case):
    ballots = [dict(enumerate(grades)) for _, grades in case["ballots"]]
    counts = [count for count, _ in case["ballots"]]
    profile = GradeProfile(ballots, list(range(6)), counts, candidates=list(range(case["options"])))
    rules = {
        "score-mean": lambda: score_voting(profile, evaluation_method="sum"),
        "majority-judgment": lambda: majority_judgment(case),
    }
    if sum(counts) % 2:
        # Between two middle scores pref_voting takes the lower one, roundtable their mean.
        rules["score-median"] = lambda: score_voting(profile, evaluation_method="median")
    options = range(case["options"])

    def again(method):
        return lambda: by_removing(options, lambda left: score_voting(profile, curr_cands=left, evaluation_method=method))

    orders = {
        "score-mean": again("sum"),
        "score-median": again("median"),
        "majority-judgment": lambda: by_score({o: tuple(taken) for o, taken in enumerate(medians_taken(case))}),
    }
    return rules, {rule: order for rule, order in orders.items() if rule in rules}


def approvals(case):
    ballots = [dict(enumerate(marks)) for _, marks in case["ballots"]]
    counts = [count for count, _ in case["ballots"]]
    profile = GradeProfile(ballots, [0, 1], counts, candidates=list(range(case["options"])))
    options = range(case["options"])
    orders = {"approval": lambda: by_removing(options, lambda left: approval(profile, curr_cands=left))}
    return {"approval": lambda: approval(profile)}, orders


KINDS = {"ranking": ranking, "score": score, "approval": approvals}


def main(path):
    compared, wrong, profiles = {}, 0, 0
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            case = json.loads(line)
            profiles += 1
            winners, orders = KINDS[case["kind"]](case)
            results = [(rule, sorted(int(option) for option in found()), "winners") for rule, found in winners.items()]
            results += [(rule, found(), "orders") for rule, found in orders.items()]
            for rule, found, what in results:
                compared[f"{rule}/{what}"] = compared.get(f"{rule}/{what}", 0) + 1
                if found != case[what][rule]:
                    wrong += 1
                    if wrong <= 5:
                        print(f"{rule}, {what}: pref_voting {found}, roundtable {case[what][rule]}\n  {case['ballots']}")
    counts = " ".join(f"{rule}={count}" for rule, count in sorted(compared.items()))
    print(f"profiles={profiles} {counts} wrong={wrong}")
    return 1 if wrong or not profiles else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
