// See stack_depth.h.
#include <csrc/trap/frames/stack_depth.h>

#include <cstddef>

#include <pthread.h>

#if defined(__x86_64__) && defined(__GLIBC__)
// As every glibc has them: newer ones moved them to another library, under
// newer versions, which a wheel for older systems cannot ask for.
__asm__(".symver pthread_getattr_np,pthread_getattr_np@GLIBC_2.2.5");
__asm__(".symver pthread_attr_getstack,pthread_attr_getstack@GLIBC_2.2.5");
#endif

bool pyharness::breakpoints::is_deep() {
  if (own.deep_below == UINTPTR_MAX) {
    pthread_attr_t attributes;
    void* lowest = nullptr;
    std::size_t size = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
      pthread_attr_getstack(&attributes, &lowest, &size);
      pthread_attr_destroy(&attributes);
    }
    own.deep_below = reinterpret_cast<std::uintptr_t>(lowest) + size / 2;
  }
  return may_be_deep();
}
