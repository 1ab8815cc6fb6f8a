"""The table of the reliability tests: each row is a scene, an accident in it, and what is counted afterwards.

A scene, an accident or a count is a function in the module of its kind of scene; here it only gets its row. A scene is
a context manager that gives a world; an accident gets the world; each count gets the world and returns a case.
"""

from collections.abc import Callable, Sequence

from tests.browser import pending
from tests.reliability import (
    _reviewers,
    _sites,
    _strangers,
    _tampering,
    _traces,
    crawl,
    crowd as crowds,
    crowd_accidents as people,
    disks,
    operation,
    page_accidents as page,
    pages,
    processes,
    round_trip,
    waiting_answers as answers,
)
from tests.reliability._ground import Ground, served_to_all, stopped
from tests.reliability.cases import Row, Tried, Whole, no_wrong, nothing
from tests.reliability.crowd import Crowd, Pace, crowd, no_accident, until_stopped, while_they_label
from tests.reliability.disks import OnDisk, all_said_why, held_back, on_disk
from tests.reliability.page_accidents import during
from tests.reliability.pages import AtPage, at_page, copy_of_master, sleep_not_counted, stored_once

KILLS: Sequence[Row[processes.Processes]] = (
    Row("label transactions killed", processes.labelling(), processes.reviewers_killed(1000, 30),
        [processes.nothing_lost]),
    Row("backup killed while others label", processes.labelling(), processes.killed(processes.BackUp, 50, 5),
        [processes.nothing_lost]),
    Row("change of people killed while others label", processes.labelling(),
        processes.killed(processes.ReplaceGuest, 50, 5), [processes.nothing_lost]),
    Row("import killed while others label", processes.labelling(), processes.killed(processes.ImportFile, 50, 5),
        [processes.nothing_lost]),
)  # fmt: skip

BACKUPS: Sequence[Row[processes.Processes]] = (
    Row("backup each second while the study changes", processes.labelling(300, 10, 300),
        processes.backed_up_each_second,
        [processes.no_error, processes.every_backup_is_of_a_moment]),
)  # fmt: skip

DISKS: Sequence[Row[OnDisk]] = (
    Row("new study on a full disk", on_disk(disks.no_study), disks.init, [all_said_why]),
    Row("backup from a full disk", on_disk(copy_of_master), disks.backup, [all_said_why]),
    *(Row(f"import on a full disk, {n} pages left", on_disk(disks.empty_study), disks.import_files(n), [all_said_why])
      for n in (0, 9, 60, 300)),
    Row("server started on a full disk", on_disk(copy_of_master), disks.start_with_room_again,
        [all_said_why, disks.labelling_goes_on]),
    Row("server started with the study read-only", on_disk(copy_of_master, small=False),
        disks.start_during(lambda one: disks.closed([one.study]), held_back), [all_said_why]),
    Row("server started with the study and its folder read-only", on_disk(copy_of_master, small=False),
        disks.start_during(lambda one: disks.closed([one.study, one.disk]), held_back), [all_said_why]),
    Row("server started with its disk read-only", on_disk(copy_of_master),
        disks.start_during(lambda one: disks.remounted(one.disk)), [all_said_why]),
)  # fmt: skip

PAGES: Sequence[Row[AtPage]] = (
    Row("disk full while labelling", at_page(on_small_disk=True), page.disk_full, [stored_once]),
    Row("the study read-only while labelling", at_page(held_back),
        during(lambda one: disks.closed([one.study])), [stored_once]),
    Row("the study and its folder read-only while labelling", at_page(held_back),
        during(lambda one: disks.closed([one.study, one.study.parent])), [stored_once]),
    Row("its disk read-only while labelling", at_page(on_small_disk=True),
        during(lambda one: disks.remounted(one.study.parent)), [stored_once]),
    Row("study removed while labelling", at_page(), during(page.removed, then=page.another_comes), [stored_once]),
    Row("study moved away while labelling", at_page(), during(page.moved, then=page.another_comes), [stored_once]),
    Row("study moved away, page reloaded", at_page(), during(page.moved, then=page.reloads), [stored_once]),
    Row("study replaced by its backup while labelling", at_page(), page.replaced, [stored_once]),
    Row("the server's clock moved a day back, a day ahead and ten years back", at_page(wrong_clock=True),
        page.server_clock, [pages.in_order_of_presses, stored_once, pages.commands_work]),
    Row("the server's clock ten years ahead, then right again", at_page(wrong_clock=True), page.server_clock_ahead,
        [stored_once]),
    Row("signed in while the server's clock was ten years behind", at_page(wrong_clock=True),
        page.server_clock_behind, [stored_once]),
    Row("the browser's clock moved a day and ten years, back and ahead", at_page(enter=False), page.browser_clock,
        [stored_once]),
    Row("the server asleep", at_page(), during(page.server_asleep, "ds", n_kept=2, then=page.a_while), [stored_once]),
    Row("the browser asleep", at_page(), page.browser_asleep, [sleep_not_counted, stored_once]),
    Row("a lid closed for eight hours", at_page(enter=False), page.lid_closed, [sleep_not_counted, stored_once]),
    Row("the network off", at_page(), during(page.offline, n_kept=None, then=page.a_while), [stored_once]),
    Row("a dead connection that nobody closes", at_page(enter=False), page.dead_connection, [stored_once]),
    Row("signed out in another window", at_page(), page.signed_out_elsewhere, [stored_once]),
    Row("revoked, then given a new link", at_page(), page.revoked, [stored_once]),
    Row("the browser's storage full", at_page(),
        during(page.storage_full, "ds", n_kept=None, then=page.both_wait_in_the_window), [stored_once]),
    Row("the browser's storage blocked", at_page(enter=False), page.storage_blocked, [stored_once]),
    Row("sign-in link opened again in another tab", at_page(), page.link_again, [stored_once]),
    Row("two tabs, the same item at once", at_page(), page.same_item(new_device=False), [stored_once]),
    Row("two devices, the same item at once", at_page(), page.same_item(new_device=True), [stored_once]),
)  # fmt: skip

