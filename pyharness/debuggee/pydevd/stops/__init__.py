"""Where debugpy stops: its breakpoints, exceptions and log points, and the threads that stand."""
