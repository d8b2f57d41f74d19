double scaled(double number, int by);
int twice(int (*function)(int), int number);