PENDING: Sequence[Row[answers.Waiting]] = tuple(
    Row(f"{what}, with answers that wait", answers.waiting(name), answers.repeated(what), [answers.in_order])
    for what, name in zip(pending.MISHAPS, answers.NAMES, strict=True)
)

SERVER_KILLS: Sequence[Row[Crowd]] = (
    Row("server killed while reviewers label", crowd(8, 2, pace=until_stopped()),
        while_they_label(people.server_killed(50, 3)), [crowds.sent_again, crowds.stored_once]),
)  # fmt: skip


def level(n: int, n_pages: int = 0, *, minutes: float = 1, is_long: bool = False) -> Row[Crowd]:
    """A row for the ordinary load of this many reviewers, who each give a label every two seconds."""
    scene = crowd(
        n - n_pages, n_pages, pace=lambda room: Pace.lasting(0.1 if room.quick else minutes, 2), measures_locks=True
    )
    counts = [crowds.no_error, crowds.in_time(), crowds.stored_once, crowds.lock_waits, crowds.no_leak]
    counts += [crowds.memory_per_session] if n > 1 else []
    return Row(
        f"{n} reviewer{'s' * (n > 1)} with a label every two seconds",
        scene,
        while_they_label(no_accident),
        counts + [crowds.no_growth] * is_long,
    )


LOAD: Sequence[Row[Crowd]] = (
    *(level(n) for n in (1, 10, 25)),
    level(50, 4, minutes=10, is_long=True),
    Row("200 sign-ins at once while 10 label", crowd(10, pace=until_stopped(1.0), n_spare=lambda room: room.n(200, 10)),
        while_they_label(people.many_sign_in(200, 10)), [crowds.no_error, crowds.in_time(300), crowds.stored_once]),
    Row("20 clients at full speed", crowd(20, pace=lambda room: Pace(0.0, room.n(300, 10))),
        while_they_label(no_accident),
        [crowds.no_error, crowds.in_time(500, 99, since_sent=True), crowds.stored_once, crowds.no_growth]),
    Row("200 windows opened, used once and closed", crowd(1, pace=until_stopped(1.0), n_spare=lambda _: 4),
        while_they_label(people.windows_opened_and_closed(200, 10)), [crowds.no_error, crowds.stored_once]),
)  # fmt: skip

FLOOD: Sequence[Row[Crowd]] = (
    Row("one reviewer floods on 60 connections while 5 label",
        crowd(5, pace=until_stopped(0.5), n_spare=lambda _: 1, n_files=lambda _: 8192),
        while_they_label(people.one_floods(60, 20.0, 5.0)),
        [crowds.no_error, crowds.in_time(250, 99, since_sent=True), crowds.stored_once]),
    Row("one reviewer of another study floods on 60 connections while 5 label",
        crowd(5, pace=until_stopped(0.5), n_spare=lambda _: 1, n_files=lambda _: 8192),
        while_they_label(people.one_floods(60, 20.0, 5.0, elsewhere=True)),
        [crowds.no_error, crowds.in_time(250, 99, since_sent=True), crowds.stored_once]),
    Row("500 windows reloaded at once with few open files",
        crowd(1, pace=until_stopped(1.0), n_spare=lambda _: 4, n_files=lambda room: room.n(8192, 1024)),
        while_they_label(people.windows_reloaded(500, 20)),
        [crowds.no_error, crowds.stored_once, crowds.log_stays_small]),
    Row("2000 connections with half of a request",
        crowd(4, pace=until_stopped(1.0), n_files=lambda room: room.n(8192, 1024)),
        while_they_label(people.half_requests(2000, 200)),
        [crowds.no_error, crowds.stored_once, crowds.log_stays_small]),
)  # fmt: skip

