"""The pytest plugin: a native crash, or a hang, is a failed test with a report, and the tests behind it run."""
