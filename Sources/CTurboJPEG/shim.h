#pragma once

#include <malloc.h>
#include <turbojpeg.h>

/* libjpeg's memory comes from malloc(3), whose settings Swift cannot see. Blocks below `largest` bytes stay in the heap,
   and up to `kept` free bytes at its end stay in the process. */
static inline void shim_keep_freed_memory(int largest, int kept) {
#if defined(__GLIBC__)
    mallopt(M_MMAP_THRESHOLD, largest);
    mallopt(M_TRIM_THRESHOLD, kept);
#else
    (void)largest;
    (void)kept;
#endif
}