OPERATION: Sequence[Row[operation.Site]] = (
    Row("behind a proxy with https", operation.site, operation.https_by_proxy, [no_wrong]),
    Row("behind a proxy, rate limit by client", operation.site, operation.wrong_links_by_proxy, [no_wrong]),
    Row("a proxy on another machine", operation.site, operation.proxy_elsewhere, [no_wrong]),
    Row("SIGTERM while a window is open", operation.site, operation.stopped_with_a_window, [no_wrong]),
    Row("SIGTERM after 5000 websocket messages of two bytes", operation.site, operation.stopped_with_many_messages,
        [no_wrong]),
    Row("SIGTERM while a form is incomplete", operation.site, operation.stopped_with_half_a_form,
        [no_wrong]),
    Row("a wheel has all files", operation.site_of_wheel, operation.compared_with_checkout, [no_wrong]),
    Row("a wheel serves, and writes only beside the study", operation.site_of_wheel, operation.served_from_wheel,
        [no_wrong]),
)  # fmt: skip

ATTACKS: dict[str, Callable[[Ground], None]] = {
    "stranger, every route with every method": _strangers.every_route,
    "stranger, tricks with paths": _strangers.every_trick,
    "stranger, forged headers": _strangers.forged_headers,
    "stranger, no session or an invalid session": _strangers.sessions_that_are_none,
    "wrong secrets, rate limit": _strangers.rate_limit,
    "wrong secrets, time of refusals": _strangers.time_of_refusals,
    "reviewer, coordinators' addresses": _reviewers.addresses,
    "reviewer, files, uploads, metrics": _reviewers.files_and_uploads,
    "reviewer, coordinators' pages over the websocket": _reviewers.pages_over_the_websocket,
    "reviewer, coordinators' widgets, fragments and files": _reviewers.widgets_of_coordinators,
    "reviewer, service functions": _reviewers.service_functions,
    "tampered, items and events of others, of the past and the future": _tampering.tampered(_tampering.named),
    "tampered, every field with every type": _tampering.tampered(_tampering.typed),
    "tampered, messages of every kind, invalid widgets": _tampering.tampered(_tampering.of_every_kind),
    "tampered, too large, or not messages": _tampering.tampered(_tampering.shapeless),
    "tampered, random changes": _tampering.tampered(_tampering.changed_at_random),
    "another site, websockets": _sites.websockets,
    "another site, uploads": _sites.uploads,
    "sizes and names of uploads": _sites.sizes_and_names,
    "headers for frames, types, caches": _sites.headers,
    "session, two tabs answer the same item at once": _reviewers.two_tabs,
    "session, two devices answer the same item at once": _reviewers.two_devices,
    "session, cookies planted before signing in": _reviewers.planted_cookies,
    "session, of another study": _reviewers.of_another_study,
    "session, another person's Streamlit session": _reviewers.attached,
    "session, during another person's page run": _reviewers.attached_while_busy,
    "session, open windows of people who may no longer label": _reviewers.open_windows,
    "session, a coordinator's window after signing out": _reviewers.files_after_the_end,
}
TRACES: dict[str, Callable[[Ground], None]] = {
    "traces in the server's output": _traces.in_the_output,
    "traces in the study file": _traces.in_the_study,
    "traces in exports, reports, the log, the copy for publication": _traces.in_what_leaves_it,
    "traces in the output of labeler serve": _traces.what_serve_prints,
}
ACCESS: Sequence[Row[Ground]] = (
    *(Row(name, served_to_all, attack, [no_wrong]) for name, attack in ATTACKS.items()),
    *(Row(name, stopped, search, [no_wrong]) for name, search in TRACES.items()),
)

ROUND_TRIP: Sequence[Row[round_trip.RoundTrip]] = (
    Row("generated studies", round_trip.generated, nothing, [round_trip.all_kinds]),
    *(Row(what, round_trip.generated, round_trip.asked(question), [round_trip.unchanged])
      for what, question in round_trip.QUESTIONS.items()),
)  # fmt: skip

TABLE: dict[str, tuple[int, Sequence[Tried]]] = {  # group: its time limit in minutes, its rows
    "kills": (20, (*KILLS, *SERVER_KILLS)),
    "pages": (20, PAGES),
    "disks": (10, DISKS),
    "pending": (20, PENDING),
    "load": (30, LOAD),
    "flood": (10, FLOOD),
    "crawl": (10, (Whole("crawl of all states and roles", crawl.cases),)),
    "access": (15, ACCESS),
    "backups": (10, BACKUPS),
    "round-trip": (15, ROUND_TRIP),
    "operation": (5, OPERATION),
}
