#define _GNU_SOURCE
#include "service.h"
