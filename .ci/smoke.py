"""What an installed package must do, with no more than its dependencies: python .ci/smoke.py, outside of the checkout."""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import anchorwords as aw

SUBJECTS = (
    "lion tiger zebra gorilla giraffe safari savanna predator herd jungle",
    "flour butter oven sugar recipe dough pastry whisk cinnamon bakery",
    "orbit rocket planet comet telescope galaxy astronaut launch gravity lunar",
)


def main() -> int:
    """Read, fit, save, load and transform; then the command line."""
    chance = random.Random(0)
    with tempfile.TemporaryDirectory() as folder:
        documents, saved = Path(folder) / "documents.txt", Path(folder) / "model"
        lines = [" ".join(chance.choices(chance.choice(SUBJECTS).split(), k=12)) for _ in range(300)]
        documents.write_text("\n".join(lines), encoding="utf-8")
        corpus = aw.read_corpus(documents).prune()
        model = aw.AnchorTopicModel(3, random_state=0).fit(corpus)
        model.save(saved)
        np.testing.assert_array_equal(aw.load_model(saved).transform(corpus), model.transform(corpus))
        for arguments in (["--help"], ["fit", "--help"], ["topics", str(saved)]):
            subprocess.run([sys.executable, "-m", "anchorwords", *arguments], check=True, stdout=subprocess.DEVNULL)
    print(f"anchorwords {aw.__version__} works on Python {sys.version.split()[0]} with NumPy {np.__version__}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
