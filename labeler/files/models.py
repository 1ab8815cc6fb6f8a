"""Read model files of learned classifiers."""

from pathlib import Path
from typing import TYPE_CHECKING

from analysis.categories import CATEGORIES
from analysis.document import describe_value
from analysis.runs.runs import Warmup
from analysis.text import joined
from labeler.errors import InputError, sentence
from labeler.files.formats import Source

if TYPE_CHECKING:
    from analysis.learning import Model


def read_model(path: Path) -> "Model":
    """Read and check a model file; raises InputError with the name of the file."""
    from analysis.learning import ModelError, model_from_text  # imported here because it loads pandas

    try:
        return model_from_text(Source(str(path), path).content().decode("utf-8"))
    except UnicodeDecodeError:
        raise InputError(f"{path}: the file is not a text file.") from None
    except ModelError as error:
        raise InputError(f"{path}: {sentence(error)}") from None


def read_model_of_runs(path: Path) -> "Model":
    """Read a model of the default question; raises InputError as `read_model`, or for other categories."""
    model = read_model(path)
    if model.categories == CATEGORIES and model.positive is not None:
        return model
    raise InputError(
        f"{path}: the model gives the categories {joined(model.categories)}, but labeler check needs a "
        "model of the default question. Use this model in a study with its categories: labeler verdicts --model"
    )


def warmup_of(model: "Model", warmup: Warmup) -> Warmup:
    """Return the warm-up with which a model was learned; raises InputError if `warmup` requests another warm-up."""
    if warmup not in (0, model.warmup):
        raise InputError(
            f"The model was learned with --warmup {describe_value(model.warmup)}, so it cannot be used with --warmup "
            f"{describe_value(warmup)}. Leave out --warmup, or compute verdicts with --warmup {describe_value(warmup)} "
            "and learn a new model from them."
        )
    return model.warmup
