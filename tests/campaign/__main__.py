"""``python -m tests.campaign --minutes 60``: the long form, with its table."""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import anchorwords

from .areas import AREAS
from .campaign import Tally, run_campaign, run_trial


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=None, help="Time in all; by default the short form is run.")
    parser.add_argument("--seed", type=int, default=0, help="Another seed draws other faults.")
    parser.add_argument("--workers", type=int, default=min(os.cpu_count() or 1, 8), help="Processes that try at once.")
    parser.add_argument("--only", default="", help="Only areas whose name contains this.")
    parser.add_argument(
        "--trial", type=int, default=None, help="Run this one trial of the area again, in this process."
    )
    parser.add_argument("--write", type=Path, default=None, help="Write the table to this Markdown file.")
    options = parser.parse_args()
    chosen = [area for area in AREAS if options.only.lower() in area.name.lower()]
    if not chosen:
        parser.error(f"no area has {options.only!r} in its name: there are {', '.join(area.name for area in AREAS)}.")
    if options.trial is not None:
        with tempfile.TemporaryDirectory() as shared:
            print(run_trial(chosen[0], options.seed, options.trial, Path(shared)))
        return 0
    begin = time.monotonic()
    tallies = run_campaign(
        chosen, seed=options.seed, n_workers=options.workers, minutes=options.minutes, report=_print_tally
    )
    text = table(tallies, options.seed, time.monotonic() - begin)
    print(f"\n{text}")
    if options.write is not None:
        options.write.write_text(text, encoding="utf-8")
    return 1 if any(tally.finds for tally in tallies) else 0


def _print_tally(tally: Tally) -> None:
    outcomes = ", ".join(f"{count:,} {outcome}" for outcome, count in tally.outcomes.most_common())
    print(f"{tally.area.name}: {tally.skipped or outcomes} ({tally.seconds:.0f} s)", flush=True)
    for find in tally.finds:
        again = f"python -m tests.campaign --only {find.area!r} --trial {find.number}"
        print(f"  {find.kind} in trial {find.number}; run it again with: {again}\n{find.report}", flush=True)


def table(tallies: Sequence[Tally], seed: int, seconds: float) -> str:
    """The tallies as a Markdown table, with what they were run on."""
    rows = [
        "| area | promise | trials | outcomes | broken promises | crashes | hangs |",
        "|---|---|--:|---|--:|--:|--:|",
    ]
    for tally in tallies:
        kinds = [find.kind for find in tally.finds]
        outcomes = tally.skipped or "; ".join(f"{text} {count:,}" for text, count in sorted(tally.outcomes.items()))
        counts = " | ".join(f"{kinds.count(kind)}" for kind in ("broken promise", "crash", "hang"))
        rows.append(f"| {tally.area.name} | {tally.area.promise} | {tally.n_trials:,} | {outcomes} | {counts} |")
    total = sum(tally.n_trials for tally in tallies)
    about = (
        f"{total:,} trials in {seconds / 60:.0f} minutes, seed {seed}; anchorwords {anchorwords.__version__}, Python "
        f"{platform.python_version()}, {platform.system()} {platform.machine()}, {os.cpu_count()} cores."
    )
    return "\n".join([*rows, "", about, ""])


if __name__ == "__main__":
    sys.exit(main())
