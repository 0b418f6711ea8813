/* For LD_PRELOAD: lets some allocations fail, and tells in which libraries a crash is. tests/memory_faults.py uses it. */
#include <errno.h>
#include <execinfo.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>

extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);
extern void* __libc_memalign(size_t, size_t);

static atomic_long calls, first, last; /* calls [first, last) fail; none if last is 0 */

void fail_allocations(long from, long to) {
  atomic_store(&last, 0);
  atomic_store(&calls, 0);
  atomic_store(&first, from);
  atomic_store(&last, to);
}
long count_allocations(void) { return atomic_load(&calls); }

static int fails(void) {
  const long end = atomic_load(&last);
  if (!end) return 0;
  const long call = atomic_fetch_add(&calls, 1) + 1;
  if (call < atomic_load(&first) || call >= end) return 0;
  errno = ENOMEM;
  return 1;
}

void* malloc(size_t size) { return fails() ? NULL : __libc_malloc(size); }
void* calloc(size_t count, size_t size) { return fails() ? NULL : __libc_calloc(count, size); }
void* realloc(void* memory, size_t size) { return fails() ? NULL : __libc_realloc(memory, size); }
void* memalign(size_t alignment, size_t size) { return fails() ? NULL : __libc_memalign(alignment, size); }
void* aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }
int posix_memalign(void** out, size_t alignment, size_t size) {
  void* memory = memalign(alignment, size);
  if (!memory) return ENOMEM;
  *out = memory;
  return 0;
}

static void report(int number) {
  void* stack[100];
  atomic_store(&last, 0);
  backtrace_symbols_fd(stack, backtrace(stack, 100), 2);
  signal(number, SIG_DFL);
  raise(number);
}
void report_crashes(void) {
  void* stack[1];
  backtrace(stack, 1); /* loads what it needs */
  signal(SIGSEGV, report);
  signal(SIGBUS, report);
  signal(SIGABRT, report);
}
