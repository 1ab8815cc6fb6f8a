"""Read the state of the machine, without changing the machine.

The state is recorded with each run. Before the first run, the state may cause warnings.
"""

import hashlib
import os
import platform
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import psutil

CPU = Path("/sys/devices/system/cpu")
BUSY_LOAD = 0.25  # share of the processors that other programs may use without a warning
SECRET = re.compile(r"TOKEN|SECRET|PASS|PWD$|CREDENTIAL|AUTH|COOKIE|SESSION|PRIVATE|KEY|DSN", re.IGNORECASE)
MIN_SECRET = 5  # minimum length of a hidden value in characters; shorter values occur in too many unrelated texts


def constant(*, hostname: bool) -> dict[str, str]:
    """Return machine (unless `hostname` is true, a hash of its name), kernel, processor and Python."""
    name = platform.node()
    return {
        "machine": name if hostname else hashlib.sha256(name.encode()).hexdigest()[:12],
        "kernel": f"{platform.system()} {platform.release()}",
        "processor": processor(),
        "processors": str(psutil.cpu_count() or ""),
        "python": platform.python_version(),
    }


def processor() -> str:
    """Return the model of the processor; if the model is unknown, return the architecture."""
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
            key, _, value = line.partition(":")
            if key.strip() == "model name":
                return value.strip()
    return platform.processor() or platform.machine()


def load() -> float:
    """Return the load average of the last minute."""
    return os.getloadavg()[0]


def state() -> dict[str, str]:
    """Return the conditions that may change between runs; a condition that cannot be read is ""."""
    return {
        "cpu_mhz": _mhz(),
        "governor": _read(CPU / "cpu0/cpufreq/scaling_governor"),
        "temperature_c": _temperature(),
        "memory_available_mb": str(psutil.virtual_memory().available // 2**20),
    }


def warnings() -> Iterator[str]:
    """Yield warnings about conditions that may disturb measurements, each with advice."""
    if _read(CPU / "intel_pstate/no_turbo") == "0" or _read(CPU / "cpufreq/boost") == "1":
        yield (
            "Turbo is on: the clock depends on temperature and on other load. Switch it off, for example with "
            "`pyperf system tune` as root."
        )
    governor = _read(CPU / "cpu0/cpufreq/scaling_governor")
    if governor not in ("", "performance"):
        yield f"The frequency governor is {governor!r}: the clock changes with load. Set it to 'performance'."
    n, busy = psutil.cpu_count() or 1, load()
    if busy > BUSY_LOAD * n:
        yield (
            f"Other programs are running: load {busy:.1f} on {n} processors. Stop them, or measure processor time "
            '(values = "cpu"), which depends less on other programs.'
        )
    battery = psutil.sensors_battery() if hasattr(psutil, "sensors_battery") else None
    if battery is not None and battery.power_plugged is False:
        yield "The machine runs on battery, which lowers the clock. Connect the power supply."
    if virtual := _virtual():
        yield f"{virtual}: other users of the hardware may disturb measurements. Use your own hardware if it matters."
    if n == 1:
        yield "There is only one processor: this program and the measured command share it."


def looks_secret(name: str) -> bool:
    """Return whether the name of an environment variable suggests that the value is secret.

    Examples
    --------
    >>> looks_secret("GITHUB_TOKEN"), looks_secret("AWS_ACCESS_KEY_ID"), looks_secret("LANG")
    (True, True, False)
    """
    return SECRET.search(name) is not None


def without_secrets(text: str, environment: Mapping[str, str]) -> str:
    """Return the text with *** in place of the values of environment variables whose names suggest a secret.

    Examples
    --------
    >>> without_secrets("no access with hunter22", {"DB_PASSWORD": "hunter22"})
    'no access with ***'
    """
    secrets = {value for name, value in environment.items() if looks_secret(name) and len(value) >= MIN_SECRET}
    for value in sorted(secrets, key=len, reverse=True):
        text = text.replace(value, "***")
    return text


def _read(path: Path) -> str:
    with suppress(OSError):
        return path.read_text(encoding="ascii", errors="replace").strip()
    return ""


def _mhz() -> str:
    with suppress(OSError, NotImplementedError, AttributeError, RuntimeError):
        frequency = psutil.cpu_freq()
        return f"{frequency.current:.0f}" if frequency and frequency.current else ""
    return ""


def _temperature() -> str:
    """Return the highest temperature of the processor's sensors; if no sensor has a known name, use all sensors."""
    with suppress(OSError, AttributeError, RuntimeError):
        sensors = psutil.sensors_temperatures()
        names = [name for name in sensors if name in ("coretemp", "k10temp", "cpu_thermal", "zenpower")] or list(
            sensors
        )
        degrees = [sensor.current for name in names for sensor in sensors[name]]
        return f"{max(degrees):.0f}" if degrees else ""
    return ""


def _virtual() -> str:
    """Return "This is a container" or "This is a virtual machine" if one of these is true; otherwise return ""."""
    if Path("/.dockerenv").exists() or "container" in _read(Path("/run/systemd/container")):
        return "This is a container"
    with suppress(OSError):
        flags = next((line for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
                      if line.startswith("flags")), "")  # fmt: skip
        if " hypervisor" in flags:
            return "This is a virtual machine"
    return ""
