"""The script that Streamlit runs for each click.

All other code is in modules, because Python imports a module only once, but Streamlit executes this script again for
each click.
"""

import streamlit as st

from labeler.config import settings
from labeler.studies.ui import app

app.main(app.session_of(st.context.cookies, settings().study))
