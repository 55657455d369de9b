"""Compares winners with those that pref_voting finds, profile by profile.

Input: JSON lines, one file. {"kind": "ranking", "options": n, "ballots": [[count, [rank or null, ...]], ...],
"winners": {rule: [option, ...]}}; of kind "score" the lists hold grades, of kind "approval" 0 or 1. A rule's
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
    borda_for_profile_with_ties,
    condorcet,
    copeland,
    minimax,
    plurality,
    ranked_pairs,
    split_irv_put,
)


# pref_voting goes through every order of equally strong victories one by one, level pairs among them.
MOST_ORDERS = 24


def orders(profile, strength):
    """How many orders of equally strong victories there are; too many where a pair is level."""
    pairs = [(a, b) for a in profile.candidates for b in profile.candidates if a < b]
    if any(profile.margin(a, b) == 0 for a, b in pairs):
        return MOST_ORDERS + 1
    victories = [strength(a, b) for a in profile.candidates for b in profile.candidates if profile.margin(a, b) > 0]
    return math.prod(math.factorial(victories.count(strength)) for strength in set(victories))


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
    if orders(profile, profile.margin) <= MOST_ORDERS:
        rules["ranked-pairs/margins"] = lambda: ranked_pairs(profile)
    if orders(profile, votes) <= MOST_ORDERS:
        rules["ranked-pairs"] = lambda: ranked_pairs(profile, strength_function=votes)
    if all(sum(rank == min(ballot.values()) for rank in ballot.values()) == 1 for ballot in ballots):
        rules["plurality"] = lambda: plurality(profile)
    return rules


def majority_judgment(case):
    """pref_voting breaks ties once, by the gauge; here medians are taken away one by one, as published."""
    taken = []
    for option in range(case["options"]):
        grades = sorted(marks[option] for count, marks in case["ballots"] for _ in range(count))
        taken.append([grades.pop((len(grades) - 1) // 2) for _ in range(len(grades))])
    return [option for option, medians in enumerate(taken) if medians == max(taken)]


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
    return rules


def approvals(case):
    ballots = [dict(enumerate(marks)) for _, marks in case["ballots"]]
    counts = [count for count, _ in case["ballots"]]
    profile = GradeProfile(ballots, [0, 1], counts, candidates=list(range(case["options"])))
    return {"approval": lambda: approval(profile)}


KINDS = {"ranking": ranking, "score": score, "approval": approvals}


def main(path):
    compared, wrong, profiles = {}, 0, 0
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            case = json.loads(line)
            profiles += 1
            for rule, winners in KINDS[case["kind"]](case).items():
                found = sorted(int(option) for option in winners())
                compared[rule] = compared.get(rule, 0) + 1
                if found != case["winners"][rule]:
                    wrong += 1
                    if wrong <= 5:
                        print(f"{rule}: pref_voting {found}, roundtable {case['winners'][rule]}\n  {case['ballots']}")
    counts = " ".join(f"{rule}={count}" for rule, count in sorted(compared.items()))
    print(f"profiles={profiles} {counts} wrong={wrong}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
