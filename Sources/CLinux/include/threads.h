#pragma once

/* pthread_setname_np(3) for the calling thread; at most 15 bytes are kept. */
void threads_name_self(const char *name);
