# The application in a container: docs/running.md says how to run it. Built by hand, not by CI:
#   docker build --tag labeler .
FROM python:3.13-slim AS build
WORKDIR /src
COPY . .
# The environment has no pip; the build tools stay in this stage.
RUN python -m venv --without-pip /opt/labeler \
    && python -m pip --python /opt/labeler/bin/python install --no-cache-dir --constraint constraints.txt '.[oidc]'

FROM python:3.13-slim
RUN python -m pip uninstall --yes --root-user-action ignore pip \
    && useradd --system --uid 10001 --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin labeler \
    && install --directory --owner labeler --group labeler --mode 700 /data
COPY --from=build /opt/labeler /opt/labeler
ENV PATH=/opt/labeler/bin:$PATH \
    LABELER_STUDY=/data/labels.study \
    PYTHONDONTWRITEBYTECODE=1
USER labeler
WORKDIR /data
VOLUME /data
EXPOSE 8501
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s --retries=3 \
    CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8501/_stcore/health', timeout=4)"]
STOPSIGNAL SIGTERM
CMD ["labeler", "serve", "--address", "0.0.0.0", "--port", "8501"]
