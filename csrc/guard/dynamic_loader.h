// dlopen() and dlsym() by the versions that every glibc has: since 2.34 they
// have new ones, which a library that is linked there would ask for.
#pragma once

#include <dlfcn.h>

#ifdef __x86_64__
asm(".symver dlopen,dlopen@GLIBC_2.2.5");
asm(".symver dlsym,dlsym@GLIBC_2.2.5");
#endif
