/* The native half of the bugs; each planted line says its name. */
#include <Python.h>
#include <pthread.h>
#include <unistd.h>

int first(const int* values) {
  return *values; /* planted: null */
}

float column_sum(const float* values, int rows, int columns, int column) {
  float sum = 0;
  for (int row = 0; row < rows; ++row) {
    int at = row * rows + column; /* planted: stride */
    sum += values[at];
  }
  (void)columns;
  return sum;
}

static long counter = 0;

static void* count(void* steps) {
  for (long i = 0; i < (long)steps; ++i) {
    counter = counter + 1; /* planted: race */
  }
  return NULL;
}

long count_in_two_threads(long steps) {
  pthread_t one, two;
  pthread_create(&one, NULL, count, (void*)steps);
  pthread_create(&two, NULL, count, (void*)steps);
  pthread_join(one, NULL);
  pthread_join(two, NULL);
  return counter;
}

static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t cache = PTHREAD_MUTEX_INITIALIZER;

static void* evict(void* nothing) {
  pthread_mutex_lock(&cache);
  usleep(200000);
  pthread_mutex_lock(&table);
  pthread_mutex_unlock(&table);
  pthread_mutex_unlock(&cache);
  return nothing;
}

void insert(void) {
  pthread_t evicts;
  pthread_create(&evicts, NULL, evict, NULL);
  pthread_mutex_lock(&table);
  usleep(200000);
  pthread_mutex_lock(&cache); /* planted: deadlock */
  pthread_mutex_unlock(&cache);
  pthread_mutex_unlock(&table);
  pthread_join(evicts, NULL);
}

void cubes_backward(const double* gradient, const double* x, double* out, long n) {
  for (long i = 0; i < n; ++i) {
    out[i] = gradient[i] * 2 * x[i] * x[i]; /* planted: gradient */
  }
}

void doubled(const float* x, float* out, long n) {
  for (long i = 0; i + 4 <= n; i += 4) { /* planted: kernel */
    for (long j = i; j < i + 4; ++j) {
      out[j] = 2 * x[j];
    }
  }
}

int share(int total, int parts) {
  return total / parts; /* planted: worker */
}

void keep(PyObject* value) {
  Py_INCREF(value); /* planted: leak */
}

void wait_for_ever(void) {
  for (;;) {
    sleep(1); /* planted: rank */
  }
}
