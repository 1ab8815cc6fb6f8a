"""Dependencies are declared with a reason, bounded and pinned, and have accepted licences."""

import pytest

from tests.reliability import _declared


@pytest.mark.parametrize("looked_at", _declared.CASES, ids=lambda function: function.__name__)
def test_the_supply_is_as_declared(looked_at):
    case = looked_at()
    assert case.passed, case.figures


@pytest.mark.parametrize(
    "expression", ["", "GPL-3.0-or-later", "MIT AND SSPL-1.0", "(MIT OR GPL-2.0-only)", "LicenseRef-x"]
)
def test_a_licence_that_nobody_accepted_is_objected_to(expression):
    assert _declared.licences["objection"](expression)


@pytest.mark.parametrize("expression", ["MIT", "Apache-2.0 OR BSD-2-Clause", "MPL-2.0 AND (Apache-2.0 OR MIT)"])
def test_a_licence_of_accepted_parts_is_accepted(expression):
    assert not _declared.licences["objection"](expression)


def test_a_test_tool_under_another_licence_would_be_found_in_the_application():
    case = _declared.accepted(["test"])
    assert not case.passed
    assert "krippendorff: GPL-3.0-or-later" in case.figures
