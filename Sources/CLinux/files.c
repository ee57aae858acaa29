#define _GNU_SOURCE
#include "files.h"
