"""The script that Streamlit runs for each click.

Streamlit executes all its lines again each time, so all other code is in modules, which Python imports only once.
"""

import streamlit as st

from labeler.config import settings
from labeler.ui import app

app.main(app.session_of(st.context.cookies, settings().study))
