"""What holds of the map of every generated file."""


def assert_map_matches(made):
    """Every node's line holds the statement that assigns it."""
    lines = made.file.read_text().split("\n")
    for entry in made.source_map.lines:
        text = lines[entry.line - 1]
        if entry.op == "output":
            assert text.lstrip().startswith("return")
        elif entry.op != "placeholder":
            assert f"{entry.node} = " in text or f"{entry.node} : " in text, (entry, text)
