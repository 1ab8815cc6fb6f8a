"""Time one operation of the package `packaging`: 15 lines, each the processor time of many calls in seconds."""

import sys
import time

from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name, canonicalize_version, parse_sdist_filename, parse_wheel_filename
from packaging.version import Version

NUMBERS = ["1.0", "1.2.3", "2.0a1", "2.0rc2", "3.1.post4", "1!4.0", "5.0.dev6", "6.7+local.8"]
VERSIONS = [Version(number) for number in NUMBERS]
RANGE, MARKER = SpecifierSet(">=1.0,<4,!=2.5"), Marker("python_version >= '3.8' and os_name == 'posix'")

OPERATIONS = {
    "version-parse": (60, lambda: [Version(number) for number in NUMBERS]),
    "version-sort": (200, lambda: sorted(VERSIONS)),
    "version-text": (60, lambda: [str(version) for version in VERSIONS]),
    "version-hash": (400, lambda: [hash(version) for version in VERSIONS]),
    "version-equal": (400, lambda: [version == VERSIONS[3] for version in VERSIONS]),
    "specifier-parse": (60, lambda: SpecifierSet(">=1.0,<4,!=2.5,~=3.1")),
    "specifier-contains": (20, lambda: [number in RANGE for number in NUMBERS]),
    "specifier-filter": (20, lambda: list(RANGE.filter(NUMBERS))),
    "specifier-text": (200, lambda: str(RANGE)),
    "name-canonical": (800, lambda: canonicalize_name("Some_Package.Name--here")),
    "version-canonical": (80, lambda: canonicalize_version("1.4.0.0")),
    "requirement-name": (30, lambda: Requirement("requests")),
    "requirement-full": (10, lambda: Requirement("a[b,c]>=1.0,<2; python_version < '3.9'")),
    "marker-parse": (20, lambda: Marker("python_version >= '3.8' and os_name == 'posix'")),
    "marker-evaluate": (20, lambda: MARKER.evaluate()),
    "wheel-name": (60, lambda: parse_wheel_filename("some_package-1.2.3-py3-none-any.whl")),
    "sdist-name": (100, lambda: parse_sdist_filename("some_package-1.2.3.tar.gz")),
    "extras": (20, lambda: Requirement("a[b,c,d]").extras),
}

n, operation = OPERATIONS[sys.argv[1]]
for _ in range(15):
    begun = time.process_time()
    for _ in range(n):
        operation()
    print(time.process_time() - begun)
