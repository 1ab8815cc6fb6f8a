"""Install other packages during a test: the files that pip writes, where Python finds them."""

import importlib
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from labeler.plugins import CLASSIFIER_GROUP, classifier_plugins, format_plugins

STEADY_LIMIT = 0.057

# a classifier in another package: dissimilar if the measurements vary widely
STEADY = f"""
from analysis.runs.classifiers import Verdict

def judge(runs):
    sd = float(runs.values.std())
    verdict = "dissimilar" if sd > {STEADY_LIMIT} else "similar"
    return Verdict("steady", verdict, score=sd, threshold={STEADY_LIMIT}, means={{"m1": 2 * sd}},
                   n_runs=runs.k, n_iterations=runs.n)
"""


class Site:
    """A folder on the import path for packages; each package is one module of the same name."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def install(
        self, name: str, source: str, *, version: str = "1.0", points: Mapping[str, str] | None = None,
        group: str = CLASSIFIER_GROUP,
    ) -> None:  # fmt: skip
        """Install a package and replace its other versions; it registers its `judge` under its name."""
        self.uninstall(name)
        (self.folder / f"{name}.py").write_text(source, encoding="utf-8")
        info = self.folder / f"{name}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", encoding="utf-8")
        lines = [f"{point} = {target}\n" for point, target in (points or {name: f"{name}:judge"}).items()]
        (info / "entry_points.txt").write_text(f"[{group}]\n{''.join(lines)}", encoding="utf-8")
        importlib.invalidate_caches()

    def uninstall(self, name: str) -> None:
        """Remove a package, as for a process that starts afterwards."""
        for path in self.folder.glob(f"{name}-*.dist-info"):
            shutil.rmtree(path)
        shutil.rmtree(self.folder / "__pycache__", ignore_errors=True)
        (self.folder / f"{name}.py").unlink(missing_ok=True)
        sys.modules.pop(name, None)
        importlib.invalidate_caches()
        classifier_plugins.cache_clear()
        format_plugins.cache_clear()

    def clear(self) -> None:
        """Remove everything."""
        for path in list(self.folder.glob("*.py")):
            self.uninstall(path.stem)
