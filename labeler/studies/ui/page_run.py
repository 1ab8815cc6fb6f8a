"""The script that Streamlit runs for each click.

All other code is in modules, because Python imports a module only once, but Streamlit executes this script again for
each click.
"""

import streamlit as st

from labeler.studies.ui import app, served

study = served.of_window(st.context.headers)
if study is None:
    app.not_served()
else:
    app.main(study, study.session_of(st.context.cookies))
