"""Set up every test run: hypothesis profiles and the programs that tests may need."""

import os

from hypothesis import HealthCheck, settings

pytest_plugins = ["pytester", "tests.components"]

# No deadline in any profile: a shared machine's pauses say nothing about the code.
settings.register_profile("local", deadline=None, max_examples=50)
settings.register_profile(
    "ci",
    deadline=None,
    max_examples=200,
    # The same examples in every run: a red build means that the change is at fault.
    derandomize=True,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("ci" if os.environ.get("CI") == "true" else "local")
