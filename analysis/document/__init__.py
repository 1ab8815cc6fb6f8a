"""Represent the content of reports and command output, and write it as HTML, Markdown, LaTeX, text or JSON.

Helpers for figures are in `analysis.document.figures`; only that module loads Altair.
"""

from analysis.document._content import (
    DASH as DASH,
    N_ROWS as N_ROWS,
    Block as Block,
    Bullets as Bullets,
    Document as Document,
    Figure as Figure,
    Link as Link,
    Marked as Marked,
    Paragraph as Paragraph,
    Section as Section,
    Statistic as Statistic,
    Table as Table,
    clean as clean,
    describe_value as describe_value,
    estimate as estimate,
    first_rows as first_rows,
    interval as interval,
    method_report as method_report,
    number as number,
    one_line as one_line,
    p_value as p_value,
    percent as percent,
    plain_number as plain_number,
    readable_name as readable_name,
    sentence as sentence,
    share as share,
    shortened as shortened,
    table as table,
)
from analysis.document._html import to_html as to_html
from analysis.document._json import (
    inline as inline,
    json_values as json_values,
    read_back as read_back,
    to_json as to_json,
)
from analysis.document._latex import to_latex as to_latex
from analysis.document._markdown import to_markdown as to_markdown
from analysis.document._text import to_text as to_text
from analysis.text import N_NAMED as N_NAMED, counted as counted, joined as joined, listed as listed
