#define _GNU_SOURCE
#include "threads.h"

#include <pthread.h>
#include <string.h>

void threads_name_self(const char *name) {
    char kept[16] = {0}; /* longer names are refused with ERANGE, so cut */
    strncpy(kept, name, sizeof kept - 1);
    (void)pthread_setname_np(pthread_self(), kept); /* only for people who look: a failure harms nobody */
}
