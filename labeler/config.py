"""Settings from environment variables, and the location of included files. Only pages and commands use them."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Settings:
    """Settings from environment variables.

    Attributes
    ----------
    study : Path or None
        `LABELER_STUDY`: the study file that commands use without `--study`.
    import_root : Path or None
        `LABELER_IMPORT_ROOT`: the folder on the server from which coordinators may import in the browser; by default
        the folder of the study.
    """

    study: Path | None
    import_root: Path | None = None


def settings(environment: Mapping[str, str] = os.environ) -> Settings:
    """Read the settings.

    Examples
    --------
    >>> settings({"LABELER_STUDY": "cache.study"}).study.name
    'cache.study'
    """
    study, import_root = environment.get("LABELER_STUDY"), environment.get("LABELER_IMPORT_ROOT")
    return Settings(Path(study) if study else None, Path(import_root) if import_root else None)


def bundled(*parts: str) -> Path:
    """Return the path of an included file.

    The file is next to the package in a checkout, and inside the package when installed.
    """
    here = Path(__file__).parent
    inside = here / "bundled"
    return (inside if inside.is_dir() else here.parent).joinpath(*parts)
