"""The queue of a window's requests: no press is merged with another press or dropped."""

from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData, ScriptRequestType

from labeler.studies.ui.input_queue import PressQueue

SAVE, NEXT = WidgetState(id="save", trigger_value=True), WidgetState(id="next", json_trigger_value='{"key": "n"}')


def request(*states, text="", page="splits"):
    field = WidgetState(id="reason", string_value=text)
    return RerunData(widget_states=WidgetStates(widgets=[*states, field]), page_script_hash=page)


def handled(queue):
    """Handle all requests; returns the pressed widgets, the text and the page of each page run."""
    runs = []
    while (ready := queue.on_scriptrunner_ready()).type is ScriptRequestType.RERUN:
        values = {state.id: state for state in ready.rerun_data.widget_states.widgets}
        pressed = "".join(sorted(values.keys() - {"reason"}))
        runs.append((pressed, values["reason"].string_value, ready.rerun_data.page_script_hash))
    return runs


def test_presses_and_a_change_of_page_are_handled_in_order():
    queue = PressQueue()
    for one in (request(SAVE, text="a"), request(NEXT, text="b"), request(text="b", page="items")):
        assert queue.request_rerun(one)
    assert handled(queue) == [("save", "a", "splits"), ("next", "b", "splits"), ("", "b", "items")]


def test_two_presses_in_one_request_become_two_page_runs_and_a_button_comes_first():
    queue = PressQueue()
    queue.request_rerun(request(NEXT, SAVE, text="a"))
    assert handled(queue) == [("save", "a", "splits"), ("next", "a", "splits")]


def test_the_same_button_pressed_twice_and_text_typed_in_between_are_one_page_run():
    queue = PressQueue()
    for text in ("a", "ab"):
        queue.request_rerun(request(SAVE, text=text))
    assert handled(queue) == [("save", "ab", "splits")]


def test_a_page_run_with_a_press_is_not_stopped_and_any_other_page_run_is():
    for first, stops in ((request(SAVE), False), (request(text="a"), True)):
        queue = PressQueue()
        queue.request_rerun(first)
        queue.on_scriptrunner_ready()
        queue.request_rerun(request(page="items"))
        assert (queue.on_scriptrunner_yield() is not None) is stops
