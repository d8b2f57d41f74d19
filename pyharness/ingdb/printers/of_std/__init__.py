"""Types of the C++ standard library, of both that are common."""
