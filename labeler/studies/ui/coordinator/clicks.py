"""Say in the browser what to click, where the command line names an option or a command."""

import re

READING = "How to read the files"  # the fold with the fields of `reading.reading_options`
KEEP_BOTH = "Keep changed measurements as separate items"
_THERE = f"under “{READING}”"
_GIVE = r"(?i:give|pass|use)"

# What a hint of the command line is in the browser. The patterns are tried in this order.
_HINTS: tuple[tuple[str, str], ...] = (
    (r"To list the known formats: labeler formats\. To choose one, pass --format NAME",
     f"“Which formats can be read” lists the known formats. To choose one, open “{READING}”"),
    (r"import all files together with --file-is run",
     f"choose “one run of each benchmark” {_THERE}, and drop all files together"),
    (r"Say which to compare: --before NAME --after NAME",
     "Drop the files from before and after the change into the two fields"),
    (r"or read them with --from-name", f"or read them from the file names, {_THERE}"),
    (r"give --from-name, for example --from-name (\S+)", rf"enter their pattern, such as \1, {_THERE}"),
    (r"or give --from-name", f"or enter a pattern of file names {_THERE}"),
    (r"(To keep both,|or) give --as-new(?: to keep both)?", rf"\1 choose “{KEEP_BOTH}” {_THERE}"),
    (r"use --unit or --better", f"enter the unit or what is better {_THERE}"),
    (rf"{_GIVE} --better (\S+) or --better (\S+)", rf"enter \1 or \2 as “Better” {_THERE}"),
    (rf"{_GIVE} --format (\S+) --columns (\S+)", rf"choose the format \1 and the columns \2 {_THERE}"),
    (rf"{_GIVE} --file-is run", f"choose “one run of each benchmark” {_THERE}"),
    (rf"{_GIVE} --file-is study", f"choose “all runs” {_THERE}"),
    (rf"{_GIVE} --values-are (\S+)", rf"choose “\1” as the meaning of a value {_THERE}"),
    (rf"(?:{_GIVE} the name of the benchmark with|{_GIVE}) --benchmark NAME",
     f"enter the name of the benchmark {_THERE}"),
    (r"; --benchmark NAME", f"; enter the name of the benchmark {_THERE}"),
    (rf"{_GIVE} --unit (\w+)", rf"enter the unit \1 {_THERE}"),
    (r"Name the column with --columns (\S+)", rf"Enter the column as \1 {_THERE}"),
    (r"of the run with --columns (\S+)", rf"of the run as \1 {_THERE}"),
    (rf"{_GIVE} --columns (\S+)", rf"enter the columns \1 {_THERE}"),
    (r"otherwise --columns (\S+)", r"otherwise the columns \1"),
    (r"so --benchmark does not apply", "so the name of a benchmark does not apply"),
    (r"has no --metric (\S+)", r"has no metric \1"),
    (r"--(better|columns) (\S+):", r"\1 \2:"),
    (r"such as --better ", "such as "),
    (r", create a (study with the question change|new study): labeler init --question \w+", r", create a new study"),
    (r"create a study with: labeler init --question change", "create a study with the question change"),
    (r"There is no plan yet\. Create it first: labeler plan", "There is no plan yet. Make it under Study, Plan"),
    (r"To compute verdicts: labeler verdicts", "To compute them, open Items, All items, Classifiers"),
    (r"Compute (?:verdicts|them) first: labeler verdicts", "Compute them under Items, All items, Classifiers"),
    (r"create its plan with labeler plan --first N before", "start its plan with part of the items before"),
    (r"To list the (?:items|flags and comments): labeler \w+", "Reload the page to see the current list"),
    (r"Import verdicts instead: labeler verdicts --import FILE\.csv", "Import verdicts on the command line instead"),
    (r"with the command labeler adjudicate", "on the command line"),
    (r" first: labeler calibration --reference FILE", " first, on the command line"),
    (r"run labeler report --show-rejected", "write the report on the command line"),
    (r" \((?:--(?:force|unlicensed)|labeler reviewers resume)\)", ""),
    (r"use --rule published", "choose the rule published"),
    (r"labeler steady --rule published", "the rule published"),
    (r", use --compat ordersage", ", use the command line"),
)  # fmt: skip
_COMPILED = tuple((re.compile(pattern), words) for pattern, words in _HINTS)


def by_click(text: str) -> str:
    """Return a text with the hints of the command line replaced by what to click.

    Examples
    --------
    >>> by_click("the file does not name the benchmark. Give --benchmark NAME")
    'the file does not name the benchmark. Enter the name of the benchmark under “How to read the files”'
    """
    for pattern, words in _COMPILED:
        for found in reversed(list(pattern.finditer(text))):
            text = text[: found.start()] + _in_case_of(found, words) + text[found.end() :]
    return text


def _in_case_of(found: re.Match[str], words: str) -> str:
    """Return the words for a hint, with a capital letter if the hint begins with one."""
    text = found.expand(words)
    return text[:1].upper() + text[1:] if found[0][:1].isupper() else text
