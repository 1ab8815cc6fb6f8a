"""Read settings from environment variables, and locate the files that the package includes.

Only pages and commands use this module.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Settings:
    """The settings that environment variables can change."""

    study: Path | None  # `LABELER_STUDY`: the study file that a command uses if `--study` is not given
    # `LABELER_IMPORT_ROOT`: the folder on the server from which coordinators may import in the browser; by
    # default the folder of the study.
    import_root: Path | None = None
    # `LABELER_SMTP`: the mail server through which coordinators can send messages; see `people.mailing`
    smtp: str | None = None


def settings(environment: Mapping[str, str] = os.environ) -> Settings:
    """Return the settings in these environment variables.

    Examples
    --------
    >>> settings({"LABELER_STUDY": "cache.study"}).study.name
    'cache.study'
    """
    study, import_root = environment.get("LABELER_STUDY"), environment.get("LABELER_IMPORT_ROOT")
    smtp = environment.get("LABELER_SMTP") or None
    return Settings(Path(study) if study else None, Path(import_root) if import_root else None, smtp)


def bundled(*parts: str) -> Path:
    """Return the path of a file that belongs to the package.

    In a checkout, the file is beside the package. In an installation, the file is inside the package.
    """
    here = Path(__file__).parent
    inside = here / "bundled"
    return (inside if inside.is_dir() else here.parent).joinpath(*parts)
