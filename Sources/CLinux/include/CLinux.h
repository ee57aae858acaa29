#pragma once
/* Linux calls that Swift's Glibc module does not show: everything behind _GNU_SOURCE, and headers outside it.
   One header a topic; no logic beyond what a macro or a variadic call needs. */
#include "files.h"
#include "process.h"
#include "service.h"
#include "threads.h"
#include "watch.h"
