"""Handle the presses of buttons and keys one after another, so that no press is lost.

With `install` and the setting `fastReruns = false`, a page run that handles a press ends before the next request
begins. Otherwise, Streamlit stops a page run as soon as the browser sends the next request. If a person then presses
two buttons within a tenth of a second, the first page run stops before it has saved anything.

No label, reference label or decision needs this, because the components send them by their own requests. Without it, an
answer that a coordinator sends is lost if the next message is requested at once (tests/browser/test_queues).
"""

import threading
from collections import deque
from dataclasses import replace

from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates
from streamlit.runtime.scriptrunner import get_script_run_ctx, script_runner
from streamlit.runtime.scriptrunner_utils.script_requests import (
    RerunData,
    ScriptRequest,
    ScriptRequests,
    ScriptRequestType,
)

_VALUES = ("trigger_value", "string_trigger_value", "json_trigger_value")  # of buttons, and of components


def install() -> None:
    """Make all browser sessions of this process use `PressQueue`."""
    script_runner.ScriptRequests = PressQueue  # type: ignore[attr-defined]  # Streamlit offers no other way


def may_be_left() -> None:
    """Allow the next request to stop the current page run, for example because it only waits for a long computation."""
    context = get_script_run_ctx()
    requests = context.script_requests if context else None
    if isinstance(requests, PressQueue):
        requests.handles_press = False


def presses(request: RerunData) -> frozenset[tuple[str, bytes]]:
    """Return the buttons and components that were pressed, with their values."""
    states = request.widget_states.widgets if request.widget_states else ()
    return frozenset((state.id, state.SerializeToString(deterministic=True)) for state in filter(_is_pressed, states))


def one_by_one(request: RerunData) -> list[RerunData]:
    """Split a request with several presses into requests with one press each; buttons come before components.

    Buttons come first because a key of a component may go to another item. A button for the previous item would then
    have no effect.
    """
    states = list(request.widget_states.widgets) if request.widget_states else []
    pressed = sorted(filter(_is_pressed, states), key=lambda state: _VALUES.index(state.WhichOneof("value")))
    if len(pressed) < 2:
        return [request]
    others = [state for state in states if not _is_pressed(state)]
    return [replace(request, widget_states=WidgetStates(widgets=[*others, state])) for state in pressed]


def _is_pressed(state: WidgetState) -> bool:
    name = state.WhichOneof("value")
    value = getattr(state, name) if name in _VALUES else None
    return bool(getattr(value, "data", value))


class PressQueue(ScriptRequests):
    """The requests of one window; a request with a press is never merged with another request.

    `handles_press` says whether the current page run handles a press and must therefore end before the next request
    begins.
    """

    def __init__(self) -> None:
        super().__init__()
        self.handles_press = False
        self._later: deque[RerunData] = deque()  # requests after the pending request
        self._order = threading.RLock()

    def request_rerun(self, new_data: RerunData) -> bool:
        """Add a request to the queue; return False if the window is closed."""
        with self._order:
            if get_script_run_ctx(suppress_warning=True) is not None:
                return self._from_page(new_data)
            return all(self._add(request) for request in one_by_one(new_data))

    def _add(self, new_data: RerunData) -> bool:
        if self._later:
            if _replaces(new_data, self._later[-1]):
                self._later.pop()
            self._later.append(new_data)
            return True
        if self._is_pending() and presses(self._rerun_data) and not _replaces(new_data, self._rerun_data):
            self._later.append(new_data)
            return True
        return super().request_rerun(new_data)

    def on_scriptrunner_yield(self) -> ScriptRequest | None:
        """Return the request that stops the current page run, or None if the run continues."""
        if self.handles_press:
            return None
        with self._order:
            return self._begun(super().on_scriptrunner_yield())

    def on_scriptrunner_ready(self) -> ScriptRequest:
        """Return the request for the next page run, or a request to stop."""
        with self._order:
            request = super().on_scriptrunner_ready()
            self._begun(request)
            return request

    def _begun(self, request: ScriptRequest | None) -> ScriptRequest | None:
        if request is not None and request.type is ScriptRequestType.RERUN:
            self.handles_press = bool(presses(request.rerun_data))
            if self._later:
                super().request_rerun(self._later.popleft())
        return request

    def _from_page(self, new_data: RerunData) -> bool:
        """Put a request of the page itself before all others, because the page has handled the press."""
        self.handles_press = False
        if self._is_pending():
            self._later.appendleft(self._rerun_data)
            self._state = ScriptRequestType.CONTINUE
        return super().request_rerun(new_data)

    def _is_pending(self) -> bool:
        return self._state is ScriptRequestType.RERUN


def _replaces(new: RerunData, old: RerunData) -> bool:
    """Return whether a request contains everything that an older request contains."""
    same = new.page_script_hash == old.page_script_hash and new.fragment_id == old.fragment_id
    return same and presses(old) <= presses(new)
