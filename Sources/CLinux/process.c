#define _GNU_SOURCE
#include "process.h"
