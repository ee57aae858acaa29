#define _GNU_SOURCE
#include "watch.h"
