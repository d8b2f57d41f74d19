// Writes a variable once more when the process ends, long after Python has.

static int cell = 0;

extern "C" int set_cell(int value) {
    cell = value;
    return cell;
}

__attribute__((destructor)) static void writes_last() { cell += 1; }
