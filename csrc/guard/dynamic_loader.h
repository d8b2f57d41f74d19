// What glibc has moved into libc, by the versions that every glibc has: since
// 2.34 there are new ones, which a library that is linked there would ask for.
#pragma once

#include <dlfcn.h>

#ifdef __x86_64__
asm(".symver dlopen,dlopen@GLIBC_2.2.5");
asm(".symver dlsym,dlsym@GLIBC_2.2.5");
asm(".symver pthread_key_create,pthread_key_create@GLIBC_2.2.5");
asm(".symver pthread_setspecific,pthread_setspecific@GLIBC_2.2.5");
#endif
