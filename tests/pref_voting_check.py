"""Compares winners and orders with those that pref_voting finds, profile by profile.

Input: JSON lines, one file. {"kind": "ranking", "options": n, "ballots": [[count, [rank or null, ...]], ...],
"winners": {rule: [option, ...]}, "orders": {rule: [[option, ...], ...]}}; of kind "score" the lists hold grades, of kind "approval" 0 or 1. Prints the first differences and how many results were compared; exit code 1
if any differs.
"""

import json
import sys

from pref_voting.grade_methods import approval, score_voting
from pref_voting.grade_profiles import GradeProfile
from pref_voting.profiles_with_ties import ProfileWithTies
from pref_voting.voting_methods import (
    beat_path,
    beat_path_defeat,
    borda_for_profile_with_ties,
    plurality,
    split_irv_put,
    symmetric_borda_scores,
)


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
        "schulze": lambda: beat_path(profile, strength_function=votes),
        "irv": lambda: split_irv_put(profile),
    }
    if all(sum(rank == min(ballot.values()) for rank in ballot.values()) == 1 for ballot in ballots):
        rules["plurality"] = lambda: plurality(profile)
    orders = {
        "borda": lambda: by_score(symmetric_borda_scores(profile)),
        "schulze": lambda: by_layers(options, beat_path_defeat(profile, strength_function=votes)),
        "irv": lambda: by_removing(options, lambda left: split_irv_put(profile, curr_cands=left)),
        "plurality": lambda: by_score(profile.plurality_scores()),
    }
    return rules, {rule: order for rule, order in orders.items() if rule in rules}


def score(case):
    ballots = [dict(enumerate(grades)) for _, grades in case["ballots"]]
    counts = [count for count, _ in case["ballots"]]
    profile = GradeProfile(ballots, list(range(6)), counts, candidates=list(range(case["options"])))
    rules = {"score": lambda: score_voting(profile, evaluation_method="sum")}
    options = range(case["options"])

    def winners(left):
        return score_voting(profile, curr_cands=left, evaluation_method="sum")

    return rules, {"score": lambda: by_removing(options, winners)}


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
